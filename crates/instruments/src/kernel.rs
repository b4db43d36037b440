//! Features of the running kernel that instruments depend on.

use std::collections::BTreeSet;

use klatch_record::Support;
use libbpf_rs::btf::{Btf, BtfKind, types::Typedef};

/// The first PID namespace of a machine, whose process ids are the kernel's own. Its number is part of the kernel's interface
/// (`PROC_PID_INIT_INO`).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// The first Linux with each tracepoint that not every supported one has. Those of the scheduler's entry and exit are no events, so
/// `available_events` does not list them.
const SINCE: [(&str, &str); 4] = [
    ("contention_begin", "5.19"),
    ("contention_end", "5.19"),
    ("sched_entry_tp", "6.14"),
    ("sched_exit_tp", "6.14"),
];

/// The type information and tracepoints of the running kernel.
pub struct Kernel {
    btf: Option<Btf<'static>>,
    hidden: BTreeSet<String>,
    /// Whether this process and the kernel use the same process ids.
    has_same_ids: bool,
}

impl Kernel {
    /// Reads the type information (BTF) of the running kernel, if it has any.
    pub fn detect() -> Kernel {
        // libbpf also prints its errors; the returned ones are enough.
        libbpf_rs::set_print(None);
        let namespace = std::fs::read_link("/proc/self/ns/pid");
        let has_same_ids = namespace.is_ok_and(|namespace| namespace.as_os_str() == FIRST_PID_NAMESPACE);
        Kernel { btf: Btf::from_vmlinux().ok(), hidden: BTreeSet::new(), has_same_ids }
    }

    /// The running kernel as it is seen in a container, for tests.
    pub fn with_other_ids() -> Kernel {
        Kernel { has_same_ids: false, ..Kernel::detect() }
    }

    /// The running kernel as if it had no BTF, for tests.
    pub fn without_btf() -> Kernel {
        Kernel { btf: None, ..Kernel::detect() }
    }

    /// The running kernel as if it lacked these tracepoints, for tests.
    pub fn without_tracepoints(names: &[&str]) -> Kernel {
        Kernel { hidden: names.iter().map(|name| (*name).to_owned()).collect(), ..Kernel::detect() }
    }

    /// Whether the kernel has this tracepoint; each one has a `btf_trace_` type in BTF.
    pub(crate) fn has_tracepoint(&self, name: &str) -> bool {
        let Some(btf) = &self.btf else { return false };
        let tracepoint: Option<Typedef<'_>> = btf.type_by_name(&format!("btf_trace_{name}"));
        tracepoint.is_some_and(|tracepoint| tracepoint.kind() == BtfKind::Typedef)
            && !self.hidden.contains(name)
    }

    /// Why BPF programs at these tracepoints cannot work: no BTF, or the first missing tracepoint. `None` if they can.
    pub(crate) fn lacks(&self, names: &[&str]) -> Option<Support> {
        if self.btf.is_none() {
            return Some(Support::NotAvailable {
                why: "the kernel does not describe its types (no readable /sys/kernel/btf/vmlinux)"
                    .to_owned(),
                remedy: "boot a kernel with CONFIG_DEBUG_INFO_BTF=y".to_owned(),
            });
        }
        let missing = names.iter().find(|name| !self.has_tracepoint(name))?;
        Some(Support::NotAvailable {
            why: format!("the kernel has no tracepoint {missing}"),
            remedy: match SINCE.iter().find(|(name, _)| name == missing) {
                Some((_, version)) => format!("boot a kernel {version} or newer"),
                None => format!("boot a kernel with CONFIG_TRACEPOINTS=y whose source has {missing}"),
            },
        })
    }
}

impl Kernel {
    /// Why BPF programs cannot recognize the processes of a run: they see the kernel's process ids, and this process those of its
    /// own PID namespace. The kernel translates the id of the current task only, and tracepoints name others. `None` if the ids
    /// are the same.
    pub(crate) fn lacks_same_ids(&self) -> Option<Support> {
        (!self.has_same_ids).then(|| Support::NotAvailable {
            why: "klatch runs in a PID namespace of its own (a container), and BPF programs see the process ids of the host"
                .to_owned(),
            remedy: "run klatch in the PID namespace of the host (pid: host in Compose, hostPID: true in Kubernetes)".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracepoints_are_those_of_the_kernel_but_for_hidden_ones() {
        let kernel = Kernel::without_tracepoints(&["sched_waking"]);
        assert!(kernel.has_tracepoint("sched_switch"), "is this a kernel with BTF?");
        assert!(!kernel.has_tracepoint("sched_waking") && !kernel.has_tracepoint("sched_coffee"));
        assert_eq!(kernel.lacks(&["sched_switch"]), None);
        let text = |kernel: &Kernel, names| match kernel.lacks(names) {
            Some(Support::NotAvailable { why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            text(&kernel, &["sched_switch", "sched_waking"]),
            "the kernel has no tracepoint sched_waking"
        );
        let old = Kernel::without_tracepoints(&["sched_entry_tp", "contention_begin"]);
        for (tracepoint, version) in [("sched_entry_tp", "6.14"), ("contention_begin", "5.19")] {
            let Some(Support::NotAvailable { remedy, .. }) = old.lacks(&[tracepoint]) else {
                panic!("it is hidden")
            };
            assert_eq!(remedy, format!("boot a kernel {version} or newer"));
        }
        assert!(text(&Kernel::without_btf(), &["sched_switch"]).contains("/sys/kernel/btf/vmlinux"));
    }

    #[test]
    fn instruments_by_process_need_the_process_ids_of_the_kernel() {
        let kernel = Kernel::with_other_ids();
        let mut refused = Vec::new();
        for entry in crate::availability(&kernel) {
            if let Support::NotAvailable { why, .. } = &entry.support
                && why.contains("PID namespace")
            {
                refused.push(entry.instrument.name());
            }
        }
        for by_process in ["profile", "wakeups", "locks", "syscalls", "trace"] {
            assert!(refused.contains(&by_process), "{by_process}: {refused:?}");
        }
        assert!(!refused.contains(&"runqueue") && !refused.contains(&"jvm"), "{refused:?}");
    }
}
