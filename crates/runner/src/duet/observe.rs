//! What is observed of both sides of a duet, so that their difference can be explained: samples in the slices that are measured, counters
//! of the same time, and system calls and wake-ups in a slice of their own, as counting those costs more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_instruments::{
    Files, Instruments, Kernel, PairSampler, Places, RunningInstruments, SampledSide, availability_of,
};
use klatch_record::observed::Sides as Processes;
use klatch_record::{
    ExplainedProcess, InstrumentName, Observation, ObservationData, STACKS_OF_SIDES, Slice, SlicePair,
};

use crate::RunError;
use crate::duet::sides::Measured;

/// Length of the slice in which system calls are counted.
const COUNTED_SLICE: Duration = Duration::from_millis(200);
/// Counters that the kernel and the JVM keep anyway.
const KEPT: [InstrumentName; 2] = [InstrumentName::Usage, InstrumentName::Jvm];
/// Counts that a server pays for.
const PAID: [InstrumentName; 3] = [InstrumentName::Syscalls, InstrumentName::Wakeups, InstrumentName::Tcp];

/// Who did what.
pub(crate) type CountName = (ExplainedProcess, String);

/// What one start shows of one side.
pub(crate) struct SideSeen {
    /// Where its CPU time went; `None` for a process on another machine.
    pub(crate) time: Processes<TimeSeen>,
    /// Counts per message.
    pub(crate) counts: BTreeMap<CountName, f64>,
}

/// CPU time of the servers or crowds of a side in a start, and the samples of it.
pub(crate) struct TimeSeen {
    /// CPU time per message, the geometric mean of the slices that count, µs.
    pub(crate) cpu_us: f64,
    pub(crate) places: Places,
}

/// What all starts so far show.
#[derive(Default)]
pub(crate) struct Seen {
    /// A and B of each start.
    pub(crate) starts: Vec<[SideSeen; 2]>,
    /// Samples of each side by stack.
    pub(crate) folded: [BTreeMap<String, u64>; 2],
    /// CPU time that sampling used, s; `None` if the kernel did not tell.
    pub(crate) cost_s: Option<f64>,
    /// CPU time of servers and crowds while samples were taken, s.
    pub(crate) sampled_s: f64,
}

/// Observes the starts of a duet.
pub(crate) struct Observer {
    kernel: Kernel,
    kept: Instruments,
    paid: Instruments,
    files: Files,
    pub(crate) seen: Seen,
    /// Why nothing is observed.
    pub(crate) failure: Option<String>,
}

/// The observation of one start.
pub(crate) struct Observing {
    sampler: PairSampler,
    kept: [RunningInstruments; 2],
    messages: [u64; 2],
    cpu_ns: u64,
}

impl Observer {
    /// `folder`: where instruments may write.
    pub(crate) fn new(folder: PathBuf) -> Observer {
        let kernel = Kernel::detect();
        let available = availability_of(&kernel, &[&KEPT[..], &PAID].concat());
        let instruments = |names: &[InstrumentName]| {
            Instruments::new(Kernel::detect(), names, &available).without_windows()
        };
        Observer {
            kernel,
            kept: instruments(&KEPT),
            paid: instruments(&PAID),
            files: Files { folder, stem: "observed".to_owned() },
            seen: Seen { cost_s: Some(0.0), ..Seen::default() },
            failure: None,
        }
    }

