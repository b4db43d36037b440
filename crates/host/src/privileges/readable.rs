//! A cache that every user can read: for servers that root starts as another user, who cannot enter root's own caches.

use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::privileges::folder::FolderError;

/// Its place without `XDG_CACHE_HOME`.
const FOLDER: &str = "/var/cache";
/// Its name, beside that of the private cache.
const NAME: &str = "klatch-readable";
/// Everybody can list it, and its owner can change it.
const MODE: u32 = 0o755;

/// Opens `name` in root's readable cache, `$XDG_CACHE_HOME/klatch-readable`, or `/var/cache/klatch-readable` without that variable, and
/// creates it if it is missing. It belongs to root, every folder on the path can be changed by root alone, and every user can enter it.
///
/// # Errors
/// A folder on the path belongs to another user, can be written or not be entered by other users, or cannot be created.
pub fn readable_cache_folder(name: &str) -> Result<PathBuf, FolderError> {
    let variable = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = variable.unwrap_or_else(|| FOLDER.into());
    readable_folder(&base, &[NAME, name])
}

/// Every folder on the path is checked before the next one is, and only root can change it after that.
fn readable_folder(base: &Path, names: &[&str]) -> Result<PathBuf, FolderError> {
    if !base.exists() {
        make(base)?;
    }
    let base = base.canonicalize().map_err(system("open", base))?;
    let mut ancestors: Vec<&Path> = base.ancestors().collect();
    ancestors.reverse();
    ancestors.into_iter().try_for_each(check)?;
    let mut path = base.clone();
    for name in names {
        path.push(name);
        make(&path)?;
        check(&path)?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(MODE)).map_err(system("open", &path))?;
    }
    Ok(path)
}

/// Creates a folder that may exist, with its parents.
fn make(path: &Path) -> Result<(), FolderError> {
    match std::fs::DirBuilder::new().recursive(true).mode(MODE).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(system("create", path)(error)),
        _ => Ok(()),
    }
}

fn check(path: &Path) -> Result<(), FolderError> {
    let meta = path.symlink_metadata().map_err(system("check", path))?;
    let untrusted = |why: String| Err(FolderError::Untrusted { path: path.to_owned(), why });
    let sticky = meta.mode() & 0o1000 != 0;
    if !meta.is_dir() {
        return untrusted("it is no folder; remove it".to_owned());
    }
    // The owner of `/` can replace every program anyway. In a user namespace that user is not mapped.
    if meta.uid() != 0 && path != Path::new("/") {
        return untrusted(format!("it belongs to user {}, and not to root; remove it", meta.uid()));
    }
    if meta.mode() & 0o022 != 0 && !sticky {
        return untrusted(format!(
            "others can write it (mode {:o}); look at it, then `chmod go-w` it",
            meta.mode() & 0o7777
        ));
    }
    if meta.mode() & 0o001 == 0 {
        return untrusted(
            "the user as whom the server is to run cannot enter it; set XDG_CACHE_HOME to another folder, or unset it"
                .to_owned(),
        );
    }
    Ok(())
}

fn system(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> FolderError {
    move |source| FolderError::System { what, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privileges::programs_run_as_root;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn everybody_can_enter_it_and_only_root_change_it() {
        let base = tempfile::tempdir().unwrap();
        let make = || readable_folder(base.path(), &["cache", "web"]).map_err(|error| error.to_string());
        set_mode(base.path(), 0o700);
        let error = make().unwrap_err();
        if !programs_run_as_root() {
            assert!(error.contains("not to root") || error.contains("cannot enter it"), "{error}");
            return;
        }
        assert!(error.contains("cannot enter it; set XDG_CACHE_HOME"), "{error}");
        set_mode(base.path(), 0o755);
        let made = make().unwrap();
        for path in [made.parent().unwrap(), &made] {
            assert_eq!(path.metadata().unwrap().mode() & 0o7777, MODE);
        }
        set_mode(made.parent().unwrap(), 0o777);
        assert!(make().unwrap_err().contains("others can write it"));
        std::fs::remove_dir_all(made.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/etc", made.parent().unwrap()).unwrap();
        assert!(make().unwrap_err().contains("it is no folder"));
    }
}
