//! The files of the repository, for the tests that check its own rules.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository is two folders up")
}

/// All files below `folder` whose name ends in one of `extensions`, sorted. Folders that hold built files or other people's code
/// are left out.
///
/// # Panics
/// A folder or an entry cannot be read.
pub(crate) fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    const SKIPPED: [&str; 5] = ["target", "vendor", "node_modules", ".git", "book"];
    let mut paths = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry of a folder can be read").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !SKIPPED.contains(&name) {
                    folders.push(path);
                }
            } else if extensions.iter().any(|extension| name.ends_with(&format!(".{extension}"))) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths
}

/// The text of a file.
///
/// # Panics
/// The file cannot be read as UTF-8.
pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
