//! Files that a process of a known user wrote where other users can write too, such as in `/tmp`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};

/// Opens `path` for reading if it is a plain file of one name that belongs to user `owner`. Neither a link nor a pipe of this
/// name is followed or waited for.
///
/// # Errors
/// There is no such file, or it is something else ([`io::ErrorKind::PermissionDenied`]).
pub fn open_plain(path: &Path, owner: u32) -> io::Result<File> {
    open_at(CWD, path, path, owner)
}

/// The same for the file `name` in a folder that belongs to that user, and that only that user can write. The last folder of its
/// path is no link.
///
/// # Errors
/// As [`open_plain`], also for the folder.
pub fn open_plain_in(folder: &Path, name: &str, owner: u32) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, folder, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&opened)?;
    if stat.st_uid != owner || stat.st_mode & 0o022 != 0 {
        return Err(refused(folder, "no folder that only user", owner, "can write"));
    }
    open_at(opened.as_fd(), Path::new(name), &folder.join(name), owner)
}

fn open_at(folder: BorrowedFd<'_>, name: &Path, path: &Path, owner: u32) -> io::Result<File> {
    // Without NONBLOCK, opening a pipe would block.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let is_plain = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1;
    match is_plain && stat.st_uid == owner {
        true => Ok(file.into()),
        false => Err(refused(path, "no plain file of one name that user", owner, "owns")),
    }
}

fn refused(path: &Path, expected: &str, owner: u32, verb: &str) -> io::Error {
    let text = format!("{} is {expected} {owner} {verb}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::privileges::invoker::file_uid;

    #[test]
    fn only_plain_files_of_one_name_and_of_the_owner_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let me = file_uid();
        let opens = |name: &str, owner| {
            let is_open = open_plain(&path(name), owner).is_ok();
            assert_eq!(open_plain_in(folder.path(), name, owner).is_ok(), is_open);
            is_open
        };
        std::fs::write(path("file"), "text").unwrap();
        assert!(opens("file", me) && !opens("file", me + 1) && !opens("none", me) && !opens(".", me));
        symlink("file", path("link")).unwrap();
        rustix::fs::mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert!(!opens("link", me) && !opens("pipe", me));
        std::fs::hard_link(path("file"), path("second")).unwrap();
        assert!(!opens("file", me));
    }

    #[test]
    fn a_folder_that_others_can_write_or_name_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let [folder, link] = ["folder", "link"].map(|name| parent.path().join(name));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("file"), "text").unwrap();
        symlink("folder", &link).unwrap();
        let opens = |folder: &Path| open_plain_in(folder, "file", file_uid()).is_ok();
        assert!(opens(&folder) && !opens(&link));
        for (mode, opened) in [(0o777, false), (0o770, false), (0o755, true)] {
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(opens(&folder), opened, "{mode:o}");
        }
    }
}