    /// Begins to observe a start that has warmed up; `None` if that does not work here.
    pub(crate) fn begin(&mut self, sides: &[Measured<'_>; 2]) -> Option<Observing> {
        if self.failure.is_some() {
            return None;
        }
        let targets = || sides.each_ref().map(|side| side.targets().clone());
        match PairSampler::start(&self.kernel, targets()) {
            Ok(sampler) => Some(Observing {
                kept: targets().map(|targets| self.kept.start(&targets, &self.files)),
                messages: sides.each_ref().map(Measured::messages),
                cpu_ns: sides.iter().map(Measured::cpu_ns).sum(),
                sampler,
            }),
            Err(error) => {
                self.failure = Some(error.to_string());
                None
            }
        }
    }

    /// Ends it after the last of these pairs; the servers still run. A crowd that ends meanwhile ends the observation.
    ///
    /// # Errors
    /// The user interrupted Klatch, or a crowd hangs.
    pub(crate) fn end(
        &mut self,
        observing: Observing,
        sides: &mut [Measured<'_>; 2],
        pairs: &[SlicePair],
    ) -> Result<(), RunError> {
        let Observing { mut sampler, kept, messages, cpu_ns } = observing;
        sampler.stop();
        self.seen.sampled_s +=
            sides.iter().map(Measured::cpu_ns).sum::<u64>().saturating_sub(cpu_ns) as f64 / 1e9;
        let mut counts = [BTreeMap::new(), BTreeMap::new()];
        for ((side, kept), counts) in kept.into_iter().enumerate().zip(&mut counts) {
            let messages = sides[side].messages().saturating_sub(messages[side]);
            add_counts(counts, &kept.finish(), messages);
        }
        // A start's later slice finds older servers: a JVM has compiled more of it. So the sides take turns to be first.
        let first = self.seen.starts.len() % 2;
        for side in [first, 1 - first] {
            let paid = self.paid.start(sides[side].targets(), &self.files);
            sides[side].begin_slice(None);
            std::thread::sleep(COUNTED_SLICE);
            let Some(slice) = sides[side].end_slice()? else { return Ok(()) };
            add_counts(&mut counts[side], &paid.finish(), slice.messages);
        }
        match sampler.read() {
            Ok((sampled, cost_s)) => self.add(sampled, counts, pairs, cost_s),
            Err(error) => self.failure = Some(error.to_string()),
        }
        Ok(())
    }

    fn add(
        &mut self,
        sampled: [SampledSide; 2],
        counts: [BTreeMap<CountName, f64>; 2],
        pairs: &[SlicePair],
        cost_s: Option<f64>,
    ) {
        self.seen.cost_s = self.seen.cost_s.zip(cost_s).map(|(sum, cost)| sum + cost);
        let slices: [fn(&SlicePair) -> &Slice; 2] = [|pair| &pair.a, |pair| &pair.b];
        let mut seen = sampled.into_iter().zip(counts).zip(slices).enumerate().map(
            |(side, ((sampled, counts), slice))| {
                for (stack, count) in sampled.folded {
                    *self.seen.folded[side].entry(stack).or_default() += count;
                }
                // The geometric mean, as the duet's own.
                let time = |places: Places, cpu_s: fn(&Slice) -> Option<f64>| {
                    let log = |pair: &SlicePair| {
                        let slice = slice(pair);
                        Some((cpu_s(slice)? * 1e6 / slice.messages as f64).ln())
                    };
                    let logs: Option<Vec<f64>> = pairs.iter().map(log).collect();
                    let logs = logs.filter(|logs| !logs.is_empty())?;
                    Some(TimeSeen { cpu_us: (logs.iter().sum::<f64>() / logs.len() as f64).exp(), places })
                };
                let time = Processes {
                    server: time(sampled.server, |slice| slice.server_cpu_s),
                    crowd: time(sampled.crowd, |slice| slice.crowd_cpu_s),
                };
                SideSeen { time, counts }
            },
        );
        if let (Some(a), Some(b)) = (seen.next(), seen.next()) {
            drop(seen);
            self.seen.starts.push([a, b]);
        }
    }

    /// Writes the stacks of both sides beside the result.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn save_stacks(&self, folder: &Path) -> Result<(), klatch_record::SaveError> {
        for (file, stacks) in STACKS_OF_SIDES.into_iter().zip(&self.seen.folded) {
            let lines: String = stacks.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect();
            klatch_record::save_text(&lines, &folder.join(file))?;
        }
        Ok(())
    }
}

/// Adds what instruments counted while a side had this many messages.
fn add_counts(counts: &mut BTreeMap<CountName, f64>, observations: &[Observation], messages: u64) {
    if messages == 0 {
        return;
    }
    let mut add = |by: ExplainedProcess, name: String, count: u64| {
        counts.insert((by, name), count as f64 / messages as f64);
    };
    for data in observations.iter().filter_map(|one| one.data.as_ref()) {
        match data {
            ObservationData::Usage(usage) => each(&usage.sides, |by, side| {
                let groups = side.thread_groups.iter();
                let switches =
                    groups.map(|group| group.switches_voluntary + group.switches_involuntary).sum();
                add(by, "context switches".to_owned(), switches);
                add(by, "page faults".to_owned(), side.faults_minor + side.faults_major);
                side.migrations.into_iter().for_each(|count| add(by, "migrations".to_owned(), count));
            }),
            ObservationData::Jvm(jvm) => each(jvm, |by, side| {
                let collections = side.collectors.iter().map(|one| one.collections).sum();
                add(by, "garbage collections".to_owned(), collections);
                add(by, "stops of all threads".to_owned(), side.safepoints);
            }),
            ObservationData::Syscalls(calls) => each(calls, |by, side| {
                side.calls.iter().for_each(|(call, count)| add(by, format!("calls of {call}"), *count));
            }),
            ObservationData::Wakeups(wakeups) => {
                each(wakeups, |by, side| add(by, "wake-ups".to_owned(), side.wakeups));
            }
            ObservationData::Tcp(tcp) => each(&tcp.sides, |_, counts| {
                add(ExplainedProcess::Both, "TCP segments".to_owned(), counts.segments_sent);
                let bytes = counts.bytes_sent.into_iter();
                bytes.for_each(|count| add(ExplainedProcess::Both, "bytes in IP packets".to_owned(), count));
            }),
            _ => {}
        }
    }
}

fn each<T>(sides: &Processes<T>, mut of: impl FnMut(ExplainedProcess, &T)) {
    let all = [(ExplainedProcess::Server, &sides.server), (ExplainedProcess::Crowd, &sides.crowd)];
    all.into_iter().filter_map(|(by, side)| Some((by, side.as_ref()?))).for_each(|(by, side)| of(by, side));
}
