//! What a server measures of itself, if no parent started it: its use since a gate opened.

use klatch_host::machine::{Snapshot, environment};
use klatch_platforms::runtime_variables;
use klatch_record::{Build, Class, Environment, SERVER_SCHEMA_NAME, ServerPart};

/// Measures the server that runs in this process, and the machine.
pub struct ServerMonitor {
    environment: Environment,
    /// The number with which the last gate was opened, and the counters at that time.
    opened: Option<(u64, Snapshot)>,
}

impl ServerMonitor {
    /// Reads the state of the machine; call it before the crowds start.
    #[expect(clippy::new_without_default, reason = "it reads the machine")]
    pub fn new() -> ServerMonitor {
        ServerMonitor { environment: environment(runtime_variables()), opened: None }
    }

    /// Snapshots this process. Call it at once when a gate opens; `run` is its number.
    pub fn on_open(&mut self, run: u64) {
        self.opened = Snapshot::take_own().ok().map(|before| (run, before));
    }

    /// The part of the record, up to now; `None` if no gate has opened.
    pub fn part(&self, klatch: Build, class: Option<Class>, command: Vec<String>) -> Option<ServerPart> {
        let (run, before) = self.opened?;
        let usage = Snapshot::take_own().ok()?.since(&before, 0);
        Some(ServerPart {
            schema: SERVER_SCHEMA_NAME.to_owned(),
            klatch,
            gate_run: format!("{run:x}"),
            class,
            command,
            // The threads of connections have ended by now.
            usage: klatch_record::Usage { threads: before.threads(), ..usage },
            environment: self.environment.clone(),
        })
    }
}
