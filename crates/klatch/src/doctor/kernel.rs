//! The machine, and what its kernel offers to instruments and schedulers.

use klatch_host::machine::environment;
use klatch_instruments::{Kernel, availability};
use klatch_lab::{Architecture, LabError, require_qemu};
use klatch_record::{Support, error_chain};
use klatch_schedulers::sched_ext_state;

use super::finding::Finding;

const SCHEDULERS: &str = "Schedulers";
const SCHED_EXT: &str =
    "boot a kernel with CONFIG_SCHED_CLASS_EXT=y (Linux 6.12 or newer), or use klatch lab";

/// What the numbers of a run are bound to. Nothing here is a gap.
pub(super) fn machine() -> Vec<Finding> {
    let machine = environment([].into());
    let works = |name: &str, state: String| Finding::works("Machine", name, state);
    let mut findings = vec![
        works("kernel", format!("Linux {}, {}", machine.kernel, machine.architecture)),
        works(
            "CPUs",
            machine
                .cpu_model
                .map_or_else(|| machine.cpus.to_string(), |model| format!("{} × {model}", machine.cpus)),
        ),
    ];
    let limit = machine.settings.get("cgroup.memory_bytes").and_then(|bytes| bytes.parse().ok());
    findings.extend(machine.memory_bytes.map(|bytes| works("memory", memory(bytes, limit))));
    findings.extend(machine.distribution.map(|name| works("distribution", name)));
    findings
}

/// Installed memory, and the limit of the control groups if that is less, both in bytes.
fn memory(installed: u64, limit: Option<u64>) -> String {
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
    match limit.filter(|limit| *limit < installed) {
        Some(limit) => format!("{} of {}, by the limit of the control groups", gib(limit), gib(installed)),
        None => gib(installed),
    }
}

/// Each instrument; one with a fallback is a gap, since the fallback sees less.
pub(super) fn instruments() -> Vec<Finding> {
    let finding = |entry: klatch_record::Availability| {
        let (topic, name) = ("Instruments", entry.instrument.name());
        match entry.support {
            Support::Usable { base } => Finding::works(topic, name, base),
            Support::Fallback { base, why, remedy } => {
                Finding::gap(topic, name, format!("falls back to {base}: {why}"), remedy)
            }
            Support::NotAvailable { why, remedy } => Finding::gap(topic, name, why, remedy),
        }
    };
    availability(&Kernel::detect()).into_iter().map(finding).collect()
}

/// Schedulers under a run on this kernel, and in the lab.
pub(super) fn schedulers() -> Vec<Finding> {
    let here = match sched_ext_state() {
        Some(state) => Finding::works(SCHEDULERS, "sched_ext", format!("the kernel has it: {}", state.state)),
        None => Finding::gap(SCHEDULERS, "sched_ext", "the kernel has none", SCHED_EXT),
    };
    let lab = match require_qemu(Architecture::default()) {
        Ok(()) => Finding::works(SCHEDULERS, "lab", "QEMU is installed"),
        Err(LabError::NoProgram { program, package }) => Finding::gap(
            SCHEDULERS,
            "lab",
            format!("{program} is not installed"),
            format!("apt-get install {package}"),
        ),
        Err(error) => Finding { is_gap: true, ..Finding::works(SCHEDULERS, "lab", error_chain(&error)) },
    };
    vec![here, lab]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_control_groups_leave() {
        let gib = 1 << 30;
        assert_eq!(memory(24 * gib, Some(gib)), "1.0 GiB of 24.0 GiB, by the limit of the control groups");
        assert_eq!((memory(gib, Some(2 * gib)), memory(gib, None)), ("1.0 GiB".into(), "1.0 GiB".into()));
    }
}
