//! Records on disk: whole or not at all.

use std::io::Write;
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

/// Writes the record as pretty-printed JSON to `path`. A reader sees the whole file or none, also after a crash.
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
    write_whole(text.as_bytes(), path).map_err(|source| SaveError { path: path.to_owned(), source })
}

fn write_whole(bytes: &[u8], path: &Path) -> std::io::Result<()> {
    // The new file replaces what has its name, which could be a device or a pipe. `/dev/stdout` is a link, also if
    // standard output is a regular file.
    if let Ok(there) = std::fs::symlink_metadata(path)
        && !there.is_file()
    {
        let kind = if there.is_symlink() { "a symbolic link" } else { "no regular file" };
        return Err(std::io::Error::other(format!("it exists and is {kind}")));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    // Others may read a result: a temporary file is private by default.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(readable)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
