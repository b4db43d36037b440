//! Builds a small Java runtime for the emulated machine with the jlink of an installed JDK.

use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_host::privileges::{
    Program, cache_folder, check_manifest, sha256_hex, temporary_folder_in, write_manifest,
};

use crate::error::LabError;
use crate::preparing::Preparing;

/// Modules of the runtime: `klatch.jar` needs `java.base`, and `klatch-web.jar` with its servers and a brokerage on H2 the others.
const MODULES: &str = "java.base,java.desktop,java.instrument,java.management,java.naming,java.security.jgss,java.sql,\
                       jdk.httpserver,jdk.net,jdk.unsupported,jdk.zipfs";

/// What of them is left out: the libraries of windows and fonts, which need others that are not on a server.
const LEFT_OUT: &str = "glob:/java.desktop/lib/**,glob:/java.desktop/conf/**";

/// Longest time for a build, which takes seconds.
const BUILD_TIMEOUT: Duration = Duration::from_secs(600);

/// Folder of a cached runtime, built from the JDK of this `java` program. `progress` receives a line before a build.
///
/// # Errors
/// The JDK has no jlink, jlink fails, or the cached runtime was modified.
pub(crate) fn java_runtime(java: &Path, progress: impl Fn(Preparing<'_>)) -> Result<PathBuf, LabError> {
    let failed = |cause: String| LabError::Jlink { java: java.to_owned(), cause };
    let real = java.canonicalize().map_err(|error| failed(error.to_string()))?;
    let home = real.ancestors().nth(2).unwrap_or(Path::new("/"));
    let jlink = home.join("bin/jlink");
    if !jlink.exists() {
        return Err(LabError::NoJlink { java: java.to_owned() });
    }
    let cache = cache_folder()?.path().to_owned();
    // The file names vendor, version and build.
    let mut release = std::fs::read(home.join("release")).map_err(|error| failed(error.to_string()))?;
    release.extend_from_slice(MODULES.as_bytes());
    release.extend_from_slice(LEFT_OUT.as_bytes());
    let runtime = cache.join(format!("java-{}", &sha256_hex(&release)[..16]));
    if runtime.exists() {
        return checked(runtime);
    }
    let step = format!("building a small Java runtime from {} once, in {}", home.display(), cache.display());
    progress(Preparing::Work(&step));
    // Built in a temporary folder and renamed, so that the cache never holds a partial runtime.
    let temporary = temporary_folder_in(&cache).map_err(|error| failed(error.to_string()))?;
    let made = temporary.path().join("java");
    let mut command = Program::new(&jlink);
    command.args(["--add-modules", MODULES, "--exclude-files", LEFT_OUT, "--no-header-files"]);
    command.args(["--no-man-pages", "--output"]).arg(&made);
    let output = command.output_within(BUILD_TIMEOUT).map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].concat();
        return Err(failed(String::from_utf8_lossy(&text).trim().to_owned()));
    }
    write_manifest(&made)?;
    match std::fs::rename(&made, &runtime) {
        // Another klatch process was faster.
        Err(_) if runtime.exists() => checked(runtime),
        Err(error) => Err(failed(error.to_string())),
        Ok(()) => Ok(runtime),
    }
}

/// Refuses a modified runtime, because the machine runs it as root.
fn checked(runtime: PathBuf) -> Result<PathBuf, LabError> {
    match check_manifest(&runtime)? {
        true => Ok(runtime),
        false => Err(LabError::NoManifest { path: runtime }),
    }
}
