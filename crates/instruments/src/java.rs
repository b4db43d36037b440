//! What the tools of a JDK can ask a running JVM.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use klatch_privileges::confine;

use crate::instrument::InstrumentError;

/// Whether the process is a JVM that can be asked.
pub(crate) fn is_jvm(pid: u32) -> bool {
    klatch_machine::counter_file(pid).is_some()
}

/// The tool `name` of the JDK that runs the process, or of another: what they say to a JVM is the same in all versions.
///
/// # Errors
/// There is a JVM only, without tools.
pub(crate) fn tool(pid: u32, name: &str) -> Result<PathBuf, InstrumentError> {
    let own = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let beside = own.iter().filter_map(|java| java.parent()).map(Path::to_owned);
    let named = std::env::var_os("JAVA_HOME").map(|home| PathBuf::from(home).join("bin"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let usual = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let folders = beside
        .chain(named)
        .chain(std::env::split_paths(&paths))
        .chain(usual.map(|home| home.path().join("bin")));
    folders.map(|folder| folder.join(name)).find(|tool| tool.is_file()).ok_or_else(|| {
        InstrumentError(format!(
            "there is no {name} beside the Java of process {pid} nor in JAVA_HOME or PATH; install a JDK \
             (apt install openjdk-17-jdk-headless)"
        ))
    })
}

/// Runs a tool of a JDK to its end, and gives what it printed.
///
/// # Errors
/// It cannot be started, or it failed: with what it said.
pub(crate) fn say(tool: &Path, arguments: &[&str]) -> Result<Vec<u8>, InstrumentError> {
    let failed = |why: String| InstrumentError(format!("{} {}: {why}", tool.display(), arguments.join(" ")));
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::null());
    // A JVM answers to its own user.
    confine(&mut command);
    let done = command.output().map_err(|error| failed(error.to_string()))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = String::from_utf8_lossy(if done.stderr.is_empty() { &done.stdout } else { &done.stderr });
    Err(failed(said.lines().last().unwrap_or("it failed").to_owned()))
}

/// The names of a JVM's compiled methods, where tools look for them. The file is removed with this.
pub(crate) struct PerfMap(PathBuf);

impl PerfMap {
    /// Has the process write it; `None` if it is not Java 17 or later with a JDK. It needs no flag beforehand.
    pub(crate) fn write(pid: u32) -> Option<PerfMap> {
        let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        // One that is there already is somebody else's wish.
        if !is_jvm(pid) || path.exists() {
            return None;
        }
        let jcmd = tool(pid, "jcmd").ok()?;
        say(&jcmd, &[&pid.to_string(), "Compiler.perfmap"]).ok()?;
        let map = PerfMap(path);
        let text = std::fs::read_to_string(&map.0).ok()?;
        // Anybody can put a link there.
        let file = File::options().write(true).truncate(true).custom_flags(libc::O_NOFOLLOW).open(&map.0);
        file.ok()?.write_all(text.lines().filter_map(plain).collect::<String>().as_bytes()).ok()?;
        Some(map)
    }
}

/// A line as perf's tools want it: HotSpot writes `0x` before address and size, and whole signatures.
fn plain(line: &str) -> Option<String> {
    let mut words = line.splitn(3, ' ');
    let mut number = || Some(words.next()?.trim_start_matches("0x"));
    let (address, size) = (number()?, number()?);
    let name = words.next()?;
    // A method has its type before it and its parameters behind it.
    let method = name.split_once('(').and_then(|(before, _)| before.rsplit_once(' '));
    let name = method.map_or(name, |(_, method)| if method.is_empty() { name } else { method });
    Some(format!("{address} {size} {name}\n"))
}

impl Drop for PerfMap {
    fn drop(&mut self) {
        // A file that stays in /tmp is no reason to fail.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_methods() {
        let said = "0x00007f01 0x0270 java.lang.Object jdk.internal.misc.Unsafe.get(java.lang.Object, long)";
        assert_eq!(plain(said).unwrap(), "00007f01 0270 jdk.internal.misc.Unsafe.get\n");
        assert_eq!(plain("0x01 0x02 StubRoutines (1)").unwrap(), "01 02 StubRoutines (1)\n");
        assert_eq!(plain("what else"), None);
    }
}
