//! The command-line tools of a JDK, used on a running JVM.

use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_host::privileges::Program;

use crate::error::InstrumentError;

/// Longest time for a tool, which prints a recording of 64 MB in much less. A JVM that does not answer keeps its tool waiting.
const TOOL_TIMEOUT: Duration = Duration::from_secs(300);

/// Whether the process is a JVM with a counter file.
pub(crate) fn is_jvm(pid: u32) -> bool {
    klatch_host::machine::counter_file(pid).is_some()
}

/// Path of the tool `name`, from the JDK that runs the process or else from another one.
///
/// The tools work across versions, because the protocol to the JVM has not changed.
///
/// # Errors
/// No JDK has the tool; a JRE has none.
pub(crate) fn tool(pid: u32, name: &str) -> Result<PathBuf, InstrumentError> {
    let own = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let own_folder = own.iter().filter_map(|java| java.parent()).map(Path::to_owned);
    let java_home = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let folders = own_folder
        .chain(java_home)
        .chain(std::env::split_paths(&paths))
        .chain(installed.map(|home| home.path().join("bin")));
    folders.map(|folder| folder.join(name)).find(|tool| tool.is_file()).ok_or_else(|| {
        InstrumentError(format!(
            "there is no {name} beside the Java of process {pid} nor in JAVA_HOME or PATH; install a JDK \
             (apt install openjdk-17-jdk-headless)"
        ))
    })
}

/// Runs a tool of a JDK and returns its output.
///
/// # Errors
/// The tool cannot be started, does not end, or failed; the error ends with its last line of output.
pub(crate) fn run_tool(tool: &Path, arguments: &[&str]) -> Result<Vec<u8>, InstrumentError> {
    let failed = |why: String| InstrumentError(format!("{} {}: {why}", tool.display(), arguments.join(" ")));
    // A JVM only accepts requests of its own user.
    let output = Program::new(tool).args(arguments).output_within(TOOL_TIMEOUT);
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text =
        String::from_utf8_lossy(if output.stderr.is_empty() { &output.stdout } else { &output.stderr });
    Err(failed(text.lines().last().unwrap_or("it failed").to_owned()))
}
