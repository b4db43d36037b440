//! The needs of tests, and how they are detected.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `CAP_SYS_ADMIN`, `CAP_PERFMON` and `CAP_BPF`, by their numbers in the kernel's capability sets.
const SYS_ADMIN: u32 = 21;
const PERFMON: u32 = 38;
const BPF: u32 = 39;

/// Where `scripts/cross.sh arm64` puts the program.
const KLATCH_FOR_ARM64: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/cross/arm64/klatch");

/// A feature that not every machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The effective user is root.
    Root,
    /// Permission to load BPF programs, a kernel that describes its types (BTF), and the process ids of that kernel.
    Bpf,
    /// Network namespaces made by root, as machines with addresses of their own.
    NetworkNamespaces,
    /// Network namespaces inside a user namespace; root is not needed.
    UserNamespaces,
    /// QEMU, the emulator of the lab's machine.
    Qemu,
    /// The program for arm64, which `scripts/cross.sh` builds.
    KlatchForArm64,
    /// Chromium, the browser that displays reports.
    Chromium,
    /// A kernel with sched_ext: schedulers as BPF programs.
    SchedExt,
    /// A kernel without sched_ext.
    NoSchedExt,
    /// That everything is tested, as `make test-all` does: other JDKs, downloads, minutes.
    TestAll,
    /// A program, and the Debian package that has it.
    Program(&'static str, &'static str),
}

impl Need {
    /// Whether this machine has it, and this process may use it.
    pub fn is_met(self) -> bool {
        match self {
            Need::Root => is_root(),
            Need::Bpf => {
                Path::new("/sys/kernel/btf/vmlinux").exists() && may_load_bpf() && has_ids_of_kernel()
            }
            Need::NetworkNamespaces => is_root() && works("unshare", &["--net", "true"]),
            Need::UserNamespaces => works("unshare", &["--map-root-user", "--net", "true"]),
            Need::Qemu => on_search_path("qemu-system-x86_64"),
            Need::KlatchForArm64 => Path::new(KLATCH_FOR_ARM64).is_file(),
            Need::Chromium => on_search_path("chromium"),
            Need::SchedExt => has_sched_ext(),
            Need::NoSchedExt => !has_sched_ext(),
            Need::TestAll => tests_all(),
            Need::Program(name, _) => on_search_path(name),
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Need::Root => "root",
            Need::Bpf => {
                "BPF: root, or CAP_BPF and CAP_PERFMON, /sys/kernel/btf/vmlinux, and the first PID namespace"
            }
            Need::NetworkNamespaces => "root and network namespaces",
            Need::UserNamespaces => "user and network namespaces",
            Need::Qemu => "qemu-system-x86_64",
            Need::KlatchForArm64 => "klatch for arm64",
            Need::Chromium => "chromium",
            Need::SchedExt => "a kernel that has sched_ext (/sys/kernel/sched_ext)",
            Need::NoSchedExt => "a kernel without sched_ext",
            Need::TestAll => "make test-all",
            Need::Program(name, _) => name,
        }
    }

    /// The command that fulfils the need; `None` if only another kernel would.
    pub(crate) fn remedy(self) -> Option<String> {
        match self {
            Need::Root | Need::Bpf | Need::NetworkNamespaces => Some("run the tests as root".to_owned()),
            Need::UserNamespaces => Some(
                "allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=1000"
                    .to_owned(),
            ),
            Need::Qemu => Some("apt-get install qemu-system-x86".to_owned()),
            Need::Chromium => Some("apt-get install chromium".to_owned()),
            // It takes minutes, which the nightly workflow spends and a test must not demand.
            Need::KlatchForArm64 => None,
            Need::SchedExt | Need::NoSchedExt | Need::TestAll => None,
            Need::Program(_, package) => Some(format!("apt-get install {package}")),
        }
    }
}

/// Whether everything is tested, as `make test-all` does, and not only what a contributor runs.
pub fn tests_all() -> bool {
    std::env::var_os("KLATCH_TEST_ALL").is_some_and(|value| value == "1")
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn has_sched_ext() -> bool {
    Path::new("/sys/kernel/sched_ext").exists()
}

fn may_load_bpf() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    let has = |capability: u32| effective & 1 << capability != 0;
    has(SYS_ADMIN) || has(BPF) && has(PERFMON)
}

/// Whether this is the first PID namespace. In others BPF programs see other process ids.
fn has_ids_of_kernel() -> bool {
    std::fs::read_link("/proc/self/ns/pid").is_ok_and(|namespace| namespace.as_os_str() == "pid:[4026531836]")
}

fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Includes `/usr/sbin`, where servers are installed and which a user's `PATH` often lacks.
fn on_search_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(program)).any(|file| file.is_file())
}
