//! What a crowd measures of itself. On another machine, no other process of Klatch can measure it.

use klatch_host::machine::{CpuQuota, Snapshot, boot_id, environment, host_name};
use klatch_platforms::runtime_variables;
use klatch_record::{Build, CrowdEvent, CrowdSelfReport, Environment};

/// Measures the crowd that runs in this process, and the machine.
pub struct SelfMonitor {
    environment: Environment,
    before: Option<Snapshot>,
    after: Option<Snapshot>,
    /// When the gate opened, and after the last delivery.
    quota: [Option<CpuQuota>; 2],
}

impl SelfMonitor {
    /// Reads the state of the machine; call it before the crowd starts.
    #[expect(clippy::new_without_default, reason = "it reads the machine")]
    pub fn new() -> SelfMonitor {
        SelfMonitor {
            environment: environment(runtime_variables()),
            before: None,
            after: None,
            quota: [None; 2],
        }
    }

    /// Snapshots this process when the gate opens and after the last delivery. Call it at once with each event.
    pub fn on_event(&mut self, event: &CrowdEvent) {
        match event {
            CrowdEvent::Open => {
                (self.before, self.quota[0]) = (Snapshot::take_own().ok(), CpuQuota::read());
            }
            CrowdEvent::Done => {
                (self.after, self.quota[1]) = (Snapshot::take_own().ok(), CpuQuota::read());
            }
            _ => {}
        }
    }

    /// The report; `klatch` is this program, and `messages` the number sent plus the number of verified deliveries.
    pub fn report(self, klatch: Build, messages: u64) -> CrowdSelfReport {
        let span = self.before.zip(self.after);
        let throttled = |(before, after): (CpuQuota, CpuQuota)| after.throttled_s_since(&before);
        let throttled_in_run_s = self.quota[0].zip(self.quota[1]).and_then(throttled);
        CrowdSelfReport {
            host: host_name(),
            clock: boot_id(),
            klatch,
            usage: span.map(|(before, after)| after.since(&before, messages)),
            environment: Environment { throttled_in_run_s, ..self.environment },
        }
    }
}
