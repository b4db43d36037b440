//! What the kernel and the machine are set to, and what limits this process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::machine::cgroups::limits_in;
use crate::machine::core_classes::settings_of_cores;
use crate::machine::file_system::file_system;

/// How the value stands in its file.
enum Form {
    /// The whole file.
    Whole,
    /// The word in brackets: `always [madvise] never`, `none voluntary (full)`.
    Bracketed,
    /// A field of `/proc/self/stat`, numbered as in proc(5).
    Stat(usize),
    /// The whole file of each CPU, below its folder in `sys/devices/system/cpu`: all values that there are.
    EachCpu,
    /// What follows a word.
    After(&'static str),
    /// After `microcode :` in the first block of `/proc/cpuinfo`, and the like.
    Field(&'static str),
}

use Form::{After, Bracketed, EachCpu, Field, Stat, Whole};

/// Name in records, file, and form. A sysctl has its own name.
const SETTINGS: [(&str, &str, Form); 29] = [
    ("boost", "sys/devices/system/cpu/cpufreq/boost", Whole),
    ("clock_source", "sys/devices/system/clocksource/clocksource0/current_clocksource", Whole),
    ("command_line", "proc/cmdline", Whole),
    ("cpu_driver", "cpufreq/scaling_driver", EachCpu),
    ("cpu_implementer", "proc/cpuinfo", Field("CPU implementer")),
    ("cpu_part", "proc/cpuinfo", Field("CPU part")),
    ("governor", "cpufreq/scaling_governor", EachCpu),
    ("isolated_cpus", "sys/devices/system/cpu/isolated", Whole),
    ("microcode", "proc/cpuinfo", Field("microcode")),
    ("no_turbo", "sys/devices/system/cpu/intel_pstate/no_turbo", Whole),
    ("own_autogroup_nice", "proc/self/autogroup", After("nice ")),
    ("own_cpus", "proc/self/status", Field("Cpus_allowed_list")),
    ("own_nice", "proc/self/stat", Stat(19)),
    ("preemption", "sys/kernel/debug/sched/preempt", Bracketed),
    ("product", "sys/class/dmi/id/product_name", Whole),
    ("realtime", "sys/kernel/realtime", Whole),
    ("sched_features", "sys/kernel/debug/sched/features", Whole),
    ("smt", "sys/devices/system/cpu/smt/control", Whole),
    ("transparent_huge_pages", "sys/kernel/mm/transparent_hugepage/enabled", Bracketed),
    ("kernel.numa_balancing", "proc/sys/kernel/numa_balancing", Whole),
    ("kernel.sched_autogroup_enabled", "proc/sys/kernel/sched_autogroup_enabled", Whole),
    ("net.core.busy_poll", "proc/sys/net/core/busy_poll", Whole),
    ("net.core.default_qdisc", "proc/sys/net/core/default_qdisc", Whole),
    ("net.core.somaxconn", "proc/sys/net/core/somaxconn", Whole),
    ("net.ipv4.tcp_autocorking", "proc/sys/net/ipv4/tcp_autocorking", Whole),
    ("net.ipv4.tcp_congestion_control", "proc/sys/net/ipv4/tcp_congestion_control", Whole),
    ("net.ipv4.tcp_rmem", "proc/sys/net/ipv4/tcp_rmem", Whole),
    ("net.ipv4.tcp_wmem", "proc/sys/net/ipv4/tcp_wmem", Whole),
    ("vm.overcommit_memory", "proc/sys/vm/overcommit_memory", Whole),
];

/// The kernel's names for the scheduling policies, by number. A number has no name.
const POLICIES: [&str; 8] = ["other", "fifo", "rr", "batch", "", "idle", "deadline", "ext"];

/// The number of the field of `/proc/self/stat` with the policy, and of that with the priority of a real-time policy.
const POLICY: [usize; 2] = [41, 40];

/// Longest value. A command line of the kernel has at most 4,096 bytes.
const LENGTH_MAX: usize = 4096;

/// All settings that this machine has, by name. What cannot be read, or is not there, is absent.
pub(crate) fn settings() -> BTreeMap<String, String> {
    let mut all = settings_in(Path::new("/"));
    // Servers have their files and databases there.
    let temporary = file_system(&std::env::temp_dir());
    all.extend(temporary.map(|name| ("temporary_file_system".to_owned(), name)));
    all
}

fn settings_in(root: &Path) -> BTreeMap<String, String> {
    let read = |file: &str| std::fs::read_to_string(root.join(file)).ok();
    let mut all = BTreeMap::new();
    let mut add = |name: String, value: Option<String>| {
        let value = value.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "));
        all.extend(
            value.filter(|value| !value.is_empty() && value.len() <= LENGTH_MAX).map(|value| (name, value)),
        );
    };
    for (name, file, form) in &SETTINGS {
        let value = match form {
            EachCpu => each_cpu(root, file),
            form => read(file).and_then(|text| value_in(&text, form)),
        };
        add((*name).to_owned(), value);
    }
    let vulnerabilities = std::fs::read_dir(root.join("sys/devices/system/cpu/vulnerabilities"));
    for entry in vulnerabilities.into_iter().flatten().flatten() {
        let what = std::fs::read_to_string(entry.path()).ok().filter(|text| text.trim() != "Not affected");
        add(format!("vulnerability.{}", entry.file_name().to_string_lossy()), what);
    }
    for (name, value) in limits_in(root) {
        add(name.to_owned(), Some(value));
    }
    for (name, cpus) in settings_of_cores(root) {
        add(name, Some(cpus));
    }
    add("own_policy".to_owned(), read("proc/self/stat").and_then(|stat| policy(&stat)));
    add("fair_scheduler".to_owned(), fair_scheduler(&read));
    add("virtualisation".to_owned(), virtualisation(&read));
    // Device trees end their texts with a zero.
    add("board".to_owned(), read("proc/device-tree/model").map(|model| model.replace('\0', " ")));
    add("container".to_owned(), container(root));
    all
}

fn value_in(text: &str, form: &Form) -> Option<String> {
    match form {
        Whole | EachCpu => Some(text.to_owned()),
        Bracketed => Some(text.split_once(['[', '('])?.1.split_once([']', ')'])?.0.to_owned()),
        Stat(number) => stat_field(text, *number).map(str::to_owned),
        After(word) => Some(text.split_once(word)?.1.to_owned()),
        Field(name) => text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == *name).then(|| value.to_owned())
        }),
    }
}

