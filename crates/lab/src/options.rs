//! Options of a kernel's configuration that the lab needs.

use crate::error::LabError;
use crate::modules::Modules;

/// Options without which the machine does not boot or does not answer, and the module that stands for one.
const NEEDED: [(&str, Option<&str>); 17] = [
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
    ("SERIAL_8250_CONSOLE", None),
    ("SYSFS", None),
    ("TMPFS", None),
    ("UNIX", None),
    ("VIRTIO_CONSOLE", Some("virtio_console")),
    ("VIRTIO_PCI", Some("virtio_pci")),
    ("X86_IOPL_IOPERM", None),
];

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
pub(crate) fn check_options(release: &str, config: &str, modules: &Modules) -> Result<(), LabError> {
    let lacks = |(name, module): &&(&str, Option<&str>)| {
        !is_set(config, name) && !module.is_some_and(|module| modules.has(module))
    };
    let missing: Vec<String> =
        NEEDED.iter().filter(lacks).map(|(name, _)| format!("CONFIG_{name}")).collect();
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
        let all: String = NEEDED.iter().map(|(name, _)| format!("CONFIG_{name}=y\n")).collect();
        assert!(check_options("6.1", &all, &Modules::default()).is_ok());
        let module = all.replace("CONFIG_VIRTIO_CONSOLE=y", "CONFIG_VIRTIO_CONSOLE=m");
        let error = check_options("6.1", &module, &Modules::default()).unwrap_err().to_string();
        assert!(error.contains("6.1") && error.contains("CONFIG_VIRTIO_CONSOLE"), "{error}");
        assert!(!error.contains("CONFIG_NET"), "{error}");
    }

    /// The fragment that users add to their configuration has what is checked.
    #[test]
    fn the_fragment_for_own_kernels_has_every_option() {
        let fragment = include_str!("../../../contrib/lab.config");
        assert!(check_options("own", fragment, &Modules::default()).is_ok());
        assert_eq!(Abilities::of(fragment), Abilities { sched_ext: true, bpf: true });
    }
}
