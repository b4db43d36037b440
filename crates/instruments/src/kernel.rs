//! What the running kernel offers to instruments.

use std::collections::BTreeSet;

use klatch_record::Support;
use libbpf_rs::btf::{Btf, BtfKind, types::Typedef};

/// What a kernel offers.
pub struct Kernel {
    btf: Option<Btf<'static>>,
    hidden: BTreeSet<String>,
}

impl Kernel {
    /// The running one.
    pub fn here() -> Kernel {
        // What libbpf has to say is in the errors it returns.
        libbpf_rs::set_print(None);
        Kernel { btf: Btf::from_vmlinux().ok(), hidden: BTreeSet::new() }
    }

    /// The running one as if it had no description of its types.
    pub fn without_btf() -> Kernel {
        Kernel { btf: None, ..Kernel::here() }
    }

    /// The running one as if it had not these tracepoints.
    pub fn without_tracepoints(names: &[&str]) -> Kernel {
        Kernel { hidden: names.iter().map(|name| (*name).to_owned()).collect(), ..Kernel::here() }
    }

    /// Whether a tracepoint is there, by its type in the kernel's description of its types.
    pub(crate) fn has_tracepoint(&self, name: &str) -> bool {
        let Some(btf) = &self.btf else { return false };
        let there: Option<Typedef<'_>> = btf.type_by_name(&format!("btf_trace_{name}"));
        there.is_some_and(|found| found.kind() == BtfKind::Typedef) && !self.hidden.contains(name)
    }

    /// The first of `names` that is not there, as a reason.
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
            remedy: format!(
                "boot a kernel that has it: grep -w {missing} /sys/kernel/tracing/available_events, or its source"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracepoints_are_found_and_missed() {
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
        assert!(text(&Kernel::without_btf(), &["sched_switch"]).contains("/sys/kernel/btf/vmlinux"));
    }
}