/// The values of a file of each CPU, each once.
fn each_cpu(root: &Path, file: &str) -> Option<String> {
    let is_cpu = |name: &str| name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok());
    let folders = std::fs::read_dir(root.join("sys/devices/system/cpu")).ok()?.flatten();
    let cpus = folders.filter(|entry| entry.file_name().to_str().is_some_and(is_cpu));
    let values = cpus.filter_map(|cpu| std::fs::read_to_string(cpu.path().join(file)).ok());
    let values: BTreeSet<String> = values.map(|value| value.trim().to_owned()).collect();
    Some(values.into_iter().collect::<Vec<_>>().join(", "))
}

/// A field of the text of a process's `stat`; the name in parentheses may contain anything.
fn stat_field(text: &str, number: usize) -> Option<&str> {
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(number.checked_sub(3)?)
}

/// The scheduling policy, with its priority if it is one of real time.
fn policy(stat: &str) -> Option<String> {
    let [policy, priority] = POLICY.map(|number| stat_field(stat, number));
    let policy = policy?;
    let name =
        policy.parse::<usize>().ok().and_then(|number| POLICIES.get(number)).filter(|name| !name.is_empty());
    let name = name.map_or_else(|| policy.to_owned(), |name| (*name).to_owned());
    Some(match priority {
        Some(priority) if priority != "0" => format!("{name}:{priority}"),
        _ => name,
    })
}

/// The kernel's own scheduler for ordinary tasks: EEVDF, by a feature that only it has, or by the version, since 6.6; CFS before.
fn fair_scheduler(read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    const FEATURE: &str = "PLACE_LAG";
    const FIRST: (u32, u32) = (6, 6);
    let by_features = || Some(read("sys/kernel/debug/sched/features")?.contains(FEATURE));
    let by_version = || {
        let release = read("proc/sys/kernel/osrelease")?;
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?) >= FIRST)
    };
    // gVisor says a version, and has no scheduler: the host's runs its threads.
    if kernel_of_its_own(read) == Some(GVISOR) {
        return None;
    }
    let is_eevdf = by_features().or_else(by_version)?;
    Some(if is_eevdf { "EEVDF" } else { "CFS" }.to_owned())
}

/// A kernel of its own, in user space, which answers the system calls of its programs.
pub const GVISOR: &str = "gVisor";

/// A translator of system calls in Windows, and no kernel of Linux.
pub const WSL1: &str = "WSL1";

/// A kernel of Linux beside Windows.
pub const WSL2: &str = "WSL2";

