//! The command-line tools of a JDK, used on a running JVM.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_privileges::Program;

use crate::error::InstrumentError;

/// Longest time for a tool, which prints a recording of 64 MB in much less. A JVM that does not answer keeps its tool waiting.
const TOOL_TIMEOUT: Duration = Duration::from_secs(300);

/// Whether the process is a JVM with a counter file.
pub(crate) fn is_jvm(pid: u32) -> bool {
    klatch_machine::counter_file(pid).is_some()
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

/// The names of a JVM's compiled methods, in `/tmp/perf-PID.map`, where symbolizers expect them. Dropping it removes the file.
pub(crate) struct PerfMap(PathBuf);

impl PerfMap {
    /// Makes the JVM write the file; `None` without Java 17 or a JDK. The JVM needs no special option.
    pub(crate) fn write(pid: u32) -> Option<PerfMap> {
        let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        // An existing file belongs to another program, such as the JVM with -XX:+DumpPerfMapAtExit.
        if !is_jvm(pid) || path.exists() {
            return None;
        }
        let jcmd = tool(pid, "jcmd").ok()?;
        run_tool(&jcmd, &[&pid.to_string(), "Compiler.perfmap"]).ok()?;
        let map = PerfMap(path);
        let text = std::fs::read_to_string(&map.0).ok()?;
        // /tmp is writable for everyone, so the path could have become a link.
        let file = File::options().write(true).truncate(true).custom_flags(libc::O_NOFOLLOW).open(&map.0);
        file.ok()?.write_all(text.lines().filter_map(perf_line).collect::<String>().as_bytes()).ok()?;
        Some(map)
    }
}

/// Converts a line to perf's format: HotSpot writes `0x` before address and size, and whole signatures.
fn perf_line(line: &str) -> Option<String> {
    let mut words = line.splitn(3, ' ');
    let mut number = || Some(words.next()?.trim_start_matches("0x"));
    let (address, size) = (number()?, number()?);
    let name = words.next()?;
    // HotSpot writes the return type before the method and the parameters after it.
    let method = name.split_once('(').and_then(|(before, _)| before.rsplit_once(' '));
    let name = method.map_or(name, |(_, method)| if method.is_empty() { name } else { method });
    Some(format!("{address} {size} {name}\n"))
}

impl Drop for PerfMap {
    fn drop(&mut self) {
        // A file left in /tmp does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perf_lines_have_method_names() {
        let line = "0x00007f01 0x0270 java.lang.Object jdk.internal.misc.Unsafe.get(java.lang.Object, long)";
        assert_eq!(perf_line(line).unwrap(), "00007f01 0270 jdk.internal.misc.Unsafe.get\n");
        assert_eq!(perf_line("0x01 0x02 StubRoutines (1)").unwrap(), "01 02 StubRoutines (1)\n");
        assert_eq!(perf_line("what else"), None);
    }
}
