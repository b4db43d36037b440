//! The programs that the lab needs.

use std::path::{Path, PathBuf};

use crate::architecture::Architecture;
use crate::error::LabError;

/// Path of `program` on the search path.
///
/// # Errors
/// [`LabError::NoProgram`], which names the Debian `package` with it.
pub fn find_program(program: &'static str, package: &'static str) -> Result<PathBuf, LabError> {
    on_search_path(program).ok_or(LabError::NoProgram { program, package })
}

/// Checks that QEMU is installed, which should happen before a long download.
///
/// # Errors
/// [`LabError::NoProgram`].
pub(crate) fn require_qemu(architecture: Architecture) -> Result<(), LabError> {
    find_program(architecture.qemu(), architecture.qemu_package()).map(drop)
}

/// Checks that machines of an architecture can be booted here: QEMU is installed, and there is a build of klatch for it.
///
/// # Errors
/// [`LabError::NoProgram`] or [`LabError::NoBuild`].
pub fn require_programs(architecture: Architecture) -> Result<(), LabError> {
    require_qemu(architecture)?;
    klatch_for(architecture).map(drop)
}

/// The build of klatch for an architecture: this program; for another one `klatch-arm64` beside this program or on the search path, or what
/// `scripts/cross.sh arm64` made in the checkout where this program was built.
///
/// # Errors
/// [`LabError::NoBuild`].
pub(crate) fn klatch_for(architecture: Architecture) -> Result<PathBuf, LabError> {
    let own = Path::new("/proc/self/exe");
    let own = std::fs::read_link(own).map_err(|source| LabError::file("resolve", own, source))?;
    if architecture == Architecture::default() {
        return Ok(own);
    }
    let name = format!("klatch-{architecture}");
    let folder = own.parent().unwrap_or(Path::new("/"));
    let built = folder.parent().unwrap_or(folder).join(format!("cross/{architecture}/klatch"));
    let beside = [folder.join(&name), built].into_iter().find(|path| path.is_file());
    beside.or_else(|| on_search_path(&name)).ok_or(LabError::NoBuild { architecture })
}

/// Path of the file of this name on the search path.
fn on_search_path(name: &str) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&search_path).map(|folder| folder.join(name));
    candidates.find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_this_architecture_boots_this_program() {
        let own = Architecture::default();
        assert_eq!(klatch_for(own).unwrap(), std::env::current_exe().unwrap());
        // There is none beside a program of tests.
        for other in Architecture::ALL.into_iter().filter(|one| *one != own) {
            match klatch_for(other) {
                Ok(found) => assert!(found.ends_with(format!("klatch-{other}")), "{found:?}"),
                Err(error) => assert!(error.to_string().contains(&format!("scripts/cross.sh {other}"))),
            }
        }
    }
}
