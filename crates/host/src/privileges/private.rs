//! Folders and files that only their owner can enter and read, whatever the umask is.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::{Builder, NamedTempFile, TempDir};

/// Prefix of the names of temporary folders.
const PREFIX: &str = "klatch-";
/// Mode of a folder that only its owner can enter.
const FOLDER_MODE: u32 = 0o700;

/// Makes a temporary folder with mode 0700. Dropping it removes it with everything in it.
///
/// # Errors
/// `TMPDIR`, or `/tmp` without it, cannot be written to.
pub fn temporary_folder() -> io::Result<TempDir> {
    temporary_folder_in(&std::env::temp_dir())
}

/// The same in the folder `parent`.
///
/// # Errors
/// The folder cannot be written to.
pub fn temporary_folder_in(parent: &Path) -> io::Result<TempDir> {
    Builder::new().prefix(PREFIX).permissions(Permissions::from_mode(FOLDER_MODE)).tempdir_in(parent)
}

/// Creates an empty file for writing. A file, link or pipe of this name is removed first, and neither written to nor followed.
///
/// # Errors
/// A folder has the name, or the folder cannot be written to.
pub fn create_anew(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// Writes a file with mode 0600, or replaces it. Other processes see the old contents or the new ones, also after a power
/// failure. A symbolic link or pipe of this name is replaced, not followed.
///
/// # Errors
/// The file system refuses, for example because the disk is full. Then an old file stays as it was.
pub fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The mode of such a file is 0600.
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::Mode;

    use super::*;

    /// Run in a process of its own by the test below, because the umask is the whole process's.
    #[test]
    #[ignore = "another test starts it"]
    fn without_a_umask() {
        rustix::process::umask(Mode::empty());
        let mode = |path: &Path| std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777;
        let folder = temporary_folder().unwrap();
        assert_eq!(mode(folder.path()), FOLDER_MODE);
        assert_eq!(mode(temporary_folder_in(folder.path()).unwrap().path()), FOLDER_MODE);
        let written = folder.path().join("written");
        write_private(&written, b"secret").unwrap();
        assert_eq!(mode(&written), 0o600);
    }

    #[test]
    fn no_umask_makes_folders_or_files_of_others() {
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        let output = test
            .args(["--ignored", "--exact", "privileges::private::tests::without_a_umask"])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }

    #[test]
    fn nothing_that_has_the_name_is_followed() {
        let folder = temporary_folder().unwrap();
        let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
        let writers: [fn(&Path) -> io::Result<()>; 2] =
            [|path| write_private(path, b"text"), |path| create_anew(path)?.write_all(b"text")];
        for write in writers {
            symlink(&target, &link).unwrap();
            write(&link).unwrap();
            assert!(!target.exists() && std::fs::symlink_metadata(&link).unwrap().is_file());
            assert_eq!(std::fs::read(&link).unwrap(), b"text");
            std::fs::remove_file(&link).unwrap();
        }
    }
}
