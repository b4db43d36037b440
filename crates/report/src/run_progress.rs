//! Progress of a run, from the events of its crowd.

use klatch_record::{CrowdEvent, Workload, WorkloadKind};
use klatch_stats::mean_interval;

use crate::number::{grouped, three_digits};
use crate::progress::Progress;
use crate::study_of_runs::CONFIDENCE;

/// The display of one run.
pub struct RunProgress {
    name: String,
    unit: String,
    /// Everything that is sent and received counts, not replies alone.
    counts_all: bool,
    /// The run ends by time, so how much there will be is an extrapolation.
    by_time: bool,
    shown: Progress,
}

impl RunProgress {
    /// A display for the run called `name`.
    pub fn new(name: &str, workload: &Workload) -> RunProgress {
        let kind = workload.kind();
        RunProgress {
            name: name.to_owned(),
            unit: format!("{}s", kind.operation_name()),
            counts_all: kind == WorkloadKind::Chat,
            by_time: workload.messages_expected().is_none(),
            // A server that does not answer reports nothing that would move the display.
            shown: Progress::new(&format!("{name}: joining"), Some(workload.connections()), "users")
                .ticking(),
        }
    }

    /// Updates the display with an event of the crowd.
    pub fn update(&mut self, event: &CrowdEvent) {
        match event {
            CrowdEvent::Joining { joined, users } => {
                self.shown.set_total(*users, false);
                self.shown.at(*joined);
            }
            CrowdEvent::Joined { join_s } => {
                self.shown = Progress::new(&self.name, None, &self.unit);
                if !Progress::is_drawn() {
                    Progress::print(&format!("{}: all joined in {join_s:.2} s", self.name));
                }
            }
            CrowdEvent::Gate { here, shards } => {
                let at_gate = format!("{here} of {shards} shards at the gate");
                match Progress::is_drawn() {
                    true => {
                        self.shown.note(&at_gate);
                        self.shown.at(0);
                    }
                    false => Progress::print(&format!("{}: {at_gate}", self.name)),
                }
            }
            // The time of all shards begins here.
            CrowdEvent::Open => self.shown = Progress::new(&self.name, None, &self.unit),
            CrowdEvent::Progress { sent, received, expected, .. } => {
                let done = if self.counts_all { sent + received } else { *received };
                let share = done as f64 / (sent + received).max(1) as f64;
                self.shown.set_total((*expected as f64 * share).round() as u64, self.by_time);
                self.shown.at(done);
            }
            CrowdEvent::Done
            | CrowdEvent::Result(_)
            | CrowdEvent::Cpus { .. }
            | CrowdEvent::SelfReport(_)
            | CrowdEvent::Paused(_) => {}
        }
    }
}

/// The mean of these throughputs, with its interval: `so far 13,418 messages/s ±3.10 %`. `None` without one.
pub fn so_far(values: &[f64], workload: &Workload) -> Option<String> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let interval = mean_interval(values, CONFIDENCE).ok();
    let width = interval.map_or_else(String::new, |interval| {
        format!(" ±{} %", three_digits((interval.high - interval.low) / 2.0 / mean * 100.0))
    });
    let rate = grouped(mean.round() as u64);
    (!values.is_empty()).then(|| format!("so far {rate} {}s/s{width}", workload.kind().operation_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_so_far_has_its_interval() {
        let chat = Workload::default();
        assert_eq!(so_far(&[], &chat), None);
        assert_eq!(so_far(&[13_418.2], &chat), Some("so far 13,418 messages/s".to_owned()));
        let three = so_far(&[13_000.0, 13_400.0, 13_100.0], &chat).unwrap();
        assert_eq!(three, "so far 13,167 messages/s ±3.93 %");
    }
}
