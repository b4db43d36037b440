//! The architectures that the lab emulates.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// An architecture, under the name that Debian gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Architecture {
    /// x86-64.
    #[cfg_attr(not(target_arch = "aarch64"), default)]
    Amd64,
    /// 64-bit Arm.
    #[cfg_attr(target_arch = "aarch64", default)]
    Arm64,
}

/// What differs between architectures.
struct Facts {
    name: &'static str,
    /// As `uname -m` prints it.
    machine: &'static str,
    qemu: &'static str,
    qemu_package: &'static str,
    /// Machine and CPU of QEMU.
    hardware: [&'static str; 2],
    console: &'static str,
    /// Parameters of the kernel that other architectures do not have.
    parameters: &'static str,
    /// Number of the architecture in the header of a program.
    elf_machine: u16,
}

static AMD64: Facts = Facts {
    name: "amd64",
    machine: "x86_64",
    qemu: "qemu-system-x86_64",
    qemu_package: "qemu-system-x86",
    hardware: ["q35", "max"],
    console: "ttyS0",
    parameters: " tsc=reliable",
    elf_machine: 62,
};

/// A core that servers have, and caches of which are known. QEMU's `max` has extensions that no server has together.
static ARM64: Facts = Facts {
    name: "arm64",
    machine: "aarch64",
    qemu: "qemu-system-aarch64",
    qemu_package: "qemu-system-arm",
    hardware: ["virt,gic-version=3", "neoverse-n1"],
    console: "ttyAMA0",
    parameters: "",
    elf_machine: 183,
};

impl Architecture {
    /// Every architecture.
    pub const ALL: [Architecture; 2] = [Architecture::Amd64, Architecture::Arm64];

    fn facts(self) -> &'static Facts {
        match self {
            Architecture::Amd64 => &AMD64,
            Architecture::Arm64 => &ARM64,
        }
    }

    /// The name of a kernel's version, and the architecture behind it: `6.18:arm64`, or `6.18.15+deb13-cloud-arm64`. Without one, that of
    /// this program.
    pub(crate) fn split(name: &str) -> (&str, Architecture) {
        let of = |separator| {
            let (version, end) = name.rsplit_once(separator)?;
            Some((version, end.parse::<Architecture>().ok()?))
        };
        match (of(':'), of('-')) {
            (Some(both), _) => both,
            (None, Some((_, architecture))) => (name, architecture),
            (None, None) => (name, Architecture::default()),
        }
    }

    /// The architecture of the kernel that has this name.
    pub fn of_kernel_name(name: &str) -> Architecture {
        Architecture::split(name).1
    }

    /// The name of a kernel of this architecture, which [`Architecture::split`] splits again.
    pub fn kernel_name(self, version: &str) -> String {
        match Architecture::split(version).1 == self {
            true => version.to_owned(),
            false => format!("{version}:{self}"),
        }
    }

    /// QEMU's program for it.
    pub(crate) fn qemu(self) -> &'static str {
        self.facts().qemu
    }

    /// Arguments of QEMU for the machine and its CPU.
    pub(crate) fn hardware(self) -> [&'static str; 4] {
        let [machine, cpu] = self.facts().hardware;
        ["-M", machine, "-cpu", cpu]
    }

    /// Parameters of the kernel that every machine has.
    pub(crate) fn parameters(self) -> String {
        let Facts { console, parameters, .. } = self.facts();
        format!(
            "console={console} panic=-1 quiet nokaslr norandmaps mitigations=off{parameters} random.trust_cpu=off"
        )
    }

    /// The Debian package that has it.
    pub(crate) fn qemu_package(self) -> &'static str {
        self.facts().qemu_package
    }

    /// Folders of libraries of it, on a machine of any architecture.
    pub(crate) fn library_folders(self) -> [PathBuf; 2] {
        ["/lib", "/usr/lib"]
            .map(|folder| Path::new(folder).join(format!("{}-linux-gnu", self.facts().machine)))
    }

    /// The architecture of a program, by its header; `None` for a file that is none, or of another architecture.
    pub(crate) fn of_program(file: &[u8]) -> Option<Architecture> {
        let machine = u16::from_le_bytes(*file.strip_prefix(b"\x7fELF\x02\x01")?.get(12..)?.first_chunk()?);
        Architecture::ALL.into_iter().find(|one| one.facts().elf_machine == machine)
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().name)
    }
}

impl FromStr for Architecture {
    type Err = String;

    fn from_str(name: &str) -> Result<Architecture, String> {
        let found = Architecture::ALL.into_iter().find(|one| one.facts().name == name);
        found.ok_or_else(|| {
            let names = Architecture::ALL.map(|one| one.facts().name);
            format!("the lab emulates {}, and not {name}", names.join(" and "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_kernel_has_its_architecture() {
        use Architecture::{Amd64, Arm64};
        assert_eq!(Architecture::split("6.18:arm64"), ("6.18", Arm64));
        assert_eq!(Architecture::split("6.18:amd64"), ("6.18", Amd64));
        assert_eq!(Architecture::split("6.18.15+deb13-cloud-arm64"), ("6.18.15+deb13-cloud-arm64", Arm64));
        assert_eq!(Architecture::split("6.18"), ("6.18", Architecture::default()));
        assert_eq!(Architecture::split("6.18:sparc"), ("6.18:sparc", Architecture::default()));
        for architecture in Architecture::ALL {
            let name = architecture.kernel_name("6.18");
            assert_eq!(Architecture::split(&name), ("6.18", architecture));
        }
        assert_eq!(Arm64.kernel_name("7.3-cloud-arm64"), "7.3-cloud-arm64");
        assert!("sparc".parse::<Architecture>().unwrap_err().contains("amd64 and arm64"));
    }

    #[test]
    fn a_program_has_its_architecture_in_its_header() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(Architecture::of_program(&own), Some(Architecture::default()));
        assert_eq!(Architecture::of_program(b"#!/bin/sh\n"), None);
        let mut other = own[..64].to_vec();
        other[18..20].copy_from_slice(&[8, 0]);
        assert_eq!(Architecture::of_program(&other), None, "MIPS");
    }
}
