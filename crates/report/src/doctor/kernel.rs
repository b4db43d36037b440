//! The machine, and what its kernel offers to instruments and schedulers.

use std::collections::BTreeMap;

use klatch_host::machine::{GVISOR, WSL1, WSL2, environment};
use klatch_instruments::{Kernel, availability};
use klatch_lab::{Architecture, LabError, require_programs};
use klatch_record::{Support, error_chain};
use klatch_schedulers::sched_ext_state;

use super::finding::Finding;

const SCHEDULERS: &str = "Schedulers";
const SCHED_EXT: &str =
    "boot a kernel with CONFIG_SCHED_CLASS_EXT=y (Linux 6.12 or newer), or use klatch lab";

const MACHINE: &str = "Machine";

/// What the numbers of a run are bound to.
pub(super) fn machine() -> Vec<Finding> {
    let machine = environment([].into());
    let works = |name: &str, state: String| Finding::works(MACHINE, name, state);
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
    findings.extend(surroundings(&machine.settings));
    findings
}

/// The board, and what this machine is a guest of or a part of, with what that means for numbers.
fn surroundings(settings: &BTreeMap<String, String>) -> Vec<Finding> {
    let value = |name: &str| settings.get(name).map(String::as_str);
    let board = value("board").map(|name| Finding::works(MACHINE, "board", name));
    let guest = value("virtualisation").map(|name| match name {
        GVISOR => Finding::gap(
            MACHINE,
            "guest of",
            "gVisor: it answers system calls itself, so numbers are its own, and Linux has no part in them: no BPF, no sched_ext",
            "a container of runc, or the machine itself, to measure Linux",
        ),
        WSL1 => Finding::gap(
            MACHINE,
            "guest of",
            "WSL1: Windows answers system calls, so numbers are its own, and Linux has no part in them: no BPF, no sched_ext",
            "wsl --set-version DISTRIBUTION 2",
        ),
        WSL2 => Finding::works(MACHINE, "guest of", "WSL2: a kernel of Linux beside Windows, on the same CPUs"),
        name => Finding::works(MACHINE, "guest of", name),
    });
    let container = value("container").map(|name| {
        let state = format!("{name}: it shares kernel and CPUs with what runs outside");
        Finding::works(MACHINE, "container", state)
    });
    [board, guest, container].into_iter().flatten().collect()
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
    let lab = |architecture: Architecture| {
        let name = match architecture == Architecture::default() {
            true => "lab".to_owned(),
            false => format!("lab of {architecture}"),
        };
        match require_programs(architecture) {
            Ok(()) => Finding::works(SCHEDULERS, name, "QEMU is installed"),
            Err(LabError::NoProgram { program, package }) => Finding::gap(
                SCHEDULERS,
                name,
                format!("{program} is not installed"),
                format!("apt-get install {package}"),
            ),
            Err(error) => Finding { is_gap: true, ..Finding::works(SCHEDULERS, name, error_chain(&error)) },
        }
    };
    [here].into_iter().chain(Architecture::ALL.map(lab)).collect()
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

    #[test]
    fn what_a_machine_is_a_guest_of_is_said_with_what_it_means() {
        let of = |pairs: &[(&str, &str)]| {
            let settings = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let findings = surroundings(&settings.collect());
            findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("\n")
        };
        let gvisor = of(&[("virtualisation", "gVisor"), ("container", "docker")]);
        assert!(
            gvisor.starts_with("  gap  guest of            gVisor: it answers system calls itself"),
            "{gvisor}"
        );
        assert!(gvisor.contains("to change it: a container of runc"), "{gvisor}");
        assert!(gvisor.ends_with(
            "  ok   container           docker: it shares kernel and CPUs with what runs outside"
        ));
        assert!(
            of(&[("virtualisation", "WSL1")]).contains("gap")
                && of(&[("virtualisation", "WSL2")]).contains("ok")
        );
        let board = of(&[("board", "Raspberry Pi 5 Model B Rev 1.0"), ("virtualisation", "QEMU")]);
        assert_eq!(
            board,
            "  ok   board               Raspberry Pi 5 Model B Rev 1.0\n  ok   guest of            QEMU"
        );
        assert_eq!(of(&[]), "");
    }
}
