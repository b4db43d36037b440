//! How far a run is: a bar on a terminal, plain lines elsewhere. All on standard error: results go to standard output.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use klatch_record::CrowdEvent;

use crate::number::grouped;

/// Plain lines come at each of so many equal steps.
const STEPS: u64 = 4;

/// Shows how far one run is.
pub struct Progress {
    name: String,
    bar: Option<ProgressBar>,
    step: u64,
}

impl Progress {
    /// For the run called `name`.
    pub fn new(name: String) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {per_sec} {eta}");
            ProgressBar::new(1)
                .with_style(style.expect("the template is right"))
                .with_message(format!("{name}: joining"))
        });
        Progress { name, bar, step: 0 }
    }

    /// Takes in what the crowd tells.
    pub fn tell(&mut self, event: &CrowdEvent) {
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
            (CrowdEvent::Joined { join_s }, None) => self.say(&format!("all joined in {join_s:.2} s")),
            (CrowdEvent::Progress { sent, received, expected, .. }, Some(bar)) => {
                bar.set_length(*expected);
                bar.set_position(sent + received);
            }
            (CrowdEvent::Progress { sent, received, expected, .. }, None) => {
                let step = (sent + received) * STEPS / (*expected).max(1);
                if step > self.step && step < STEPS {
                    self.step = step;
                    self.say(&format!("{} of {} messages", grouped(sent + received), grouped(*expected)));
                }
            }
            (CrowdEvent::Done | CrowdEvent::Result(_), Some(bar)) => bar.finish_and_clear(),
            (CrowdEvent::Done | CrowdEvent::Result(_), None) => {}
            (CrowdEvent::Gate { here, shards }, Some(bar)) => {
                bar.set_message(format!("{}: {here} of {shards} shards at the gate", self.name));
            }
            (CrowdEvent::Gate { here, shards }, None) => {
                self.say(&format!("{here} of {shards} shards at the gate"));
            }
            (CrowdEvent::Open, Some(bar)) => bar.set_message(self.name.clone()),
            (CrowdEvent::Open, None) | (CrowdEvent::Cpus { .. } | CrowdEvent::SelfReport(_), _) => {}
        }
    }

    /// A line, if there is still somebody who reads standard error.
    fn say(&self, what: &str) {
        let _ = writeln!(std::io::stderr(), "{}: {what}", self.name);
    }
}
