//! Makes the observation and the file of folded stacks from counted or sampled stacks.

use klatch_record::ObservationData;
use klatch_record::observed::{Profile, Sides};

use super::Profiler;
use super::shares::StackCounts;
use super::stacks::{FoldedFile, StackSample};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::jdk::is_jvm;
use crate::targets::{Side, Targets};

/// How stacks were counted.
pub(super) struct Counted {
    /// Samples per second; `None` if events trigger them.
    pub(super) frequency_hz: Option<u64>,
    /// Events per sample; `None` for a timer.
    pub(super) events_per_sample: Option<u64>,
    /// All samples, including those whose stack was lost; `None` if each is one of a stack.
    pub(super) samples: Option<u64>,
    /// Calls whose events count for their caller, because there were too many paths of calls.
    pub(super) calls_lost: u64,
    /// Data that was missed; empty unless that is counted.
    pub(super) data: Vec<DataSample>,
}

/// Misses of one kind of data.
pub(super) struct DataSample {
    /// `None` for other processes of the machine.
    pub(super) side: Option<Side>,
    /// What the data is.
    pub(super) name: String,
    /// Misses, or their price.
    pub(super) count: u64,
}

/// The observation, and the name of the file of folded stacks.
///
/// # Errors
/// The file cannot be written.
pub(super) fn profile_of(
    profiler: &Profiler,
    counted: Counted,
    all: impl Iterator<Item = StackSample>,
    targets: &Targets,
    files: &Files,
) -> Result<(ObservationData, String), InstrumentError> {
    let (name, path) = files.name_and_path(profiler.ending);
    let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
    let mut folded = FoldedFile::create(&path).map_err(failed)?;
    let mut stored = 0;
    let mut stacks_lost = 0;
    let (mut machine, mut server, mut crowd) =
        (StackCounts::default(), StackCounts::default(), StackCounts::default());
    let jvms: Vec<u32> =
        targets.servers.iter().chain(&targets.crowds).copied().filter(|pid| is_jvm(*pid)).collect();
    for sample in all {
        folded.add(&sample).map_err(failed)?;
        stored += sample.count;
        for counts in counts_of(sample.side, &mut machine, &mut server, &mut crowd) {
            match &sample.kernel {
                Some(stack) => counts.add(stack, sample.count),
                None => counts.add_without_stack(sample.count),
            }
        }
        // The machine may have other JVMs, whose routines have no names.
        if jvms.contains(&sample.tgid)
            && let Some(counts) = counts_of_side(sample.side, &mut server, &mut crowd)
        {
            counts.add_jvm(sample.synchronizes(), sample.count);
        }
        if sample.kernel.is_none() || sample.user.is_none() {
            stacks_lost += sample.count;
        }
    }
    for one in &counted.data {
        counts_of(one.side, &mut machine, &mut server, &mut crowd)
            .for_each(|counts| counts.add_data(&one.name, one.count));
    }
    folded.finish().map_err(failed)?;
    let samples = counted.samples.unwrap_or(stored);
    let profile = Profile {
        frequency_hz: counted.frequency_hz,
        events_per_sample: counted.events_per_sample,
        samples,
        stacks_lost: stacks_lost + samples.saturating_sub(stored) + counted.calls_lost,
        machine: machine.shares(),
        sides: Sides {
            server: (!targets.servers.is_empty()).then(|| server.shares()),
            crowd: (!targets.crowds.is_empty()).then(|| crowd.shares()),
        },
    };
    Ok(((profiler.data)(profile), name))
}

/// Those of the whole machine, and of the side.
fn counts_of<'a>(
    side: Option<Side>,
    machine: &'a mut StackCounts,
    server: &'a mut StackCounts,
    crowd: &'a mut StackCounts,
) -> impl Iterator<Item = &'a mut StackCounts> {
    std::iter::once(machine).chain(counts_of_side(side, server, crowd))
}

/// The counts of one side; none for other processes.
fn counts_of_side<'a>(
    side: Option<Side>,
    server: &'a mut StackCounts,
    crowd: &'a mut StackCounts,
) -> Option<&'a mut StackCounts> {
    match side? {
        Side::Server => Some(server),
        Side::Crowd => Some(crowd),
    }
}
