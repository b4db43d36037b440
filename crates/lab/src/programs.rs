//! The programs that the lab needs.

use std::path::PathBuf;

use crate::error::LabError;

/// Path of `program` on the search path.
///
/// # Errors
/// [`LabError::NoProgram`], which names the Debian `package` with it.
pub fn find_program(program: &'static str, package: &'static str) -> Result<PathBuf, LabError> {
    on_search_path(program).ok_or(LabError::NoProgram { program, package })
}

/// Path of the file of this name on the search path.
pub(crate) fn on_search_path(name: &str) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&search_path).map(|folder| folder.join(name));
    candidates.find(|path| path.is_file())
}
