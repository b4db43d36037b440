//! Folders that only their owner and root can change.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use thiserror::Error;

use crate::privileges::invoker::file_uid;
use crate::privileges::private::write_private;
use crate::privileges::private_group::is_private_group;

/// Symbolic links that are followed on the path to a folder.
const LINKS_MAX: usize = 16;

/// An open folder that belongs to the user whose rights this thread has, with mode 0700, in a chain of folders that only
/// that user and root can change.
#[derive(Debug)]
pub struct PrivateFolder {
    fd: OwnedFd,
    path: PathBuf,
}

/// A folder or file that Klatch does not trust or cannot use.
#[derive(Debug, Error)]
pub enum FolderError {
    /// Another user could have written there.
    #[error("{path} is not used: {why}", path = path.display())]
    Untrusted {
        /// The file or folder.
        path: PathBuf,
        /// The reason and the remedy.
        why: String,
    },
    /// No environment variable names a folder.
    #[error("no place for {what}: set HOME or {variable} to an absolute path of a folder of yours")]
    NoHome {
        /// The content of the folder.
        what: &'static str,
        /// The environment variable that can name another folder.
        variable: &'static str,
    },
    /// A system call failed.
    #[error("cannot {what} {path}", path = path.display())]
    System {
        /// The failed operation, as a verb phrase.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system call.
        #[source]
        source: std::io::Error,
    },
}

impl PrivateFolder {
    /// Opens the folder at an absolute path, and creates it and its parents if they are missing.
    ///
    /// # Errors
    /// The folder cannot be created, or another user could have written to it.
    pub fn create(path: &Path) -> Result<PrivateFolder, FolderError> {
        let folder = walk(path, true, LINKS_MAX)?;
        folder.ok_or_else(|| system("create", path)(Errno::NOENT))
    }

    /// Opens the folder at an absolute path; `None` if there is none.
    ///
    /// # Errors
    /// Another user could have written to it.
    pub fn open(path: &Path) -> Result<Option<PrivateFolder>, FolderError> {
        walk(path, false, LINKS_MAX)
    }

    /// Opens a folder in this one, and creates it if it is missing.
    ///
    /// # Errors
    /// The same as those of [`PrivateFolder::create`].
    pub fn subfolder(&self, name: &str) -> Result<PrivateFolder, FolderError> {
        let path = self.path.join(name);
        let fd = enter(&self.fd, Path::new(name), &path, true)?;
        check_private(fd.ok_or_else(|| system("create", &path)(Errno::NOENT))?, path)
    }

    /// Locks the folder against other processes and threads that lock it, and waits for them. The lock ends with this value.
    ///
    /// # Errors
    /// The file system has no locks.
    pub fn lock(&self) -> Result<(), FolderError> {
        rustix::io::retry_on_intr(|| rustix::fs::flock(&self.fd, FlockOperation::LockExclusive))
            .map_err(system("lock", &self.path))
    }

    /// The same without waiting. Returns whether it was locked: `false` if another process or thread has the lock.
    ///
    /// # Errors
    /// The file system has no locks.
    pub fn try_lock(&self) -> Result<bool, FolderError> {
        match rustix::fs::flock(&self.fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
            Err(error) => Err(system("lock", &self.path)(error)),
        }
    }

    /// The path without symbolic links. Every folder on it was checked.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file of this folder for reading; `None` if there is none.
    ///
    /// # Errors
    /// It is not a regular file, has several names, or another user owns it or can write it.
    pub fn read(&self, name: &Path) -> Result<Option<File>, FolderError> {
        let path = self.path.join(name);
        // Without NONBLOCK, opening a pipe would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(untrusted(&path, "it is a symbolic link; remove it")),
            Err(error) => return Err(system("open", &path)(error)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(system("check", &path))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
            return Err(untrusted(&path, "it is not a plain file of one name; remove it"));
        }
        check_owner((stat.st_uid, stat.st_gid, stat.st_mode), &path, false)?;
        Ok(Some(fd.into()))
    }

    /// Writes a file of this folder, or replaces it. Other processes see the old contents or the new ones, also after a power
    /// failure. Only the owner can read the file. A symbolic link of this name is replaced, not followed.
    ///
    /// # Errors
    /// The file system refuses, for example because the disk is full. Then an old file stays as it was.
    pub fn write(&self, name: &str, contents: &[u8]) -> std::io::Result<()> {
        write_private(&self.path.join(name), contents)?;
        File::open(&self.path)?.sync_all()
    }

    /// Names of all files and folders in it, in no particular order.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>, FolderError> {
        let entries = std::fs::read_dir(&self.path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let entries = entries.map_err(|source| FolderError::System {
            what: "list",
            path: self.path.clone(),
            source,
        })?;
        Ok(entries.into_iter().map(|entry| entry.file_name()).collect())
    }
}

