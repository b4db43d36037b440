//! The programs that the lab needs.

use std::path::PathBuf;

use crate::error::LabError;

pub(crate) const QEMU: &str = "qemu-system-x86_64";

/// Path of `program` on the search path.
///
/// # Errors
/// [`LabError::NoProgram`], which names the Debian `package` with it.
pub fn find_program(program: &'static str, package: &'static str) -> Result<PathBuf, LabError> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&search_path).map(|folder| folder.join(program));
    candidates.find(|path| path.is_file()).ok_or(LabError::NoProgram { program, package })
}

/// Checks that QEMU is installed, which should happen before a long download.
///
/// # Errors
/// [`LabError::NoProgram`].
pub fn require_qemu() -> Result<(), LabError> {
    find_program(QEMU, "qemu-system-x86").map(|_| ())
}
