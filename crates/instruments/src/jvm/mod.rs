//! What a Java virtual machine did, by its own counters.

mod poll;

use std::path::PathBuf;
use std::time::Instant;

use klatch_record::observed::{Collector, JvmSide, Sides};
use klatch_record::{Found, InstrumentName, Support};

use crate::bpf::{Looked, Windows};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;
use klatch_machine::{JvmCounters as Counters, counter_file};
use poll::Poll;

/// The instrument.
pub(crate) struct JvmCounters;

impl Instrument for JvmCounters {
    fn name(&self) -> InstrumentName {
        InstrumentName::Jvm
    }

    fn shows(&self) -> &'static str {
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
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let failed = |error| InstrumentError(format!("no thread can be started: {error}"));
        let side = |pids: &[u32]| Side::start(pids).map_err(failed);
        Ok(Box::new(Watch { server: side(&targets.servers)?, crowd: side(&targets.crowds)? }))
    }
}

struct Watch {
    server: Option<Side>,
    crowd: Option<Side>,
}

/// The JVMs of one side; a crowd may have several.
struct Side {
    files: Vec<PathBuf>,
    before: Vec<Counters>,
    after: Vec<Counters>,
    began: Instant,
    elapsed_s: f64,
    poll: Poll,
}

impl Watching for Watch {
    fn stop(&mut self) {
        for side in self.server.iter_mut().chain(&mut self.crowd) {
            side.after = read(&side.files);
            side.elapsed_s = side.began.elapsed().as_secs_f64();
        }
    }

    fn read(&mut self, _: &Files, _: &Looked) -> Result<Seen, InstrumentError> {
        let found = Sides {
            server: self.server.as_mut().map(Side::found),
            crowd: self.crowd.as_mut().map(Side::found),
        };
        Ok(Seen { found: Found::Jvm(found), cost: None, share_of_time: None, files: Vec::new() })
    }
}

impl Side {
    /// `None` if none of these processes is a JVM.
    fn start(pids: &[u32]) -> std::io::Result<Option<Side>> {
        let files: Vec<PathBuf> = pids.iter().filter_map(|pid| counter_file(*pid)).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let poll = Poll::start(files.clone())?;
        let before = read(&files);
        Ok(Some(Side { files, before, after: Vec::new(), began: Instant::now(), elapsed_s: 0.0, poll }))
    }

    fn found(&mut self) -> JvmSide {
        let gc_pause_ms = self.poll.end();
        let mut found = JvmSide { gc_pause_ms, ..JvmSide::default() };
        for (before, after) in self.before.iter().zip(&self.after) {
            add(&mut found, before, after);
        }
        let gc_s: f64 = found.collectors.iter().map(|collector| collector.time_s).sum();
        found.gc_share = gc_s / (self.elapsed_s * self.before.len() as f64);
        found
    }
}

/// Adds what one JVM did.
fn add(found: &mut JvmSide, before: &Counters, after: &Counters) {
    let since = |name: &str| after.number(name).saturating_sub(before.number(name));
    for number in 0.. {
        let collector = format!("sun.gc.collector.{number}");
        let Some(name) = after.text(&format!("{collector}.name")) else { break };
        found.collectors.push(Collector {
            name: name.to_owned(),
            collections: since(&format!("{collector}.invocations")),
            time_s: after.seconds(since(&format!("{collector}.time"))),
        });
    }
    found.safepoints += since("sun.rt.safepoints");
    found.safepoint_s += after.seconds(since("sun.rt.safepointTime"));
    found.jit_s += after.seconds(since("java.ci.totalTime"));
    found.jit_methods += since("sun.ci.totalCompiles");
    found.threads += after.number("java.threads.live");
    found.threads_peak += after.number("java.threads.livePeak");
    let heap = |of: &str| {
        let spaces = (0..4).map(|generation| format!("sun.gc.generation.{generation}.space."));
        spaces.map(|start| after.sum(&start, of)).sum::<u64>()
    };
    found.heap_used_bytes += heap(".used");
    found.heap_committed_bytes += heap(".capacity");
}

fn read(files: &[PathBuf]) -> Vec<Counters> {
    let parse = |file: &PathBuf| Counters::parse(&std::fs::read(file).ok()?);
    files.iter().map(|file| parse(file).unwrap_or_default()).collect()
}
