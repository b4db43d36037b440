//! Progress of a run on standard error: a bar on a terminal, else plain lines. Results go to standard output.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use klatch_record::{CrowdEvent, WorkloadKind, printable_line};

use crate::number::grouped;

/// Without a terminal, progress is printed after each of this number of equal steps.
const STEPS: u64 = 4;

/// Whether a terminal of this type (`TERM`) can draw over what it shows. One that is `dumb`, or whose type is unknown, cannot.
pub(crate) fn can_move_cursor(term: Option<OsString>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// A speed in words, rounded: a fraction of a message is nothing to see.
fn speed(per_s: f64) -> String {
    format!("{}/s", grouped(per_s.round() as u64))
}

/// Progress display of one run.
pub struct Progress {
    name: String,
    workload: WorkloadKind,
    bar: Option<ProgressBar>,
    step: u64,
}

impl Progress {
    /// A display for the run called `name`.
    pub fn new(name: String, workload: WorkloadKind) -> Progress {
        // A study's file has names of its own.
        let name = printable_line(&name).into_owned();
        let bar = (std::io::stderr().is_terminal() && can_move_cursor(std::env::var_os("TERM"))).then(|| {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {speed} {eta}");
            let speed = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
                // Fails only if the bar's own text cannot be extended.
                let _ = text.write_str(&speed(state.per_sec()));
            };
            ProgressBar::new(1)
                .with_style(style.expect("the template is right").with_key("speed", speed))
                .with_message(format!("{name}: joining"))
        });
        Progress { name, workload, bar, step: 0 }
    }

    /// Updates the display with an event of the crowd.
    pub fn update(&mut self, event: &CrowdEvent) {
        match (event, &self.bar) {
            (CrowdEvent::Joining { joined, users }, Some(bar)) => {
                bar.set_length(*users);
                bar.set_position(*joined);
            }
            (CrowdEvent::Joining { .. }, None) => {}
            (CrowdEvent::Joined { .. }, Some(bar)) => {
                bar.reset();
                bar.set_message(self.name.clone());
            }
            (CrowdEvent::Joined { join_s }, None) => self.print(&format!("all joined in {join_s:.2} s")),
            (CrowdEvent::Progress { sent, received, expected, .. }, Some(bar)) => {
                bar.set_length(*expected);
                bar.set_position(sent + received);
            }
            (CrowdEvent::Progress { sent, received, expected, .. }, None) => {
                let step = (sent + received) * STEPS / (*expected).max(1);
                if step > self.step && step < STEPS {
                    self.step = step;
                    self.print(&self.amount(*sent, *received, *expected));
                }
            }
            (CrowdEvent::Done | CrowdEvent::Result(_), Some(bar)) => bar.finish_and_clear(),
            (CrowdEvent::Done | CrowdEvent::Result(_), None) => {}
            (CrowdEvent::Gate { here, shards }, Some(bar)) => {
                bar.set_message(format!("{}: {here} of {shards} shards at the gate", self.name));
            }
            (CrowdEvent::Gate { here, shards }, None) => {
                self.print(&format!("{here} of {shards} shards at the gate"));
            }
            (CrowdEvent::Open, Some(bar)) => bar.set_message(self.name.clone()),
            (CrowdEvent::Open, None)
            | (CrowdEvent::Cpus { .. } | CrowdEvent::SelfReport(_) | CrowdEvent::Paused(_), _) => {}
        }
    }

    /// How far the run is. How many operations there are at the end of a time is not known before.
    fn amount(&self, sent: u64, received: u64, expected: u64) -> String {
        match self.workload {
            WorkloadKind::Chat => format!("{} of {} messages", grouped(sent + received), grouped(expected)),
            other => format!("{} {}s", grouped(received), other.operation_name()),
        }
    }

    /// Prints a line. Errors are ignored: a closed standard error must not end the run.
    fn print(&self, what: &str) {
        let _ = writeln!(std::io::stderr(), "{}: {what}", self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_whole_number() {
        assert_eq!(speed(26_448.792_8), "26,449/s");
        assert_eq!(speed(0.0), "0/s");
    }

    #[test]
    fn a_dumb_terminal_gets_plain_lines() {
        let can = |term: Option<&str>| can_move_cursor(term.map(OsString::from));
        assert!(can(Some("xterm-256color")) && can(Some("linux")));
        assert!(!can(Some("dumb")) && !can(Some("")) && !can(None));
    }
}
