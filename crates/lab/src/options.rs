//! Options of a kernel's configuration that the lab needs.

use crate::architecture::Architecture;
use crate::error::LabError;
use crate::modules::Modules;

/// Options without which no machine boots or answers, and the module that stands for one.
const NEEDED: [(&str, Option<&str>); 15] = [
    ("64BIT", None),
    ("BINFMT_ELF", None),
    ("BLK_DEV_INITRD", None),
    ("DEVTMPFS", None),
    ("EPOLL", None),
    ("FUTEX", None),
    ("INET", None),
    ("NET", None),
    ("PCI", None),
    ("PROC_FS", None),
    ("SYSFS", None),
    ("TMPFS", None),
    ("UNIX", None),
    ("VIRTIO_CONSOLE", Some("virtio_console")),
    ("VIRTIO_PCI", Some("virtio_pci")),
];

/// Those of an architecture: its console, its bus, and how a program reads its job from the firmware.
const NEEDED_AMD64: [(&str, Option<&str>); 2] = [("SERIAL_8250_CONSOLE", None), ("X86_IOPL_IOPERM", None)];
const NEEDED_ARM64: [(&str, Option<&str>); 3] =
    [("DEVMEM", None), ("PCI_HOST_GENERIC", None), ("SERIAL_AMBA_PL011_CONSOLE", None)];

fn needed(architecture: Architecture) -> Vec<(&'static str, Option<&'static str>)> {
    let own: &[_] = match architecture {
        Architecture::Amd64 => &NEEDED_AMD64,
        Architecture::Arm64 => &NEEDED_ARM64,
    };
    NEEDED.iter().chain(own).copied().collect()
}

/// Options that schedulers of sched_ext need.
const SCHED_EXT: &str = "SCHED_CLASS_EXT";
/// Options that Klatch's instruments in BPF need.
const BPF: [&str; 3] = ["BPF_SYSCALL", "BPF_EVENTS", "DEBUG_INFO_BTF"];

/// What a kernel can do in the lab, beyond booting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Schedulers of sched_ext.
    pub sched_ext: bool,
    /// Klatch's instruments in BPF, and traces.
    pub bpf: bool,
}

impl Abilities {
    /// What the text of a configuration says.
    pub fn of(config: &str) -> Abilities {
        Abilities { sched_ext: is_set(config, SCHED_EXT), bpf: BPF.iter().all(|name| is_set(config, name)) }
    }
}

fn is_set(config: &str, name: &str) -> bool {
    let line = format!("CONFIG_{name}=y");
    config.lines().any(|other| other == line)
}

/// Refuses a kernel without what the lab needs.
pub(crate) fn check_options(
    architecture: Architecture,
    release: &str,
    config: &str,
    modules: &Modules,
) -> Result<(), LabError> {
    let lacks = |(name, module): &(&str, Option<&str>)| {
        !is_set(config, name) && !module.is_some_and(|module| modules.has(module))
    };
    let missing: Vec<String> =
        needed(architecture).into_iter().filter(lacks).map(|(name, _)| format!("CONFIG_{name}")).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(LabError::Options { release: release.to_owned(), missing: missing.join(", ") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_an_option_is_refused_by_its_name() {
        for architecture in Architecture::ALL {
            let check = |text: &str| check_options(architecture, "6.1", text, &Modules::default());
            let options = needed(architecture);
            let all: String = options.iter().map(|(name, _)| format!("CONFIG_{name}=y\n")).collect();
            assert!(check(&all).is_ok());
            let module = all.replace("CONFIG_VIRTIO_CONSOLE=y", "CONFIG_VIRTIO_CONSOLE=m");
            let error = check(&module).unwrap_err().to_string();
            assert!(error.contains("6.1") && error.contains("CONFIG_VIRTIO_CONSOLE"), "{error}");
            assert!(!error.contains("CONFIG_NET"), "{error}");
        }
        let error =
            check_options(Architecture::Arm64, "6.1", "", &Modules::default()).unwrap_err().to_string();
        assert!(error.contains("CONFIG_DEVMEM") && !error.contains("8250"), "{error}");
    }

    /// The fragment that users add to their configuration has what is checked.
    #[test]
    fn the_fragment_for_own_kernels_has_every_option() {
        let fragment = include_str!("../../../contrib/lab.config");
        for architecture in Architecture::ALL {
            assert!(check_options(architecture, "own", fragment, &Modules::default()).is_ok());
        }
        assert_eq!(Abilities::of(fragment), Abilities { sched_ext: true, bpf: true });
    }
}
