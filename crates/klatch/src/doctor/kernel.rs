//! The machine, and what its kernel offers to instruments and schedulers.

use klatch_host::machine::environment;
use klatch_instruments::{Kernel, availability};
use klatch_lab::{LabError, require_qemu};
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
        works("kernel", format!("Linux {}", machine.kernel)),
        works(
            "CPUs",
            machine
                .cpu_model
                .map_or_else(|| machine.cpus.to_string(), |model| format!("{} × {model}", machine.cpus)),
        ),
    ];
    findings.extend(
        machine
            .memory_bytes
            .map(|bytes| works("memory", format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)))),
    );
    findings.extend(machine.distribution.map(|name| works("distribution", name)));
    findings
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
    let lab = match require_qemu() {
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
