//! Programs that run with root's rights because nothing else can do their work, such as the loader of a scheduler.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::privileges::folder::FolderError;
use crate::privileges::invoker::as_root;

/// Bits of a mode by which others than the owner can write.
const OTHERS_WRITE: u32 = 0o022;
/// The bit of a folder in which only the owner of an entry can replace it.
const STICKY: u32 = 0o1000;

/// The program at `path` without links. If it would run as root, only root can change it: its file, and every folder on its path.
///
/// # Errors
/// There is no such file, or another user could replace it.
pub fn program_for_root(path: &Path) -> Result<PathBuf, FolderError> {
    let real = path.canonicalize().map_err(system("find", path))?;
    if geteuid().is_root() {
        as_root(|| real.ancestors().try_for_each(check))?;
    }
    Ok(real)
}

fn check(path: &Path) -> Result<(), FolderError> {
    let facts = path.metadata().map_err(system("check", path))?;
    let is_sticky = facts.is_dir() && facts.mode() & STICKY != 0;
    let untrusted = |how: String| FolderError::Untrusted {
        path: path.to_owned(),
        why: format!(
            "{how}, and the program would run as root; copy it to a folder of root's, such as /usr/local/bin"
        ),
    };
    // The owner of `/` can replace every program anyway.
    if facts.uid() != 0 && path != Path::new("/") {
        return Err(untrusted(format!("it belongs to user {}", facts.uid())));
    }
    match facts.mode() & OTHERS_WRITE != 0 && !is_sticky {
        true => Err(untrusted(format!("others can write it (mode {:o})", facts.mode() & 0o7777))),
        false => Ok(()),
    }
}

fn system<'a>(what: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> FolderError + 'a {
    move |source| FolderError::System { what, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    #[test]
    fn a_program_that_another_user_could_replace_is_refused_to_root() {
        if !geteuid().is_root() {
            let own = std::env::current_exe().unwrap();
            assert_eq!(program_for_root(&own).unwrap(), own.canonicalize().unwrap());
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("scx");
        std::fs::write(&program, "").unwrap();
        let refusal = || program_for_root(&program).unwrap_err().to_string();
        assert_eq!(program_for_root(&program).unwrap(), program.canonicalize().unwrap());
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o775)).unwrap();
        assert!(refusal().contains("others can write it (mode 775)"), "{}", refusal());
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        chown(folder.path(), Some(1234), None).unwrap();
        assert!(refusal().contains("it belongs to user 1234, and the program would run as root"));
        std::fs::remove_file(&program).unwrap();
        assert!(refusal().starts_with("cannot find "), "{}", refusal());
    }
}