/// What this machine is a guest of, if its kernel was made for that.
fn kernel_of_its_own(read: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    let version = read("proc/version")?;
    let marks = [
        // Its newer versions say so; all have this date.
        ("gvisor", GVISOR),
        ("#1 SMP Sun Jan 10 15:06:54 PST 2016", GVISOR),
        ("microsoft-standard", WSL2),
        ("Microsoft", WSL1),
    ];
    marks.iter().find(|(mark, _)| version.contains(mark)).map(|(_, name)| *name)
}

/// What this machine is a guest of; absent if nothing says so.
fn virtualisation(read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(name) = kernel_of_its_own(read) {
        return Some(name.to_owned());
    }
    // Xen and device trees say so without a flag of the CPU.
    let certain = ["sys/hypervisor/type", "proc/device-tree/hypervisor/compatible"];
    if let Some(name) = certain.iter().find_map(|file| read(file)) {
        return Some(name.replace('\0', " "));
    }
    let cpuinfo = read("proc/cpuinfo")?;
    let is_guest = cpuinfo.lines().filter_map(|line| line.split_once(':')).any(|(key, flags)| {
        key.trim() == "flags" && flags.split_whitespace().any(|flag| flag == "hypervisor")
    });
    is_guest.then(|| read("sys/class/dmi/id/sys_vendor").unwrap_or_else(|| "a hypervisor".to_owned()))
}

/// The namespaces that a container has of its own; one that shares some has at least another root.
const NAMESPACES: [&str; 4] = ["pid", "uts", "ipc", "mnt"];

/// The highest number of a namespace that the kernel makes when it boots.
const BOOT_NAMESPACE_MAX: u64 = 0xf000_0001;

