//! Records on disk: whole or not at all.

use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::Record;

/// A result that could not be written.
#[derive(Debug, Error)]
#[error("cannot write {path}: {source}", path = path.display())]
pub struct SaveError {
    path: PathBuf,
    source: std::io::Error,
}

/// Writes the record as pretty-printed JSON to `path`. A reader sees the whole file or none, also after a crash, and once this
/// returns, the file outlasts a power failure.
///
/// # Errors
/// The folder cannot be written to, or the disk is full.
pub fn save(record: &Record, path: &Path) -> Result<(), SaveError> {
    save_json(record, path)
}

/// The same with anything that is plain JSON.
///
/// # Errors
/// The folder cannot be written to, or the disk is full.
pub fn save_json(what: &impl serde::Serialize, path: &Path) -> Result<(), SaveError> {
    save_text(&(serde_json::to_string_pretty(what).expect("a result is plain JSON") + "\n"), path)
}

/// The same with any text.
///
/// # Errors
/// The folder cannot be written to, the disk is full, or `path` is there and no regular file.
pub fn save_text(text: &str, path: &Path) -> Result<(), SaveError> {
    save_bytes(text.as_bytes(), path)
}

/// The same with any bytes.
///
/// # Errors
/// As those of [`save_text`].
pub fn save_bytes(bytes: &[u8], path: &Path) -> Result<(), SaveError> {
    write_whole(bytes, path).map_err(|source| SaveError { path: path.to_owned(), source })
}

/// Checks that [`save`] can write to `path`, before the work whose result will be written there.
///
/// # Errors
/// As those of [`save_text`].
pub fn check_can_save(path: &Path) -> Result<(), SaveError> {
    let check = || {
        check_replaceable(path)?;
        temporary(parent(path)).map(drop)
    };
    check().map_err(|source| SaveError { path: path.to_owned(), source })
}

fn write_whole(bytes: &[u8], path: &Path) -> std::io::Result<()> {
    check_replaceable(path)?;
    let folder = parent(path);
    let mut file = temporary(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    // Others may read a result: a temporary file is private by default.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(readable)?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// A temporary file in the folder. Its name, which an error would have, says nothing to users.
fn temporary(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder).map_err(|error| {
        let cause = error.get_ref().and_then(|named| named.source()?.downcast_ref::<Error>());
        cause.and_then(Error::raw_os_error).map_or(error, Error::from_raw_os_error)
    })
}

fn check_replaceable(path: &Path) -> std::io::Result<()> {
    // The new file replaces what has its name, which could be a device or a pipe. `/dev/stdout` is a link, also if
    // standard output is a regular file.
    if let Ok(there) = std::fs::symlink_metadata(path)
        && !there.is_file()
    {
        let kind = if there.is_symlink() { "a symbolic link" } else { "no regular file" };
        return Err(Error::other(format!("it exists and is {kind}")));
    }
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a folder and those above it that are missing. The new ones outlast a power failure.
///
/// # Errors
/// The file system refuses, or something else has one of the names.
pub fn create_folder(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = parent(path);
    create_folder(above)?;
    match std::fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !path.is_dir() => Err(error),
        _ => sync_folder(above),
    }
}

/// Makes the names in a folder outlast a power failure: new files, links and folders, and those that were renamed.
///
/// # Errors
/// The disk fails. A file system that cannot do it for folders, and a folder that may be written but not read, are no errors.
pub fn sync_folder(folder: &Path) -> std::io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::PermissionDenied) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use klatch_testing::{Need, needs, system_calls};

    use super::*;

    /// Run under strace by the test below.
    #[test]
    #[ignore = "another test starts it"]
    fn saves_in_new_folders() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("study/block");
        create_folder(&folder).unwrap();
        save_text("text", &folder.join("trial.json")).unwrap();
    }

    #[test]
    fn a_saved_file_and_its_folders_outlast_a_power_failure() {
        needs!(Need::Program("strace", "strace"));
        let traced = "mkdir,mkdirat,fsync,rename,renameat,renameat2";
        let calls = system_calls("save::tests::saves_in_new_folders", traced);
        let home = calls[0].split('"').nth(1).unwrap();
        let short = |call: &String| {
            let name = ["mkdir", "fsync", "rename"].into_iter().find(|name| call.contains(name)).unwrap();
            let path = call.rsplit(home).next().unwrap().split(['"', '>']).next().unwrap();
            // The rest of the name of a temporary file is random.
            format!("{name} {}", path.split_inclusive(".tmp").next().unwrap_or_default())
        };
        assert_eq!(
            calls.iter().map(short).collect::<Vec<_>>(),
            [
                "mkdir ",
                "mkdir /study",
                "fsync ",
                "mkdir /study/block",
                "fsync /study",
                "fsync /study/block/.tmp",
                "rename /study/block/trial.json",
                "fsync /study/block",
            ]
        );
    }

    #[test]
    fn a_folder_is_not_made_of_a_file() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        for wrong in ["file", "file/below"] {
            create_folder(&home.path().join(wrong)).unwrap_err();
        }
        create_folder(home.path()).unwrap();
    }
}