/// Opens each folder of the path relative to its parent, so that none can be replaced after it was checked.
fn walk(path: &Path, create: bool, links: usize) -> Result<Option<PrivateFolder>, FolderError> {
    let mut names = path.components();
    if names.next() != Some(Component::RootDir) {
        return Err(untrusted(path, "it is not an absolute path"));
    }
    let names: Vec<Component<'_>> = names.collect();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = PathBuf::from("/");
    let mut fd = rustix::fs::open(&at, flags, Mode::empty()).map_err(system("open", &at))?;
    for (index, name) in names.iter().enumerate() {
        let Component::Normal(name) = name else {
            return Err(untrusted(path, "it has `..` in it"));
        };
        check_ancestor(&fd, &at)?;
        let name = Path::new(name);
        if index + 1 < names.len()
            && let Some(target) = trusted_link(&fd, name, &at)?
        {
            let rest: PathBuf = names[index + 1..].iter().collect();
            let real = normal(&at.join(target)).join(rest);
            return match links.checked_sub(1) {
                Some(links) => walk(&real, create, links),
                None => Err(untrusted(path, "it has too many symbolic links in it")),
            };
        }
        at.push(name);
        match enter(&fd, name, &at, create)? {
            Some(inner) => fd = inner,
            None => return Ok(None),
        }
    }
    check_private(fd, at).map(Some)
}

/// Target of the symbolic link `name` in a folder that was already checked; `None` if it is no link.
fn trusted_link(folder: &OwnedFd, name: &Path, at: &Path) -> Result<Option<PathBuf>, FolderError> {
    use std::os::unix::ffi::OsStringExt;
    let path = at.join(name);
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(system("check", &path)(error)),
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    check_owner((stat.st_uid, stat.st_gid, 0), &path, true)?;
    let target = rustix::fs::readlinkat(folder, name, Vec::new()).map_err(system("read the link", &path))?;
    Ok(Some(OsString::from_vec(target.into_bytes()).into()))
}

/// Resolves `.` and `..`, without regard to symbolic links.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => drop(normal.pop()),
            _ => {}
        }
    }
    normal
}

/// Opens a folder without following a link; `None` if it is missing and `create` is false.
fn enter(folder: &OwnedFd, name: &Path, path: &Path, create: bool) -> Result<Option<OwnedFd>, FolderError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A folder without read permission can still be traversed.
    let traverse = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => rustix::fs::openat(folder, name, traverse, Mode::empty()),
        other => other,
    };
    let mut opened = open();
    if create && opened.as_ref().is_err_and(|&error| error == Errno::NOENT) {
        match rustix::fs::mkdirat(folder, name, Mode::RWXU) {
            // Another process created it first.
            Ok(()) | Err(Errno::EXIST) => opened = open(),
            Err(error) => return Err(system("create", path)(error)),
        }
    }
    match opened {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::NOENT) if !create => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            Err(untrusted(path, "it is a symbolic link or not a folder; remove it"))
        }
        Err(error) => Err(system("open", path)(error)),
    }
}

/// Checks that no other user can replace the entries of a folder on the path.
fn check_ancestor(fd: &OwnedFd, path: &Path) -> Result<(), FolderError> {
    let stat = rustix::fs::fstat(fd).map_err(system("check", path))?;
    // In a sticky folder only the owner of an entry can rename or remove it.
    let sticky = stat.st_mode & Mode::SVTX.bits() != 0 && stat.st_uid == 0;
    // The owner of `/` can replace every program anyway. In a user namespace that user is not mapped.
    let owner = if path == Path::new("/") { 0 } else { stat.st_uid };
    check_owner((owner, stat.st_gid, if sticky { 0 } else { stat.st_mode }), path, true)
}

fn check_private(fd: OwnedFd, path: PathBuf) -> Result<PrivateFolder, FolderError> {
    let stat = rustix::fs::fstat(&fd).map_err(system("check", &path))?;
    check_owner((stat.st_uid, stat.st_gid, stat.st_mode), &path, false)?;
    if stat.st_mode & 0o077 != 0 {
        rustix::fs::fchmod(&fd, Mode::RWXU).map_err(system("make private", &path))?;
    }
    Ok(PrivateFolder { fd, path })
}

