//! What a crowd measures of itself. On another machine, no other process of Klatch can measure it.

use klatch_host::machine::{Snapshot, boot_id, environment, host_name};
use klatch_platforms::runtime_variables;
use klatch_record::{CrowdEvent, CrowdSelfReport, Environment};

/// Measures the crowd that runs in this process, and the machine.
pub struct SelfMonitor {
    environment: Environment,
    before: Option<Snapshot>,
    after: Option<Snapshot>,
}

impl SelfMonitor {
    /// Reads the state of the machine; call it before the crowd starts.
    #[expect(clippy::new_without_default, reason = "it reads the machine")]
    pub fn new() -> SelfMonitor {
        SelfMonitor { environment: environment(runtime_variables()), before: None, after: None }
    }

    /// Snapshots this process when the gate opens and after the last delivery. Call it at once with each event.
    pub fn on_event(&mut self, event: &CrowdEvent) {
        match event {
            CrowdEvent::Open => self.before = Snapshot::take_own().ok(),
            CrowdEvent::Done => self.after = Snapshot::take_own().ok(),
            _ => {}
        }
    }

    /// The report; `messages` is the number sent plus the number of verified deliveries.
    pub fn report(self, messages: u64) -> CrowdSelfReport {
        let span = self.before.zip(self.after);
        CrowdSelfReport {
            host: host_name(),
            clock: boot_id(),
            usage: span.map(|(before, after)| after.since(&before, messages)),
            environment: self.environment,
        }
    }
}
