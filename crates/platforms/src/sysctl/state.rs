//! What was there before, on disk: one file a Klatch, locked as long as it lives.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use klatch_privileges::{FolderError, PrivateFolder, as_root, cache_path};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::SysctlError;

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
        let _ = as_root(|| std::fs::remove_file(&self.path));
    }
}

/// Root's is where a reboot clears it. Without root's rights only a few settings can be written at all; these are saved in
/// the user's cache.
fn folder_path() -> Result<PathBuf, FolderError> {
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/run/klatch"));
    }
    Ok(cache_path()?.join("sysctls"))
}

/// Writes the state down, if no other living Klatch has set the same.
pub(super) fn keep(state: State) -> Result<Kept, SysctlError> {
    as_root(|| {
        let folder = PrivateFolder::create(&folder_path()?)?;
        for (_, other, file) in states(&folder)?.0 {
            let mut names = state.values.iter().map(|value| &value.name);
            let taken = names.find(|name| other.has(name, &state.network));
            // Only what concerns this Klatch is locked, be it for a moment: another one that looks just then takes it for alive.
            if let Some(name) = taken.filter(|_| lock(&file).is_err()) {
                return Err(SysctlError::Taken { name: name.clone(), pid: other.pid });
            }
        }
        match keep_in(folder.path(), &state) {
            Ok((path, locked)) => Ok(Kept { state, path, _locked: locked }),
            Err(source) => Err(SysctlError::State { folder: folder.path().to_owned(), source }),
        }
    })
}

/// It gets its name when it is whole and locked.
fn keep_in(folder: &Path, state: &State) -> std::io::Result<(PathBuf, File)> {
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

/// The states of those that were killed, of this boot and of this network namespace, each locked now; and what was found that
/// is not trusted, for people to read.
pub(super) fn abandoned() -> (Vec<Kept>, Vec<String>) {
    as_root(|| {
        // A user without a home has saved nothing.
        let Ok(path) = folder_path() else { return (Vec::new(), Vec::new()) };
        let found = PrivateFolder::open(&path).and_then(|folder| folder.as_ref().map(states).transpose());
        let (found, refused) = match found {
            Ok(found) => found.unwrap_or_default(),
            Err(error) => return (Vec::new(), vec![error.to_string()]),
        };
        let here = State::now(Vec::new());
        let mut all = Vec::new();
        for (path, state, file) in found {
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
        (all, refused)
    })
}

type Found = (Vec<(PathBuf, State, File)>, Vec<String>);

/// All states in a folder, and what in it is none.
fn states(folder: &PrivateFolder) -> Result<Found, FolderError> {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for name in folder.names()? {
        let path = folder.path().join(&name);
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        match folder.read(Path::new(&name)) {
            // Another klatch may have removed it since.
            Ok(None) => {}
            Ok(Some(file)) => match serde_json::from_reader(&file) {
                Ok(state) => found.push((path, state, file)),
                Err(error) => refused.push(format!("{} is not used: {error}; remove it", path.display())),
            },
            Err(error) => refused.push(error.to_string()),
        }
    }
    Ok((found, refused))
}

/// The kernel opens the lock when its holder dies, however he dies.
fn lock(file: &File) -> rustix::io::Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}
