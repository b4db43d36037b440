//! Activity of a Java virtual machine, from its own counters.

mod gc_poll;

use std::fs::File;
use std::time::Instant;

use gc_poll::GcPoll;
use klatch_host::machine::{JvmCounters, counter_file};
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
    before: Vec<JvmCounters>,
    after: Vec<JvmCounters>,
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
            server: self.server.as_mut().map(SideJvms::activity),
            crowd: self.crowd.as_mut().map(SideJvms::activity),
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

    fn activity(&mut self) -> JvmSide {
        let gc_pause_ms = self.gc_poll.end();
        let mut activity = JvmSide { gc_pause_ms, ..JvmSide::default() };
        for (before, after) in self.before.iter().zip(&self.after) {
            add_jvm(&mut activity, before, after);
        }
        let gc_s: f64 = activity.collectors.iter().map(|collector| collector.time_s).sum();
        activity.gc_share = gc_s / (self.elapsed_s * self.before.len() as f64);
        activity
    }
}

/// Adds the activity of one JVM between two readings of its counters.
fn add_jvm(side: &mut JvmSide, before: &JvmCounters, after: &JvmCounters) {
    let since = |name: &str| after.number(name).saturating_sub(before.number(name));
    for number in 0.. {
        let collector = format!("sun.gc.collector.{number}");
        let Some(name) = after.text(&format!("{collector}.name")) else { break };
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

fn read(files: &[File]) -> Vec<JvmCounters> {
    files.iter().map(|file| JvmCounters::read(file).unwrap_or_default()).collect()
}
