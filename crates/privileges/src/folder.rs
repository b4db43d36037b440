//! Folders that nobody but their owner and root could have put anything into.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use thiserror::Error;

use crate::invoker::{file_uid, invoker};

/// Links that are followed on the way to a folder.
const LINKS_MAX: usize = 16;
/// Where root keeps what Klatch makes; [`cache_folder`] and [`state_folder`].
const OF_ROOT: &str = "/var/lib/klatch";

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
    /// Somebody else could have written there.
    #[error("{path} is not used: {why}", path = path.display())]
    Untrusted {
        /// What was found.
        path: PathBuf,
        /// What is wrong and what to do.
        why: String,
    },
    /// No variable names a place.
    #[error("no place for {what}: set HOME or {variable} to an absolute path of a folder of yours")]
    NoHome {
        /// What is kept there.
        what: &'static str,
        /// The environment variable that can name another place.
        variable: &'static str,
    },
    /// A system call failed.
    #[error("cannot {what} {path}", path = path.display())]
    System {
        /// The operation.
        what: &'static str,
        /// Its object.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// The folder of caches, made if it is missing; [`cache_path`] says where it is.
///
/// # Errors
/// No variable names it, it cannot be made, or others could have written there.
pub fn cache_folder() -> Result<PrivateFolder, FolderError> {
    PrivateFolder::create(&cache_path()?)
}

/// Where caches are: `$XDG_CACHE_HOME/klatch`; without it `~/.cache/klatch`, and `/var/lib/klatch` for root.
///
/// # Errors
/// No variable names it.
pub fn cache_path() -> Result<PathBuf, FolderError> {
    place("caches", "XDG_CACHE_HOME", ".cache")
}

/// Where state is that outlives runs: `$XDG_STATE_HOME/klatch`; without it `~/.local/state/klatch`, and `/var/lib/klatch` for
/// root.
///
/// # Errors
/// No variable names it.
pub fn state_folder() -> Result<PathBuf, FolderError> {
    place("state", "XDG_STATE_HOME", ".local/state")
}

fn place(what: &'static str, variable: &'static str, in_home: &str) -> Result<PathBuf, FolderError> {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = named(variable) {
        return Ok(folder.join("klatch"));
    }
    if file_uid() == 0 {
        // HOME can be the home of the user who became root.
        return Ok(PathBuf::from(OF_ROOT));
    }
    // sudo can leave HOME at root's.
    let home = match invoker() {
        Some(invoker) => invoker.home.clone(),
        None => named("HOME"),
    };
    Ok(home.ok_or(FolderError::NoHome { what, variable })?.join(in_home).join("klatch"))
}

impl PrivateFolder {
    /// Opens the folder, and makes it if it is missing.
    ///
    /// # Errors
    /// It cannot be made, or somebody else could have written there.
    pub fn create(path: &Path) -> Result<PrivateFolder, FolderError> {
        let folder = walk(path, true, LINKS_MAX)?;
        folder.ok_or_else(|| system("make", path)(Errno::NOENT))
    }

    /// Opens the folder; `None` if there is none.
    ///
    /// # Errors
    /// Somebody else could have written there.
    pub fn open(path: &Path) -> Result<Option<PrivateFolder>, FolderError> {
        walk(path, false, LINKS_MAX)
    }

    /// Opens a folder in this one, and makes it if it is missing.
    ///
    /// # Errors
    /// As [`PrivateFolder::create`].
    pub fn subfolder(&self, name: &str) -> Result<PrivateFolder, FolderError> {
        let path = self.path.join(name);
        let fd = enter(&self.fd, Path::new(name), &path, true)?;
        last(fd.ok_or_else(|| system("make", &path)(Errno::NOENT))?, path)
    }

    /// Its path, every folder of which was checked: it can be used as it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file of this folder for reading; `None` if there is none.
    ///
    /// # Errors
    /// It is not a plain file, has several names, or somebody else owns it or could write it.
    pub fn read(&self, name: &Path) -> Result<Option<File>, FolderError> {
        let path = self.path.join(name);
        // A pipe would keep the open waiting without NONBLOCK.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(untrusted(&path, "it is a symbolic link; remove it")),
            Err(error) => return Err(system("open", &path)(error)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(system("look at", &path))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
            return Err(untrusted(&path, "it is not a plain file of one name; remove it"));
        }
        owned((stat.st_uid, stat.st_mode), &path, false)?;
        Ok(Some(fd.into()))
    }

    /// The names of what is in it.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>, FolderError> {
        let listed = std::fs::read_dir(&self.path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let listed =
            listed.map_err(|source| FolderError::System { what: "list", path: self.path.clone(), source })?;
        Ok(listed.into_iter().map(|entry| entry.file_name()).collect())
    }
}

/// Opens each folder of the way below the one before it, so that nothing can be exchanged in between.
fn walk(path: &Path, make: bool, links: usize) -> Result<Option<PrivateFolder>, FolderError> {
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
        ancestor(&fd, &at)?;
        let name = Path::new(name);
        if index + 1 < names.len()
            && let Some(target) = trusted_link(&fd, name, &at)?
        {
            let rest: PathBuf = names[index + 1..].iter().collect();
            let real = normal(&at.join(target)).join(rest);
            return match links.checked_sub(1) {
                Some(links) => walk(&real, make, links),
                None => Err(untrusted(path, "it has too many symbolic links in it")),
            };
        }
        at.push(name);
        match enter(&fd, name, &at, make)? {
            Some(inner) => fd = inner,
            None => return Ok(None),
        }
    }
    last(fd, at).map(Some)
}

