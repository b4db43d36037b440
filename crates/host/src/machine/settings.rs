//! What the kernel and the machine are set to, and the variables that change a runtime.

use std::collections::BTreeMap;
use std::path::Path;

/// How the value stands in its file.
enum Form {
    /// The whole file.
    Whole,
    /// The word in brackets: `always [madvise] never`.
    Bracketed,
    /// After `microcode :` in the first block of `/proc/cpuinfo`, and the like.
    Field(&'static str),
}

use Form::{Bracketed, Field, Whole};

/// Name in records, file, and form. A sysctl has its own name.
const SETTINGS: [(&str, &str, Form); 25] = [
    ("boost", "sys/devices/system/cpu/cpufreq/boost", Whole),
    ("clock_source", "sys/devices/system/clocksource/clocksource0/current_clocksource", Whole),
    ("command_line", "proc/cmdline", Whole),
    ("cpu_driver", "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", Whole),
    ("cpu_implementer", "proc/cpuinfo", Field("CPU implementer")),
    ("cpu_part", "proc/cpuinfo", Field("CPU part")),
    ("governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", Whole),
    ("isolated_cpus", "sys/devices/system/cpu/isolated", Whole),
    ("microcode", "proc/cpuinfo", Field("microcode")),
    ("no_turbo", "sys/devices/system/cpu/intel_pstate/no_turbo", Whole),
    ("own_cpus", "proc/self/status", Field("Cpus_allowed_list")),
    ("preemption", "sys/kernel/debug/sched/preempt", Bracketed),
    ("product", "sys/class/dmi/id/product_name", Whole),
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

/// Files of a cgroup of version 2 that limit what is in it.
const CGROUP_LIMITS: [&str; 4] = ["cpu.max", "cpuset.cpus.effective", "memory.max", "pids.max"];

/// Longest value. A command line of the kernel has at most 4,096 bytes.
const LENGTH_MAX: usize = 4096;

/// All settings that this machine has, by name. What cannot be read, or is not there, is absent.
pub(crate) fn settings() -> BTreeMap<String, String> {
    settings_in(Path::new("/"))
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
        add((*name).to_owned(), read(file).and_then(|text| value_in(&text, form)));
    }
    let vulnerabilities = std::fs::read_dir(root.join("sys/devices/system/cpu/vulnerabilities"));
    for entry in vulnerabilities.into_iter().flatten().flatten() {
        let what = std::fs::read_to_string(entry.path()).ok().filter(|text| text.trim() != "Not affected");
        add(format!("vulnerability.{}", entry.file_name().to_string_lossy()), what);
    }
    if let Some(own) = read("proc/self/cgroup").as_deref().and_then(own_cgroup) {
        for limit in CGROUP_LIMITS {
            // `max` is no limit, and every cgroup but the root says that.
            let value = read(&format!("sys/fs/cgroup/{own}/{limit}")).filter(|text| !text.starts_with("max"));
            add(format!("cgroup.{limit}"), value);
        }
    }
    all
}

fn value_in(text: &str, form: &Form) -> Option<String> {
    match form {
        Whole => Some(text.to_owned()),
        Bracketed => Some(text.split_once('[')?.1.split_once(']')?.0.to_owned()),
        Field(name) => text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == *name).then(|| value.to_owned())
        }),
    }
}

/// The path of this process's cgroup of version 2, without the leading slash. In a container it is relative to what is mounted there.
fn own_cgroup(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::/"))
}

/// Variables that change how a runtime or the C library works, for every runtime that Klatch starts. Those of Java are with its runtime.
const VARIABLES: [&str; 10] = [
    "GLIBC_TUNABLES",
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "TOKIO_WORKER_THREADS",
    "UV_THREADPOOL_SIZE",
];

/// The variables of this process's environment that servers and crowds inherit and obey, by name.
pub(crate) fn variables() -> BTreeMap<String, String> {
    let is_known = |name: &str| VARIABLES.contains(&name) || name.starts_with("MALLOC_");
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    };
    std::env::vars_os().filter_map(text).filter(|(name, value)| is_known(name) && !value.is_empty()).collect()
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
            ("sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n"),
            ("sys/devices/system/cpu/vulnerabilities/retbleed", "Mitigation: untrained return thunk\n"),
        ]);
        let wanted = [
            ("microcode", "0xa0011d5"),
            ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
            ("transparent_huge_pages", "madvise"),
            ("vulnerability.retbleed", "Mitigation: untrained return thunk"),
        ];
        assert_eq!(all, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn limits_of_a_cgroup_are_recorded_where_there_are_some() {
        let all = machine(&[
            ("proc/self/cgroup", "0::/a.slice/b\n"),
            ("sys/fs/cgroup/a.slice/b/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a.slice/b/memory.max", "max\n"),
        ]);
        assert_eq!(all, [("cgroup.cpu.max".to_owned(), "150000 100000".to_owned())].into());
    }

    #[test]
    fn names_are_given_once_and_in_order() {
        let names = SETTINGS.map(|(name, ..)| name);
        assert!(names.iter().all(|name| names.iter().filter(|other| *other == name).count() == 1));
        assert!(VARIABLES.is_sorted());
    }
}
