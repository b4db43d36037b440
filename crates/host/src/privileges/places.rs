//! The places of caches and of state.

use std::path::PathBuf;

use crate::privileges::folder::{FolderError, PrivateFolder};
use crate::privileges::invoker::{file_uid, invoker};

/// Root's caches and state.
const ROOT_FOLDER: &str = "/var/lib/klatch";

/// Opens the cache folder at [`cache_path`], and creates it if it is missing.
///
/// # Errors
/// As [`cache_path`] and [`PrivateFolder::create`].
pub fn cache_folder() -> Result<PrivateFolder, FolderError> {
    PrivateFolder::create(&cache_path()?)
}

/// Path of the cache folder: `$XDG_CACHE_HOME/klatch`; without it `~/.cache/klatch`, and `/var/lib/klatch` for root.
///
/// # Errors
/// No environment variable names a home or another folder.
pub fn cache_path() -> Result<PathBuf, FolderError> {
    path_of("caches", "XDG_CACHE_HOME", ".cache")
}

/// Path of the state that outlives runs: `$XDG_STATE_HOME/klatch`; without it `~/.local/state/klatch`, and `/var/lib/klatch`
/// for root.
///
/// # Errors
/// No environment variable names a home or another folder.
pub fn state_folder() -> Result<PathBuf, FolderError> {
    path_of("state", "XDG_STATE_HOME", ".local/state")
}

fn path_of(what: &'static str, variable: &'static str, in_home: &str) -> Result<PathBuf, FolderError> {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = named(variable) {
        return Ok(folder.join("klatch"));
    }
    if file_uid() == 0 {
        // HOME can be the home of the user who became root.
        return Ok(PathBuf::from(ROOT_FOLDER));
    }
    // Under sudo, HOME can still be root's.
    let home = match invoker() {
        Some(invoker) => invoker.home.clone(),
        None => named("HOME"),
    };
    Ok(home.ok_or(FolderError::NoHome { what, variable })?.join(in_home).join("klatch"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What `scripts/cache-folder.sh` prints with these variables.
    fn script(variables: &[(&str, &str)]) -> PathBuf {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/cache-folder.sh");
        let mut script = Command::new(path);
        script.env_remove("XDG_CACHE_HOME").envs(variables.iter().copied());
        let output = script.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
    }

    #[test]
    fn scripts_and_the_program_have_the_same_cache() {
        let variable = std::env::var("XDG_CACHE_HOME");
        let same: Vec<(&str, &str)> =
            variable.iter().map(|value| ("XDG_CACHE_HOME", value.as_str())).collect();
        assert_eq!(script(&same), cache_path().unwrap());
    }

    #[test]
    fn the_script_uses_the_variable_only_if_it_is_an_absolute_path() {
        assert_eq!(script(&[("XDG_CACHE_HOME", "/a/cache")]), PathBuf::from("/a/cache/klatch"));
        let relative = script(&[("XDG_CACHE_HOME", "cache"), ("HOME", "/home/me")]);
        let expected = if file_uid() == 0 { ROOT_FOLDER } else { "/home/me/.cache/klatch" };
        assert_eq!(relative, PathBuf::from(expected));
    }
}
