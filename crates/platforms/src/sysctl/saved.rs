//! The previous values of sysctls on disk: one file per Klatch process, locked while it lives.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use klatch_host::privileges::{FolderError, PrivateFolder, as_root, cache_path};
use klatch_record::error_chain;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::SysctlError;

/// A sysctl with its previous value and the one that was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) set: String,
}

/// Everything that one Klatch process has set.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    pid: u32,
    /// Boot id of the kernel. A reboot resets all sysctls, so older files are obsolete.
    boot: String,
    /// The network namespace, which has its own values of `net.*`.
    network: String,
    pub(super) values: Vec<Value>,
}

/// A state that is on disk and locked by this process.
#[derive(Debug)]
pub(super) struct SavedSysctls {
    pub(super) state: State,
    path: PathBuf,
    _locked: File,
}

impl State {
    pub(super) fn new(values: Vec<Value>) -> State {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
        State {
            pid: std::process::id(),
            boot: boot.trim().to_owned(),
            network: network.display().to_string(),
            values,
        }
    }

    /// Whether it contains this sysctl, in this network namespace if it is one of `net.*`.
    fn has(&self, name: &str, network: &str) -> bool {
        let same_network = !name.starts_with("net.") || self.network == network;
        same_network && self.values.iter().any(|value| value.name == name)
    }
}

impl SavedSysctls {
    /// Deletes the file after the values have been restored.
    pub(super) fn delete(self) {
        // If the file remains, the next Klatch finds nothing to restore.
        let _ = as_root(|| std::fs::remove_file(&self.path));
    }
}

/// For root a folder that a reboot clears. Other users can write few sysctls; their values are saved in their cache.
fn folder_path() -> Result<PathBuf, FolderError> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/run/klatch"));
    }
    Ok(cache_path()?.join("sysctls"))
}

/// Writes the state, unless another living Klatch has set the same sysctl.
pub(super) fn save(state: State) -> Result<SavedSysctls, SysctlError> {
    as_root(|| {
        let folder = PrivateFolder::create(&folder_path()?)?;
        for (_, other, file) in states(&folder)?.0 {
            let mut names = state.values.iter().map(|value| &value.name);
            let in_use = names.find(|name| other.has(name, &state.network));
            // Only a file with the same sysctl is locked. Even a short lock would make another Klatch believe that its owner lives.
            if let Some(name) = in_use.filter(|_| lock(&file).is_err()) {
                return Err(SysctlError::InUse { name: name.clone(), pid: other.pid });
            }
        }
        match save_in(folder.path(), &state) {
            Ok((path, locked)) => Ok(SavedSysctls { state, path, _locked: locked }),
            Err(source) => Err(SysctlError::State { folder: folder.path().to_owned(), source }),
        }
    })
}

/// The file gets its name only when it is complete and locked.
fn save_in(folder: &Path, state: &State) -> std::io::Result<(PathBuf, File)> {
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

/// The states of killed processes from this boot and network namespace, each locked now, and messages about files that are
/// not trusted.
pub(super) fn stale() -> (Vec<SavedSysctls>, Vec<String>) {
    as_root(|| {
        // A user without a home has saved nothing.
        let Ok(path) = folder_path() else { return (Vec::new(), Vec::new()) };
        let actual = PrivateFolder::open(&path).and_then(|folder| folder.as_ref().map(states).transpose());
        let (actual, refused) = match actual {
            Ok(actual) => actual.unwrap_or_default(),
            Err(error) => return (Vec::new(), vec![error_chain(&error)]),
        };
        let current = State::new(Vec::new());
        let mut all = Vec::new();
        for (path, state, file) in actual {
            let outdated = state.boot != current.boot;
            let same_network = state.values.iter().all(|value| state.has(&value.name, &current.network));
            // Files of another network namespace are left to the Klatch processes there.
            if !(outdated || same_network) || lock(&file).is_err() {
                continue;
            }
            if outdated {
                let _ = std::fs::remove_file(&path);
            } else {
                all.push(SavedSysctls { state, path, _locked: file });
            }
        }
        (all, refused)
    })
}

type StateFiles = (Vec<(PathBuf, State, File)>, Vec<String>);

/// All states in a folder, and messages about files that are not trusted or not readable.
fn states(folder: &PrivateFolder) -> Result<StateFiles, FolderError> {
    let (mut actual, mut refused) = (Vec::new(), Vec::new());
    for name in folder.names()? {
        let path = folder.path().join(&name);
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        match folder.read(Path::new(&name)) {
            // Another Klatch may have removed it meanwhile.
            Ok(None) => {}
            Ok(Some(file)) => match serde_json::from_reader(&file) {
                Ok(state) => actual.push((path, state, file)),
                Err(error) => refused.push(format!("{} is not used: {error}; remove it", path.display())),
            },
            Err(error) => refused.push(error.to_string()),
        }
    }
    Ok((actual, refused))
}

/// The kernel releases the lock when its holder dies for any reason.
fn lock(file: &File) -> rustix::io::Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}
