//! The name of the CPU, on any architecture.

use std::fs::read_to_string;
use std::path::Path;

/// Fields of `/proc/cpuinfo` with a name: of x86, newer RISC-V and some Arm; LoongArch; Power; MIPS; older RISC-V; SPARC.
const NAMES: [&str; 6] = ["model name", "Model Name", "cpu", "cpu model", "uarch", "cpu type"];
/// Fields of an Arm core, which has numbers.
const ARM: [&str; 4] = ["CPU implementer", "CPU part", "CPU variant", "CPU revision"];

/// Arm cores of servers: implementer, part and name.
const ARM_CORES: [(&str, &str, &str); 18] = [
    ("0x41", "0xd03", "Arm Cortex-A53"),
    ("0x41", "0xd07", "Arm Cortex-A57"),
    ("0x41", "0xd08", "Arm Cortex-A72"),
    ("0x41", "0xd09", "Arm Cortex-A73"),
    ("0x41", "0xd0b", "Arm Cortex-A76"),
    ("0x41", "0xd0c", "Arm Neoverse-N1"),
    ("0x41", "0xd40", "Arm Neoverse-V1"),
    ("0x41", "0xd49", "Arm Neoverse-N2"),
    ("0x41", "0xd4f", "Arm Neoverse-V2"),
    ("0x41", "0xd83", "Arm Neoverse-V3AE"),
    ("0x41", "0xd84", "Arm Neoverse-V3"),
    ("0x41", "0xd8e", "Arm Neoverse-N3"),
    ("0x46", "0x001", "Fujitsu A64FX"),
    ("0x48", "0xd01", "HiSilicon TaiShan v110"),
    ("0x48", "0xd02", "HiSilicon TaiShan v120"),
    ("0x43", "0x0af", "Cavium ThunderX2"),
    ("0xc0", "0xac3", "Ampere-1"),
    ("0xc0", "0xac4", "Ampere-1a"),
];

/// The name of the first CPU of the machine whose files are below `root`; `None` if the kernel does not tell.
pub(crate) fn cpu_model_in(root: &Path) -> Option<String> {
    let text = read_to_string(root.join("proc/cpuinfo")).ok()?;
    let field = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    let named = NAMES.iter().find_map(|name| field(name));
    named.or_else(|| s390(&field, &text)).or_else(|| arm(ARM.map(field)))
}

/// A mainframe has a vendor, and the number of the machine.
fn s390(field: &dyn Fn(&str) -> Option<String>, text: &str) -> Option<String> {
    let vendor = field("vendor_id")?;
    let machine = text.split_once("machine = ")?.1.split(|letter: char| !letter.is_alphanumeric()).next()?;
    Some(format!("{vendor} {machine}"))
}

fn arm([implementer, part, variant, revision]: [Option<String>; 4]) -> Option<String> {
    let (implementer, part) = (implementer?, part?);
    let known =
        ARM_CORES.iter().find(|(by, number, _)| (*by, *number) == (implementer.as_str(), part.as_str()));
    let name = known.map_or_else(
        || format!("Arm core, implementer {implementer}, part {part}"),
        |(.., name)| (*name).to_owned(),
    );
    let variant = variant.and_then(|variant| u32::from_str_radix(variant.trim_start_matches("0x"), 16).ok());
    Some(match (variant, revision) {
        (Some(variant), Some(revision)) => format!("{name} r{variant}p{revision}"),
        _ => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_of_any_architecture_has_a_name() {
        let root = tempfile::tempdir().unwrap();
        let model = |cpuinfo: &str| {
            std::fs::create_dir_all(root.path().join("proc")).unwrap();
            std::fs::write(root.path().join("proc/cpuinfo"), cpuinfo).unwrap();
            cpu_model_in(root.path())
        };
        let arm = |implementer: &str, part: &str| {
            format!(
                "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: {implementer}\nCPU architecture: 8\n\
                 CPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1\n"
            )
        };
        for (cpuinfo, name) in [
            ("processor\t: 0\nmodel\t\t: 106\nmodel name\t: Intel(R) Xeon(R)\n", "Intel(R) Xeon(R)"),
            (&arm("0x41", "0xd0c"), "Arm Neoverse-N1 r3p1"),
            (&arm("0x50", "0x001"), "Arm core, implementer 0x50, part 0x001 r3p1"),
            (
                "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t: 3000MHz\n",
                "POWER9, altivec supported",
            ),
            ("processor\t: 0\nhart\t\t: 1\nisa\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n", "sifive,u74-mc"),
            (
                "vendor_id       : IBM/S390\nprocessor 0: version = FF,  identification = 0133E8,  machine = 3906\n",
                "IBM/S390 3906",
            ),
            ("system type\t: generic\nprocessor\t: 0\nModel Name\t: Loongson-3A5000\n", "Loongson-3A5000"),
        ] {
            assert_eq!(model(cpuinfo).as_deref(), Some(name));
        }
        assert_eq!(model("processor\t: 0\nflags\t:\n"), None);
    }
}
