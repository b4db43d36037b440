//! A small Java runtime for the emulated machine, made by jlink of a JDK that is here.

use std::path::{Path, PathBuf};
use std::process::Command;

use klatch_privileges::{cache_folder, check_manifest, confine, sha256_hex, write_manifest};

use crate::error::LabError;

/// All that `klatch.jar` needs.
const MODULES: &str = "java.base";

/// The folder of a runtime made of the JDK that this `java` program belongs to; made once and kept. `tell` hears what takes
/// time.
///
/// # Errors
/// There is no jlink beside it, or it fails.
pub fn java_runtime(java: &Path, tell: impl Fn(&str)) -> Result<PathBuf, LabError> {
    let failed = |why: String| LabError::Jlink { java: java.to_owned(), why };
    let real = java.canonicalize().map_err(|error| failed(error.to_string()))?;
    let home = real.ancestors().nth(2).unwrap_or(Path::new("/"));
    let jlink = home.join("bin/jlink");
    if !jlink.exists() {
        return Err(LabError::NoJlink { java: java.to_owned() });
    }
    let cache = cache_folder()?.path().to_owned();
    // The file tells vendor, version and build.
    let release = std::fs::read(home.join("release")).map_err(|error| failed(error.to_string()))?;
    let runtime = cache.join(format!("java-{}", &sha256_hex(&release)[..16]));
    if runtime.exists() {
        return checked(runtime);
    }
    tell(&format!(
        "making a small Java runtime of {}, once; it is kept in {}",
        home.display(),
        cache.display()
    ));
    // Whole or not there.
    let aside = tempfile::tempdir_in(&cache).map_err(|error| failed(error.to_string()))?;
    let made = aside.path().join("java");
    let mut command = Command::new(&jlink);
    command.args(["--add-modules", MODULES, "--no-header-files", "--no-man-pages", "--output"]).arg(&made);
    confine(&mut command);
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        return Err(failed(String::from_utf8_lossy(&said).trim().to_owned()));
    }
    write_manifest(&made)?;
    match std::fs::rename(&made, &runtime) {
        // Another klatch was quicker.
        Err(_) if runtime.exists() => checked(runtime),
        Err(error) => Err(failed(error.to_string())),
        Ok(()) => Ok(runtime),
    }
}

/// The machine runs it as root, so it must be as jlink made it.
fn checked(runtime: PathBuf) -> Result<PathBuf, LabError> {
    match check_manifest(&runtime)? {
        true => Ok(runtime),
        false => Err(LabError::NoManifest { path: runtime }),
    }
}