/// The program that made the container in which this process is; absent if nothing says so. A machine whose image was made from a
/// container has marks of one, and the namespaces of its kernel.
fn container(root: &Path) -> Option<String> {
    let number = |name: &str| -> Option<u64> {
        let link = std::fs::read_link(root.join("proc/self/ns").join(name)).ok()?;
        link.to_str()?.split_once(":[")?.1.strip_suffix(']')?.parse().ok()
    };
    if NAMESPACES.iter().all(|name| number(name).is_some_and(|number| number <= BOOT_NAMESPACE_MAX)) {
        return None;
    }
    // The root of a podman container can be an image of Docker's.
    let marks = [("run/.containerenv", "podman"), (".dockerenv", "docker")];
    let marked = marks.iter().find(|(file, _)| root.join(file).exists()).map(|(_, name)| (*name).to_owned());
    std::fs::read_to_string(root.join("run/systemd/container")).ok().or(marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of these files.
    fn machine(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        settings_in(root.path())
    }

    #[test]
    fn what_a_machine_says_is_recorded_and_what_it_does_not_say_is_absent() {
        assert_eq!(machine(&[]), BTreeMap::new());
        let cpus = "processor\t: 0\nmicrocode\t: 0xa0011d5\n\nprocessor\t: 1\nmicrocode\t: 0x1\n";
        let all = machine(&[
            ("proc/cpuinfo", cpus),
            ("proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/cpu/isolated", "\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu7/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu8/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n"),
            ("sys/devices/system/cpu/vulnerabilities/retbleed", "Mitigation: untrained return thunk\n"),
        ]);
        let wanted = [
            ("governor", "performance, powersave"),
            ("microcode", "0xa0011d5"),
            ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
            ("transparent_huge_pages", "madvise"),
            ("vulnerability.retbleed", "Mitigation: untrained return thunk"),
        ];
        assert_eq!(all, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn what_limits_this_process_is_recorded() {
        let stat = |nice: i32, priority: u32, policy: u32| {
            let before: Vec<String> = (3..19).map(|number| number.to_string()).collect();
            let between: Vec<String> = (20..40).map(|number| number.to_string()).collect();
            format!("7 (a b) c) {} {nice} {} {priority} {policy} 0\n", before.join(" "), between.join(" "))
        };
        let all = machine(&[
            ("proc/self/stat", &stat(-5, 10, 1)),
            ("proc/self/autogroup", "/autogroup-7 nice 3\n"),
            ("proc/self/cgroup", "0::/a.slice/b\n"),
            ("sys/fs/cgroup/a.slice/pids.max", "99\n"),
            ("sys/kernel/debug/sched/preempt", "none voluntary (full) lazy \n"),
        ]);
        let wanted = [
            ("cgroup.threads", "99"),
            ("own_autogroup_nice", "3"),
            ("own_nice", "-5"),
            ("own_policy", "fifo:10"),
            ("preemption", "full"),
        ];
        assert_eq!(all, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(machine(&[("proc/self/stat", &stat(0, 0, 0))])["own_policy"], "other");
    }

    #[test]
    fn the_own_scheduler_of_the_kernel_is_recorded() {
        let by = |file: &str, text: &str| machine(&[(file, text)])["fair_scheduler"].clone();
        let versions = ["5.10.0-32-amd64", "6.5.13", "6.6.1", "7.2.13+deb14"];
        let names = versions.map(|version| by("proc/sys/kernel/osrelease", &format!("{version}\n")));
        assert_eq!(names, ["CFS", "CFS", "EEVDF", "EEVDF"]);
        assert_eq!(by("sys/kernel/debug/sched/features", "PLACE_LAG NO_RUN_TO_PARITY\n"), "EEVDF");
        assert_eq!(by("sys/kernel/debug/sched/features", "GENTLE_FAIR_SLEEPERS\n"), "CFS");
    }

    #[test]
    fn a_guest_and_a_container_say_what_they_are_in() {
        let guest = "processor\t: 0\nflags\t\t: fpu hypervisor sse\n";
        let all = machine(&[("proc/cpuinfo", guest), (".dockerenv", "")]);
        assert_eq!((all["virtualisation"].as_str(), all["container"].as_str()), ("a hypervisor", "docker"));
        let named = machine(&[("proc/cpuinfo", guest), ("sys/class/dmi/id/sys_vendor", "QEMU\n")]);
        assert_eq!(named["virtualisation"], "QEMU");
        let metal = machine(&[
            ("proc/cpuinfo", "flags\t\t: fpu sse\n"),
            ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
        ]);
        assert_eq!(metal.get("virtualisation"), None);
    }

    #[test]
    fn a_kernel_that_was_made_for_guests_says_whose() {
        let of =
            |version: &str| machine(&[("proc/version", version), ("proc/sys/kernel/osrelease", "4.4.0\n")]);
        let gvisor = of("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n");
        assert_eq!((gvisor["virtualisation"].as_str(), gvisor.get("fair_scheduler")), ("gVisor", None));
        assert_eq!(of("Linux version 4.19.0-gvisor #1 SMP Sun Jan 10\n")["virtualisation"], "gVisor");
        let wsl = of("Linux version 6.6.87.2-microsoft-standard-WSL2 (root@x) (gcc) #1 SMP\n");
        assert_eq!((wsl["virtualisation"].as_str(), wsl["fair_scheduler"].as_str()), ("WSL2", "CFS"));
        assert_eq!(of("Linux version 4.4.0-19041-Microsoft (Microsoft@x)\n")["virtualisation"], "WSL1");
        assert_eq!(of("Linux version 6.12.34+rpt-rpi-v8 (serge@x)\n").get("virtualisation"), None);
    }

    #[test]
    fn a_board_is_named_by_its_device_tree() {
        let all = machine(&[("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0")]);
        assert_eq!(all["board"], "Raspberry Pi 4 Model B Rev 1.4");
    }

    #[test]
    fn marks_of_a_container_count_only_in_namespaces_of_its_own() {
        let container_in = |namespaces: [u64; 4], marks: &[&str]| {
            let root = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(root.path().join("proc/self/ns")).unwrap();
            std::fs::create_dir(root.path().join("run")).unwrap();
            for (name, number) in NAMESPACES.iter().zip(namespaces) {
                let link = root.path().join("proc/self/ns").join(name);
                std::os::unix::fs::symlink(format!("{name}:[{number}]"), link).unwrap();
            }
            marks.iter().for_each(|mark| std::fs::write(root.path().join(mark), "").unwrap());
            container(root.path())
        };
        let of_kernel = [4_026_531_836, 4_026_531_838, 4_026_531_839, 4_026_531_841];
        let of_another_root = [4_026_531_836, 4_026_531_838, 4_026_531_839, 4_026_532_217];
        assert_eq!(container_in(of_kernel, &[".dockerenv"]), None);
        assert_eq!(container_in(of_another_root, &[".dockerenv"]).as_deref(), Some("docker"));
        let both = [".dockerenv", "run/.containerenv"];
        assert_eq!(container_in([4_026_532_200; 4], &both).as_deref(), Some("podman"));
        assert_eq!(container_in([4_026_532_200; 4], &[]), None);
    }

    #[test]
    fn names_are_given_once_and_in_order() {
        let names = SETTINGS.map(|(name, ..)| name);
        assert!(names.iter().all(|name| names.iter().filter(|other| *other == name).count() == 1));
    }
}
