//! `klatch serve --out`: what a server used since the last gate opened, as a file for `klatch merge`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::Context;
use klatch_crowd::observe_gates;
use klatch_record::{Class, own_arguments};
use klatch_runner::ServerMonitor;

use crate::output::save_text_or_print;
use crate::version::build;

/// The file, and the counters for it.
pub(crate) struct UseFile {
    path: PathBuf,
    monitor: Arc<Mutex<ServerMonitor>>,
}

impl UseFile {
    pub(crate) fn new(path: PathBuf) -> UseFile {
        UseFile { path, monitor: Arc::new(Mutex::new(ServerMonitor::new())) }
    }

    /// Observes the gates of the server at this address of this machine, in a thread that ends with the server.
    pub(crate) fn observe(&self, address: SocketAddr) -> std::io::Result<()> {
        let monitor = self.monitor.clone();
        let observe = move || {
            let on_open = |run| monitor.lock().expect("no holder of this lock panics").on_open(run);
            // A broken connection ends the observation, and the file has what was seen before.
            let _ = observe_gates(address, on_open);
        };
        std::thread::Builder::new().name("gate-observer".to_owned()).spawn(observe)?;
        Ok(())
    }

    /// Writes the file when the server has stopped.
    ///
    /// # Errors
    /// No gate has opened, or the file cannot be written.
    pub(crate) fn save(self, class: Option<klatch_server::Class>) -> anyhow::Result<()> {
        let class = class.map(|class| match class {
            klatch_server::Class::Classic => Class::Classic,
            klatch_server::Class::Open => Class::Open,
        });
        let monitor = self.monitor.lock().expect("no holder of this lock panics");
        let part = monitor.part(build(), class, own_arguments());
        let part = part.with_context(|| {
            format!("no gate opened on this server, so {} is not written", self.path.display())
        })?;
        save_text_or_print(&(serde_json::to_string(&part)? + "\n"), &self.path)
    }
}
