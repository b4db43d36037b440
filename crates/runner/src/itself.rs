//! A crowd that watches itself: nobody else can, where it was started on another machine.

use klatch_instruments::{Snapshot, clock_name, environment, host_name};
use klatch_record::{CrowdEvent, Environment, Itself};

/// Watches the crowd that runs in this very process.
pub struct OwnWatch {
    environment: Environment,
    before: Option<Snapshot>,
    after: Option<Snapshot>,
}

impl OwnWatch {
    /// Looks at the machine before the crowd begins.
    #[expect(clippy::new_without_default, reason = "it reads the machine")]
    pub fn new() -> OwnWatch {
        OwnWatch { environment: environment(), before: None, after: None }
    }

    /// Takes in what the crowd tells, in the moment when it does.
    pub fn tell(&mut self, event: &CrowdEvent) {
        match event {
            CrowdEvent::Open => self.before = Snapshot::of(std::process::id()).ok(),
            CrowdEvent::Done => self.after = Snapshot::of(std::process::id()).ok(),
            _ => {}
        }
    }

    /// What there is to tell, for so many `messages` said and verified.
    pub fn itself(self, messages: u64) -> Itself {
        let span = self.before.zip(self.after);
        Itself {
            host: host_name(),
            clock: clock_name(),
            usage: span.map(|(before, after)| after.since(&before, messages)),
            environment: self.environment,
        }
    }
}
