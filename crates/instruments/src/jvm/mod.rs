//! Activity of a Java virtual machine, from its own counters.

mod gc_poll;

use std::fs::File;
use std::time::Instant;

use gc_poll::GcPoll;
use klatch_host::machine::{GcTime, JvmCounters, counter_file};
use klatch_record::observed::{Collector, JvmSide, Sides};
use klatch_record::{InstrumentName, ObservationData, Support};

use crate::bpf::{Coverage, Windows};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, Output, RunningInstrument};
use crate::kernel::Kernel;
use crate::targets::Targets;

pub(crate) struct JvmActivity;

impl Instrument for JvmActivity {
    fn name(&self) -> InstrumentName {
        InstrumentName::Jvm
    }

    fn description(&self) -> &'static str {
        "garbage collection, safepoints, JIT, threads, heap"
    }

    fn probe(&self, _: &Kernel) -> Support {
        Support::Usable { base: "the counters that HotSpot keeps in /tmp/hsperfdata_<user>".to_owned() }
    }

    fn start(
        &self,
        _: &Kernel,
        targets: &Targets,
        _: &Files,
        _: &mut Windows,
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
        let failed = |error| InstrumentError(format!("no thread can be started: {error}"));
        let side = |pids: &[u32]| SideJvms::start(pids).map_err(failed);
        Ok(Box::new(RunningJvm { server: side(&targets.servers)?, crowd: side(&targets.crowds)? }))
    }
}

struct RunningJvm {
    server: Option<SideJvms>,
    crowd: Option<SideJvms>,
}

/// The JVMs of one side; a crowd can have several.
struct SideJvms {
    files: Vec<File>,
    /// Of each file; `None` if it cannot be read.
    before: Vec<Option<JvmCounters>>,
    after: Vec<Option<JvmCounters>>,
    began: Instant,
    elapsed_s: f64,
    gc_poll: GcPoll,
}

impl RunningInstrument for RunningJvm {
    fn stop(&mut self) {
        for side in self.server.iter_mut().chain(&mut self.crowd) {
            side.after = read(&side.files);
            side.elapsed_s = side.began.elapsed().as_secs_f64();
        }
    }

    fn read(&mut self, _: &Files, _: &Coverage) -> Result<Output, InstrumentError> {
        let activity = Sides {
            server: self.server.as_mut().and_then(SideJvms::activity),
            crowd: self.crowd.as_mut().and_then(SideJvms::activity),
        };
        Ok(Output {
            data: ObservationData::Jvm(activity),
            cost: None,
            share_of_time: None,
            files: Vec::new(),
        })
    }
}

impl SideJvms {
    /// `None` if none of these processes is a JVM.
    fn start(pids: &[u32]) -> std::io::Result<Option<SideJvms>> {
        let files: Vec<File> = pids.iter().filter_map(|pid| counter_file(*pid)).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let polled = files.iter().map(File::try_clone).collect::<std::io::Result<_>>()?;
        let gc_poll = GcPoll::start(polled)?;
        let before = read(&files);
        Ok(Some(SideJvms {
            files,
            before,
            after: Vec::new(),
            began: Instant::now(),
            elapsed_s: 0.0,
            gc_poll,
        }))
    }

    /// `None` if the counters of none of the JVMs could be read at both ends.
    fn activity(&mut self) -> Option<JvmSide> {
        let gc_pause_ms = self.gc_poll.end();
        let mut activity = JvmSide { gc_pause_ms, ..JvmSide::default() };
        let (mut jvms, mut paused_s) = (0, 0.0);
        for (before, after) in self.before.iter().zip(&self.after) {
            let Some((before, after)) = before.as_ref().zip(after.as_ref()) else { continue };
            // Without a clock the counters have no times.
            let Some((earlier, later)) = GcTime::new(before).zip(GcTime::new(after)) else { continue };
            add_jvm(&mut activity, before, after);
            paused_s += later.paused_s_since(&earlier);
            jvms += 1;
        }
        activity.gc_share = paused_s / (self.elapsed_s * f64::from(jvms));
        (jvms > 0).then_some(activity)
    }
}

/// Adds the activity of one JVM between two readings of its counters.
fn add_jvm(side: &mut JvmSide, before: &JvmCounters, after: &JvmCounters) {
    let since = |name: &str| after.number(name).saturating_sub(before.number(name));
    for (ordinal, name) in after.collectors() {
        let collector = format!("sun.gc.collector.{ordinal}");
        side.collectors.push(Collector {
            name: name.to_owned(),
            collections: since(&format!("{collector}.invocations")),
            time_s: after.seconds(since(&format!("{collector}.time"))),
        });
    }
    side.safepoints += since("sun.rt.safepoints");
    side.safepoint_s += after.seconds(since("sun.rt.safepointTime"));
    side.jit_s += after.seconds(since("java.ci.totalTime"));
    side.jit_methods += since("sun.ci.totalCompiles");
    side.threads += after.number("java.threads.live");
    side.threads_peak += after.number("java.threads.livePeak");
    let heap = |suffix: &str| {
        let spaces = (0..4).map(|generation| format!("sun.gc.generation.{generation}.space."));
        spaces.map(|prefix| after.sum(&prefix, suffix)).sum::<u64>()
    };
    side.heap_used_bytes += heap(".used");
    side.heap_committed_bytes += heap(".capacity");
}

fn read(files: &[File]) -> Vec<Option<JvmCounters>> {
    files.iter().map(JvmCounters::read).collect()
}
