//! What was there before, on disk: one file a Klatch, locked as long as it lives.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::SysctlError;
use crate::own::cache_folder;

/// A name, and what it was and is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) set: String,
}

/// What one Klatch has set.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    pid: u32,
    /// After a reboot everything is as the system wants it.
    boot: String,
    /// `net.*` belong to a network namespace.
    network: String,
    pub(super) values: Vec<Value>,
}

/// A state on disk, locked by this process.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) state: State,
    path: PathBuf,
    _locked: File,
}

impl State {
    pub(super) fn now(values: Vec<Value>) -> State {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
        State {
            pid: std::process::id(),
            boot: boot.trim().to_owned(),
            network: network.display().to_string(),
            values,
        }
    }

    /// Whether it has the sysctl of this name as it is in a network namespace.
    fn has(&self, name: &str, network: &str) -> bool {
        let same_network = !name.starts_with("net.") || self.network == network;
        same_network && self.values.iter().any(|value| value.name == name)
    }
}

impl Kept {
    /// All is as it was before.
    pub(super) fn forget(self) {
        // If it stays, the next Klatch finds that there is nothing to do.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Root's is where a reboot clears it; who may not write there has his own cache.
fn folders() -> [PathBuf; 2] {
    [PathBuf::from("/run/klatch"), cache_folder().join("sysctls")]
}

/// Writes the state down, if no other living Klatch has set the same.
pub(super) fn keep(state: State) -> Result<Kept, SysctlError> {
    for (other, file) in files().iter().filter_map(|path| open(path)) {
        let mut names = state.values.iter().map(|value| &value.name);
        let taken = names.find(|name| other.has(name, &state.network));
        // Only what concerns this Klatch is locked, be it for a moment: another one that looks just then takes it for alive.
        if let Some(name) = taken.filter(|_| lock(&file).is_err()) {
            return Err(SysctlError::Taken { name: name.clone(), pid: other.pid });
        }
    }
    let [first, second] = folders();
    match keep_in(&first, &state).or_else(|_| keep_in(&second, &state)) {
        Ok((path, locked)) => Ok(Kept { state, path, _locked: locked }),
        Err(source) => Err(SysctlError::State { folder: second, source }),
    }
}

/// It gets its name when it is whole and locked.
fn keep_in(folder: &Path, state: &State) -> std::io::Result<(PathBuf, File)> {
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    lock(file.as_file())?;
    serde_json::to_writer(&mut file, state)?;
    file.flush()?;
    file.as_file().sync_all()?;
    let now_ns = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let path = folder.join(format!("{}-{now_ns}.json", state.pid));
    let file = file.persist(&path).map_err(|error| error.error)?;
    Ok((path, file))
}

/// The states of those that were killed, of this boot and of this network namespace, each locked now.
pub(super) fn abandoned() -> Vec<Kept> {
    let here = State::now(Vec::new());
    let mut all = Vec::new();
    for path in files() {
        let Some((state, file)) = open(&path) else { continue };
        let stale = state.boot != here.boot;
        let of_here = state.values.iter().all(|value| state.has(&value.name, &here.network));
        // As above: what is of another network namespace is not touched.
        if !(stale || of_here) || lock(&file).is_err() {
            continue;
        }
        if stale {
            let _ = std::fs::remove_file(&path);
        } else {
            all.push(Kept { state, path, _locked: file });
        }
    }
    all
}

fn files() -> Vec<PathBuf> {
    let entries =
        folders().into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect()
}

fn open(path: &Path) -> Option<(State, File)> {
    let file = File::open(path).ok()?;
    Some((serde_json::from_reader(&file).ok()?, file))
}

/// The kernel opens the lock when its holder dies, however he dies.
fn lock(file: &File) -> rustix::io::Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}