/// Checks that this user owns it, or root if `root_allowed`, and that no other user can write it. The private group of its owner is
/// no other user.
fn check_owner(
    (uid, gid, mode): (u32, u32, u32),
    path: &Path,
    root_allowed: bool,
) -> Result<(), FolderError> {
    let me = file_uid();
    if uid != me && !(root_allowed && uid == 0) {
        let why = format!("it belongs to user {uid}, and not to user {me}; remove it");
        return Err(FolderError::Untrusted { path: path.to_owned(), why });
    }
    let by_private_group = mode & 0o022 == 0o020 && uid == me && is_private_group(gid, uid);
    if mode & 0o022 != 0 && !by_private_group {
        let why = format!("others can write it (mode {:o}); look at it, then `chmod go-w` it", mode & 0o7777);
        return Err(FolderError::Untrusted { path: path.to_owned(), why });
    }
    Ok(())
}

fn untrusted(path: &Path, why: &str) -> FolderError {
    FolderError::Untrusted { path: path.to_owned(), why: why.to_owned() }
}

fn system(what: &'static str, path: &Path) -> impl Fn(Errno) -> FolderError {
    move |error| FolderError::System { what, path: path.to_owned(), source: error.into() }
}

/// Why nothing can be written to a folder, or to the one in which it will be made; `None` if something can.
pub fn cannot_write(path: &Path) -> Option<std::io::Error> {
    let there = path.ancestors().find(|folder| folder.exists())?;
    rustix::fs::access(there, rustix::fs::Access::WRITE_OK).err().map(Into::into)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn refusal(path: &Path) -> String {
        PrivateFolder::create(path).unwrap_err().to_string()
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn created_folders_and_their_parents_are_private() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("one/two");
        assert!(PrivateFolder::open(&path).unwrap().is_none());
        let folder = PrivateFolder::create(&path).unwrap();
        for made in [folder.path(), &home.path().join("one"), folder.subfolder("three").unwrap().path()] {
            assert_eq!(std::fs::metadata(made).unwrap().mode() & 0o7777, 0o700);
        }
    }

    #[test]
    fn a_readable_folder_is_made_private() {
        let home = tempfile::tempdir().unwrap();
        set_mode(home.path(), 0o755);
        PrivateFolder::create(home.path()).unwrap();
        assert_eq!(std::fs::metadata(home.path()).unwrap().mode() & 0o7777, 0o700);
    }

    #[test]
    fn writable_folders_on_the_path_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("cache");
        std::fs::create_dir(&path).unwrap();
        for mode in [0o770, 0o707, 0o777] {
            set_mode(&path, mode);
            assert!(refusal(&path).contains(&format!("others can write it (mode {mode:o})")));
            assert!(refusal(&path.join("klatch")).contains("others can write it"));
        }
    }

    #[test]
    fn a_symbolic_link_is_followed_only_on_the_path() {
        let home = tempfile::tempdir().unwrap();
        let (real, link) = (home.path().join("real"), home.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        symlink("real", &link).unwrap();
        assert!(refusal(&link).contains("symbolic link"));
        assert_eq!(PrivateFolder::create(&link.join("klatch")).unwrap().path(), real.join("klatch"));
    }

    #[test]
    fn only_plain_private_files_of_one_name_are_read() {
        let home = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(home.path()).unwrap();
        let read = |name: &str| folder.read(Path::new(name)).map_err(|error| error.to_string());
        assert!(read("none").unwrap().is_none());
        let file = home.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert!(read("file").unwrap().is_some());
        symlink("file", home.path().join("link")).unwrap();
        assert!(read("link").unwrap_err().contains("symbolic link"));
        set_mode(&file, 0o666);
        assert!(read("file").unwrap_err().contains("others can write it"));
        set_mode(&file, 0o600);
        std::fs::hard_link(&file, home.path().join("second")).unwrap();
        assert!(read("file").unwrap_err().contains("one name"));
        rustix::fs::mknodat(rustix::fs::CWD, home.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        assert!(read("pipe").unwrap_err().contains("plain file"));
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(home.path()).unwrap();
        let (file, elsewhere) = (home.path().join("file"), home.path().join("elsewhere"));
        std::fs::write(&elsewhere, "another").unwrap();
        symlink(&elsewhere, &file).unwrap();
        folder.write("file", b"old").unwrap();
        assert!(file.symlink_metadata().unwrap().is_file(), "the link was followed");
        assert_eq!(std::fs::read(&elsewhere).unwrap(), b"another");
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
        // A reader that opened the old file still reads all of it.
        let mut reader = File::open(&file).unwrap();
        folder.write("file", b"new").unwrap();
        assert_eq!(std::io::read_to_string(&mut reader).unwrap(), "old");
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        // A folder cannot be replaced by a file; no temporary file stays behind.
        std::fs::create_dir(home.path().join("folder")).unwrap();
        folder.write("folder", b"new").unwrap_err();
        assert_eq!(folder.names().unwrap().len(), 3);
    }
}
