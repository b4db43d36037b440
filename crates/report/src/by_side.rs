//! Amounts of a run by side, per message, or per operation of other workloads than chat.

use klatch_record::observed::{Profile, ProfiledSide, Sides};
use klatch_record::{Record, Usage};

/// A side of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The server with its database, or the reading processes of `files`.
    Server,
    /// The load generator.
    Crowd,
}

impl Side {
    /// Both sides in the order in which they are shown.
    pub(crate) const ALL: [Side; 2] = [Side::Server, Side::Crowd];

    /// The name in texts: `server`, `crowd`, or `readers` for a workload without a server.
    pub(crate) fn name(self, record: &Record) -> &'static str {
        match self {
            Side::Server if record.workload.kind().has_server() => "server",
            Side::Server => "readers",
            Side::Crowd => "crowd",
        }
    }

    /// The word in identifiers.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Side::Server => "server",
            Side::Crowd => "crowd",
        }
    }

    /// The value of this side.
    pub(crate) fn of<T>(self, sides: &Sides<T>) -> Option<&T> {
        match self {
            Side::Server => sides.server.as_ref(),
            Side::Crowd => sides.crowd.as_ref(),
        }
    }

    /// CPU time of the side, µs per message or operation; `None` if it was not measured.
    fn cpu_us(self, record: &Record) -> Option<f64> {
        let usage = &record.usage;
        let database = usage.database.as_ref().map_or(0.0, |database| database.cpu_s);
        let cpu_s = match self {
            Side::Server => usage.server.as_ref()?.cpu_s + database,
            Side::Crowd => usage.crowd.as_ref().map(|crowd: &Usage| crowd.cpu_s)?,
        };
        per_unit(record, cpu_s * 1e6)
    }

    /// All that a profile counted of the side, per message or operation: µs of CPU time, or events of a counter. CPU time is that of the
    /// record's usage, which is exact; the samples divide it.
    pub(crate) fn profiled(self, record: &Record, profile: &Profile) -> Option<f64> {
        let side = self.of(&profile.sides)?;
        let exact = profile.frequency_hz.and_then(|_| self.cpu_us(record));
        exact.or_else(|| amount(record, profile, side.samples))
    }
}

/// An amount of a whole run, per message or operation; `None` if there was none.
pub(crate) fn per_unit(record: &Record, amount: f64) -> Option<f64> {
    let count = record.operations.as_ref().map_or(record.score.total, |operations| operations.count);
    (count > 0).then(|| amount / count as f64)
}

/// Samples as µs of CPU time, or as events of a counter, per message or operation.
fn amount(record: &Record, profile: &Profile, samples: u64) -> Option<f64> {
    let each = match (profile.frequency_hz, profile.events_per_sample) {
        (Some(hz), _) => 1e6 / hz.max(1) as f64,
        (None, events) => events.unwrap_or(1) as f64,
    };
    per_unit(record, samples as f64 * each)
}

/// What a profile counted of programs that are neither server nor crowd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Others {
    /// µs of CPU time, or events of a counter, per message or operation.
    pub(crate) amount: f64,
    /// As a share of all samples, 0..=1.
    pub(crate) share: f64,
}

/// The samples of other programs; `None` if neither side ran on this machine.
pub(crate) fn others(record: &Record, profile: &Profile) -> Option<Others> {
    let sides: Vec<&ProfiledSide> = Side::ALL.iter().filter_map(|side| side.of(&profile.sides)).collect();
    let ours = sides.iter().fold(0_u64, |sum, side| sum.saturating_add(side.samples));
    let all = profile.machine.samples.max(ours);
    let amount = amount(record, profile, all - ours)?;
    (!sides.is_empty() && all > 0).then(|| Others { amount, share: (all - ours) as f64 / all as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::{record, usage};

    fn profiled(samples: u64) -> ProfiledSide {
        ProfiledSide { samples, ..ProfiledSide::default() }
    }

    fn profile(frequency_hz: Option<u64>, events_per_sample: Option<u64>) -> Profile {
        Profile {
            frequency_hz,
            events_per_sample,
            samples: 1000,
            stacks_lost: 0,
            machine: profiled(1000),
            sides: Sides { server: Some(profiled(600)), crowd: Some(profiled(200)) },
        }
    }

    #[test]
    fn a_side_has_its_own_cpu_time_and_other_programs_their_samples() {
        let mut record = record(1, 0, 9.0);
        record.score.total = 1_000_000;
        record.usage.server = Some(usage(5.0));
        record.usage.crowd = None;
        let time = profile(Some(100), None);
        assert_eq!(Side::Server.profiled(&record, &time), Some(5.0));
        // 200 samples at 100 Hz are 2 s.
        assert_eq!(Side::Crowd.profiled(&record, &time), Some(2.0));
        assert_eq!(others(&record, &time), Some(Others { amount: 2.0, share: 0.2 }));
        let counted = profile(None, Some(50_000));
        assert_eq!(Side::Server.profiled(&record, &counted), Some(30.0), "instructions a message");
    }

    #[test]
    fn the_database_is_on_the_side_of_the_server() {
        let mut record = record(1, 0, 9.0);
        record.score.total = 1_000_000;
        record.usage.server = Some(usage(5.0));
        record.usage.database = Some(usage(3.0));
        assert_eq!(Side::Server.profiled(&record, &profile(Some(99), None)), Some(8.0));
    }
}
