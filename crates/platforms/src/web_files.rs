//! The files of workload `web` for servers that read them from a folder. They are written once and kept.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use klatch_exchange::web::{Content, FILES_PER_DIRECTORY, FileId};
use klatch_host::privileges::{cache_folder, programs_run_as_root, readable_cache_folder};
use klatch_record::CONTENT_SEED;

use crate::sources::SourceError;

/// Mode of folders and files: each server can read them, in a cache that decides who can enter it.
const FOLDER_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o644;

/// The folder that contains `file_set` with at least so many directories. Directories that are missing are written. Root's are readable
/// for every user, because servers that root starts run as another one.
///
/// # Errors
/// The cache folder is not trusted, or a file cannot be written.
pub(crate) fn web_files(directories: u32) -> Result<PathBuf, SourceError> {
    let name = format!("seed-{CONTENT_SEED}");
    let root = match programs_run_as_root() {
        true => readable_cache_folder("web")?.join(name),
        false => cache_folder()?.subfolder("web")?.subfolder(&name)?.path().to_owned(),
    };
    write_site(&root, directories, &AtomicBool::new(false))
        .map_err(|source| SourceError::Write { path: root.clone(), source })?;
    Ok(root)
}

/// Writes the files of the site into a folder that a server can have for its root: `file_set` with so many directories, of which those that are there
/// stay. Ends early when `interrupted` is set, with whole directories only. Returns how many are there.
///
/// # Errors
/// A folder or file cannot be written.
pub fn write_site(root: &Path, directories: u32, interrupted: &AtomicBool) -> std::io::Result<u32> {
    let file_set = root.join("file_set");
    for folder in [root, &file_set] {
        std::fs::create_dir_all(folder)?;
        set_mode(folder, FOLDER_MODE)?;
    }
    let mut content = None;
    for directory in 0..directories {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(directory);
        }
        let folder = file_set.join(format!("dir{directory:05}"));
        if !folder.exists() {
            let content = content.get_or_insert_with(|| Content::new(CONTENT_SEED));
            write_directory(content, directory as usize, &folder)?;
        }
    }
    Ok(directories)
}

/// Writes the files of a directory beside it and renames them, so that a directory is complete or absent.
fn write_directory(content: &Content, directory: usize, folder: &Path) -> std::io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.with_extension(format!("{}-{count}", std::process::id()));
    std::fs::create_dir_all(&unfinished)?;
    for file in 0..FILES_PER_DIRECTORY {
        let Some(file) = FileId::at(directory * FILES_PER_DIRECTORY + file) else { continue };
        let mut bytes = vec![0; file.size_bytes()];
        content.file(file).fill(0, &mut bytes);
        let path = unfinished.join(format!("class{}_{}", file.class(), file.number()));
        std::fs::write(&path, bytes)?;
        set_mode(&path, FILE_MODE)?;
    }
    set_mode(&unfinished, FOLDER_MODE)?;
    match std::fs::rename(&unfinished, folder) {
        // Another Klatch was faster; the files are the same.
        Err(_) if folder.exists() => std::fs::remove_dir_all(&unfinished),
        renamed => renamed,
    }
}

/// Sets a mode that does not depend on the umask.
fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn each_directory_is_written_once_and_complete() {
        let root = tempfile::tempdir().unwrap();
        write_site(root.path(), 1, &AtomicBool::new(false)).unwrap();
        let first = root.path().join("file_set/dir00000");
        let bytes: u64 =
            std::fs::read_dir(&first).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert_eq!(bytes, 5_119_484);
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o7777;
        assert_eq!((mode(&first), mode(&first.join("class0_0"))), (FOLDER_MODE, FILE_MODE));
        std::fs::write(first.join("class0_0"), "mine").unwrap();
        write_site(root.path(), 2, &AtomicBool::new(false)).unwrap();
        assert_eq!(std::fs::read(first.join("class0_0")).unwrap(), b"mine", "it is not written again");
        let file = FileId::parse(b"/file_set/dir00001/class1_3").unwrap();
        let written = std::fs::read(root.path().join("file_set/dir00001/class1_3")).unwrap();
        assert_eq!(Content::new(CONTENT_SEED).file(file).verify(0, &written), Ok(()));
        assert_eq!(
            std::fs::read_dir(root.path().join("file_set")).unwrap().count(),
            2,
            "nothing unfinished stays"
        );
    }
}
