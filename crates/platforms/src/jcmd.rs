//! Asks a running virtual machine that keeps no counters, by `jcmd` of the JDK that runs it.

use std::collections::BTreeMap;
use std::time::Duration;

use klatch_host::machine::hotspot_process;
use klatch_host::privileges::Program;
use klatch_record::VmInForce;

/// Longest time for the tool, which starts a virtual machine of its own.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The time that the virtual machine has to let the tool attach; by default it is twice as long, and one that lets no tool attach holds
/// up every start.
const ATTACH: &str = "-J-Dsun.tools.attach.attachTimeout=5000";
/// All of them in one call: a line each.
const COMMANDS: &str = "VM.version\nVM.command_line\nVM.flags";

/// What the virtual machine in process `pid`, or in one of its descendants, says of itself. `None` without HotSpot, without a JDK, or if the virtual
/// machine lets no tool attach.
pub(crate) fn ask(pid: u32) -> Option<VmInForce> {
    let pid = hotspot_process(pid)?;
    let java = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let bin = java.parent()?;
    let output = Program::new(bin.join("jcmd"))
        .args([ATTACH, &pid.to_string(), COMMANDS])
        .output_within(TIMEOUT)
        .ok()?;
    let home = bin.parent().map(|home| home.display().to_string());
    output.status.success().then(|| VmInForce { home, ..parse(&String::from_utf8_lossy(&output.stdout)) })
}

/// The values of all flags of the virtual machine in process `pid`, or in one of its descendants, by name. `None` as for [`ask`].
pub(crate) fn flags(pid: u32) -> Option<BTreeMap<String, String>> {
    let pid = hotspot_process(pid)?;
    let java = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let mut jcmd = Program::new(java.parent()?.join("jcmd"));
    let output = jcmd.args([&pid.to_string(), "VM.flags", "-all"]).output_within(TIMEOUT).ok()?;
    let flags = parse_flags(&String::from_utf8_lossy(&output.stdout));
    (output.status.success() && !flags.is_empty()).then_some(flags)
}

/// Lines such as `     bool UseCompactObjectHeaders      = true     {product lp64_product} {command line}`.
fn parse_flags(text: &str) -> BTreeMap<String, String> {
    let flag = |line: &str| {
        let (left, right) = line.split_once('=')?;
        let [_, name] = left.split_whitespace().collect::<Vec<_>>()[..] else { return None };
        let value = right.split(" {").next()?.trim();
        Some((name.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(flag).collect()
}

fn parse(text: &str) -> VmInForce {
    let after = |prefix: &str| text.lines().find_map(|line| line.strip_prefix(prefix)).map(str::trim);
    let flags: Vec<&str> = text
        .lines()
        .rev()
        .find(|line| line.starts_with("-XX:"))
        .map_or_else(Vec::new, |line| line.split_whitespace().collect());
    let value = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name));
    let collector = |flag: &&str| Some(flag.strip_prefix("-XX:+Use")?.strip_suffix("GC")?.to_owned());
    VmInForce {
        version: text.lines().find(|line| line.contains(" VM version ")).unwrap_or_default().to_owned(),
        home: None,
        mode: None,
        collectors: flags.iter().filter_map(collector).collect(),
        heap_max_bytes: value("-XX:MaxHeapSize=").and_then(|bytes| bytes.parse().ok()),
        options: after("jvm_args:").map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_their_values() {
        let flags = parse_flags(
            "4711:\n[Global flags]\n      int ActiveProcessorCount                     = -1        {product} {default}\n\
             bool UseCompactObjectHeaders   = true    {product lp64_product} {command line}\n\
             ccstr CompileThresholdText = {product} {default}\n",
        );
        assert_eq!(flags["UseCompactObjectHeaders"], "true");
        assert_eq!(flags["ActiveProcessorCount"], "-1");
    }

    #[test]
    fn what_the_tool_prints_is_read() {
        let vm = parse(
            "4711:\nOpenJDK 64-Bit Server VM version 17.0.15+6-Debian-1deb12u1\nJDK 17.0.15\nVM Arguments:\n\
             jvm_args: -XX:-UsePerfData -Xmx64m \njava_command: x.jar serve\nLauncher Type: SUN_STANDARD\n\
             -XX:CICompilerCount=2 -XX:MaxHeapSize=67108864 -XX:-UsePerfData -XX:+UseSerialGC \n",
        );
        assert_eq!(vm.version, "OpenJDK 64-Bit Server VM version 17.0.15+6-Debian-1deb12u1");
        assert_eq!(vm.options.as_deref(), Some("-XX:-UsePerfData -Xmx64m"));
        assert_eq!((vm.collectors, vm.heap_max_bytes), (vec!["Serial".to_owned()], Some(64 << 20)));
        assert_eq!(parse(""), VmInForce::default());
    }
}
