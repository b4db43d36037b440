//! Makes the observation and the file of folded stacks from counted or sampled stacks.

use klatch_record::ObservationData;
use klatch_record::observed::{Profile, Sides};

use super::Profiler;
use super::shares::StackCounts;
use super::stacks::{StackSample, write_folded};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::targets::{Side, Targets};

/// How stacks were counted.
pub(super) struct Counted {
    /// Samples per second; `None` if events trigger them.
    pub(super) frequency_hz: Option<u64>,
    /// Events per sample; `None` for a timer.
    pub(super) events_per_sample: Option<u64>,
    /// All samples, including those whose stack was lost.
    pub(super) samples: u64,
    /// Calls whose events count for their caller, because there were too many paths of calls.
    pub(super) calls_lost: u64,
}

/// The observation, and the name of the file of folded stacks.
///
/// # Errors
/// The file cannot be written.
pub(super) fn profile_of(
    profiler: &Profiler,
    counted: Counted,
    all: &[StackSample],
    targets: &Targets,
    files: &Files,
) -> Result<(ObservationData, String), InstrumentError> {
    let mut stored = 0;
    let mut stacks_lost = 0;
    let (mut machine, mut server, mut crowd) =
        (StackCounts::default(), StackCounts::default(), StackCounts::default());
    for sample in all {
        stored += sample.count;
        let of_side = match sample.side {
            Some(Side::Server) => Some(&mut server),
            Some(Side::Crowd) => Some(&mut crowd),
            None => None,
        };
        for counts in std::iter::once(&mut machine).chain(of_side) {
            match &sample.kernel {
                Some(stack) => counts.add(stack, sample.count),
                None => counts.add_without_stack(sample.count),
            }
        }
        if sample.kernel.is_none() || sample.user.is_none() {
            stacks_lost += sample.count;
        }
    }
    let (name, path) = files.name_and_path(profiler.ending);
    let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
    write_folded(all, std::fs::File::create(&path).map_err(failed)?).map_err(failed)?;
    let profile = Profile {
        frequency_hz: counted.frequency_hz,
        events_per_sample: counted.events_per_sample,
        samples: counted.samples,
        stacks_lost: stacks_lost + counted.samples.saturating_sub(stored) + counted.calls_lost,
        machine: machine.shares(),
        sides: Sides {
            server: (!targets.servers.is_empty()).then(|| server.shares()),
            crowd: (!targets.crowds.is_empty()).then(|| crowd.shares()),
        },
    };
    Ok(((profiler.data)(profile), name))
}