/// Where a symbolic link of this name leads; the folder that has it was checked already.
fn trusted_link(folder: &OwnedFd, name: &Path, at: &Path) -> Result<Option<PathBuf>, FolderError> {
    use std::os::unix::ffi::OsStringExt;
    let path = at.join(name);
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(system("look at", &path)(error)),
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
        return Ok(None);
    }
    owned((stat.st_uid, 0), &path, true)?;
    let target = rustix::fs::readlinkat(folder, name, Vec::new()).map_err(system("read the link", &path))?;
    Ok(Some(OsString::from_vec(target.into_bytes()).into()))
}

/// Without `.` and `..`.
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

/// Opens a folder without following a link; `None` if it is missing and not to be made.
fn enter(folder: &OwnedFd, name: &Path, path: &Path, make: bool) -> Result<Option<OwnedFd>, FolderError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Passing through a folder takes less than reading it.
    let through = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => rustix::fs::openat(folder, name, through, Mode::empty()),
        other => other,
    };
    let mut opened = open();
    if make && opened.as_ref().is_err_and(|&error| error == Errno::NOENT) {
        match rustix::fs::mkdirat(folder, name, Mode::RWXU) {
            // Another klatch was quicker.
            Ok(()) | Err(Errno::EXIST) => opened = open(),
            Err(error) => return Err(system("make", path)(error)),
        }
    }
    match opened {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::NOENT) if !make => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            Err(untrusted(path, "it is a symbolic link or not a folder; remove it"))
        }
        Err(error) => Err(system("open", path)(error)),
    }
}

/// Makes sure that nobody else can exchange what is in a folder on the way.
fn ancestor(fd: &OwnedFd, path: &Path) -> Result<(), FolderError> {
    let stat = rustix::fs::fstat(fd).map_err(system("look at", path))?;
    // In a sticky folder only owners rename and remove.
    let sticky = stat.st_mode & Mode::SVTX.bits() != 0 && stat.st_uid == 0;
    // The owner of `/` can replace every program anyway. In a user namespace it is a user without a number.
    let owner = if path == Path::new("/") { 0 } else { stat.st_uid };
    owned((owner, if sticky { 0 } else { stat.st_mode }), path, true)
}

fn last(fd: OwnedFd, path: PathBuf) -> Result<PrivateFolder, FolderError> {
    let stat = rustix::fs::fstat(&fd).map_err(system("look at", &path))?;
    owned((stat.st_uid, stat.st_mode), &path, false)?;
    if stat.st_mode & 0o077 != 0 {
        rustix::fs::fchmod(&fd, Mode::RWXU).map_err(system("make private", &path))?;
    }
    Ok(PrivateFolder { fd, path })
}

/// Whether this user owns it (or root, for what is `shared`), and nobody else can write it.
fn owned((uid, mode): (u32, u32), path: &Path, shared: bool) -> Result<(), FolderError> {
    let me = file_uid();
    if uid != me && !(shared && uid == 0) {
        let why = format!("it belongs to user {uid}, and not to user {me}; remove it");
        return Err(FolderError::Untrusted { path: path.to_owned(), why });
    }
    if mode & 0o022 != 0 {
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
    fn a_folder_is_made_private_with_all_that_is_missing_above_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("one/two");
        assert!(PrivateFolder::open(&path).unwrap().is_none());
        let folder = PrivateFolder::create(&path).unwrap();
        for made in [folder.path(), &home.path().join("one"), folder.subfolder("three").unwrap().path()] {
            assert_eq!(std::fs::metadata(made).unwrap().mode() & 0o7777, 0o700);
        }
    }

    #[test]
    fn a_folder_that_others_can_read_is_closed_to_them() {
        let home = tempfile::tempdir().unwrap();
        set_mode(home.path(), 0o755);
        PrivateFolder::create(home.path()).unwrap();
        assert_eq!(std::fs::metadata(home.path()).unwrap().mode() & 0o7777, 0o700);
    }

    #[test]
    fn folders_that_others_can_write_are_refused_on_the_way_too() {
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
    fn a_symbolic_link_is_no_folder_of_klatch_but_may_lead_to_it() {
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
}
