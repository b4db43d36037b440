//! The user as whom a server runs that root starts: one with fewer rights than root.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use thiserror::Error;

use crate::privileges::invoker::programs_run_as_root;
use crate::privileges::system::user_named;

/// Mode of a folder that its owner can change and the group of a service can enter.
const ENTERED_MODE: u32 = 0o710;
/// Mode of a file that its owner can change and the group of a service can read.
const READ_MODE: u32 = 0o640;
/// Mode of a folder of the service alone.
const OWN_MODE: u32 = 0o700;

/// A user as whom root starts a server, with the primary group of that user and no other group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceUser {
    /// Login name.
    pub name: String,
    uid: u32,
    gid: u32,
}

/// A server cannot run as its user.
#[derive(Debug, Error)]
pub enum ServiceUserError {
    /// The user database has no such user.
    #[error(
        "it is to run as the user {0}, who does not exist; make that user: `adduser --system --group {0}`"
    )]
    Unknown(String),
    /// The user database cannot be read.
    #[error("cannot look up the user {name}: {source}")]
    System {
        /// Login name.
        name: String,
        /// The error of the system call.
        source: io::Error,
    },
}

impl ServiceUser {
    /// The user with this login name. `None` if programs do not run as root anyway, or in a user namespace without that user.
    ///
    /// # Errors
    /// There is no such user, or the user database cannot be read.
    pub fn find(name: &str) -> Result<Option<ServiceUser>, ServiceUserError> {
        if !programs_run_as_root() {
            return Ok(None);
        }
        let unknown = || ServiceUserError::Unknown(name.to_owned());
        let c_name = CString::new(name).map_err(|_| unknown())?;
        let found = user_named(&c_name)
            .map_err(|source| ServiceUserError::System { name: name.to_owned(), source })?;
        let (uid, gid) = found.ok_or_else(unknown)?;
        let exists = is_mapped("/proc/self/uid_map", uid) && is_mapped("/proc/self/gid_map", gid);
        Ok(exists.then(|| ServiceUser { name: name.to_owned(), uid, gid }))
    }

    /// Makes the calling process run as this user. For use between fork and exec: it makes system calls only.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn assume(&self) -> io::Result<()> {
        // Groups first and user last: each step needs rights that the next one gives up.
        // SAFETY: the list has one entry, and its length is given.
        check(unsafe { libc::setgroups(1, &raw const self.gid) })?;
        // SAFETY: the call takes only numbers.
        check(unsafe { libc::setresgid(self.gid, self.gid, self.gid) })?;
        // SAFETY: as above.
        check(unsafe { libc::setresuid(self.uid, self.uid, self.uid) })
    }

    /// Lets the user enter a folder and read the files in it. It can change, add and list none, and other users can do nothing.
    /// Folders in it stay as they are.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn let_read(&self, folder: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.symlink_metadata()?.is_file() {
                self.set(&path, None, READ_MODE)?;
            }
        }
        self.set(folder, None, ENTERED_MODE)
    }

    /// Gives the user a folder, which nobody else can enter but root.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn give(&self, folder: &Path) -> io::Result<()> {
        self.set(folder, Some(self.uid), OWN_MODE)
    }

    fn set(&self, path: &Path, owner: Option<u32>, mode: u32) -> io::Result<()> {
        chown(path, owner, Some(self.gid))?;
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode))
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether this user namespace has an id, by a file with lines of the first id, the first id outside, and their number.
fn is_mapped(map: &str, id: u32) -> bool {
    let Ok(map) = std::fs::read_to_string(map) else { return true };
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&u64::from(id)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_user_is_named_with_a_remedy() {
        if programs_run_as_root() {
            let error = ServiceUser::find("klatch-no-such-user").unwrap_err().to_string();
            assert!(error.contains("klatch-no-such-user, who does not exist"), "{error}");
            assert_eq!(ServiceUser::find("nobody").unwrap().unwrap().uid, 65_534);
        } else {
            assert_eq!(ServiceUser::find("klatch-no-such-user").unwrap(), None);
        }
    }

    #[test]
    fn ids_of_a_namespace_are_those_of_its_map() {
        let folder = tempfile::tempdir().unwrap();
        let map = folder.path().join("uid_map");
        std::fs::write(&map, "         0       1000          1\n         5 100000 10\n").unwrap();
        let mapped = |id| is_mapped(map.to_str().unwrap(), id);
        assert!(mapped(0) && mapped(5) && mapped(14));
        assert!(!mapped(1) && !mapped(15) && !mapped(65_534));
    }
}
