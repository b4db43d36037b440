//! The pinned kernels: Debian's cloud kernels, which have all drivers of the lab built in, and a few modules of them.

use crate::architecture::Architecture;
use crate::error::LabError;

/// A kernel, pinned by checksum.
#[derive(Debug)]
pub struct Kernel {
    /// Short name for `--kernel` and study files: `6.18`. Kernels of several architectures have the same one.
    name: &'static str,
    /// Its architecture.
    pub architecture: Architecture,
    /// Full version, as `uname -r` prints it.
    pub version: &'static str,
    /// Path of the Debian package below a mirror's address.
    package: &'static str,
    /// A timestamp of snapshot.debian.org that contains it.
    snapshot: &'static str,
    /// Exact size of the package.
    pub package_bytes: u64,
    /// SHA-256 of the package.
    pub package_sha256: &'static str,
    /// The image of the kernel.
    pub(crate) image: Part,
    /// Its configuration; `None` if the package has none.
    pub(crate) config: Option<Part>,
    /// Modules that can be loaded, each after those that it needs.
    pub(crate) modules: &'static [Part],
}

/// A file of the package, pinned by checksum.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its name up to what differs between packages: `vmlinuz`, `tls`.
    pub(crate) name: &'static str,
    /// SHA-256 of the file.
    pub(crate) sha256: &'static str,
}

/// Name of the kernel in a package.
const IMAGE: &str = "vmlinuz";

static ALL: [Kernel; 4] = [
    Kernel {
        name: "6.18",
        architecture: Architecture::Amd64,
        version: "6.18.15+deb13-cloud-amd64",
        package: "pool/main/l/linux-signed-amd64/linux-image-6.18.15%2Bdeb13-cloud-amd64_6.18.15-1~bpo13%2B1_amd64.deb",
        snapshot: "20261122T000000Z",
        package_bytes: 49_146_196,
        package_sha256: "5a507681ea8c978d02265a7fec2f02c9588fb48b54b7f71edc1059e86007f3ec",
        image: Part {
            name: IMAGE,
            sha256: "fb44deb1b865c78a7157fc6da7e9da7be5e253e056d229b54ba90d13d6df525f",
        },
        config: Some(Part {
            name: "config",
            sha256: "0e893470f02551209e9dfbde55e314ba912a3a37540246574213275a2c52b8b9",
        }),
        modules: &[
            Part {
                name: "aesni-intel",
                sha256: "a5daac8efac61b81dab34dddb5a7afca830bcdab0d909905505569aa671e6495",
            },
            Part { name: "tls", sha256: "d9183ca3f5310dffe4bcbc38bfd9e90fa12f3e2334874f5ec9a105dd8be11204" },
        ],
    },
    // From unstable: in the backport of 7.2.12 for Debian 13, BTF lists an argument of scx_bpf_create_dsq and others that the
    // verifier adds itself, so no program can call them.
    Kernel {
        name: "7.2",
        architecture: Architecture::Amd64,
        version: "7.2.13+deb14-cloud-amd64",
        package: "pool/main/l/linux-signed-amd64/linux-binary-7.2.13%2Bdeb14-cloud-amd64_7.2.13-1_amd64.deb",
        snapshot: "20261122T000000Z",
        package_bytes: 13_717_736,
        package_sha256: "03e41f1c34c16583462f029e81944a85ebcdb78098c258dedfa1cfdd680a27f8",
        image: Part {
            name: IMAGE,
            sha256: "a1423b5059ed5c2ea8b0391f4cce75572382016d4d431454d92de37b86fe8e72",
        },
        config: None,
        modules: &[],
    },
    Kernel {
        name: "6.18",
        architecture: Architecture::Arm64,
        version: "6.18.15+deb13-cloud-arm64",
        package: "pool/main/l/linux-signed-arm64/linux-image-6.18.15%2Bdeb13-cloud-arm64_6.18.15-1~bpo13%2B1_arm64.deb",
        snapshot: "20261122T000000Z",
        package_bytes: 27_618_032,
        package_sha256: "d8769e7a5cd50d504354c1bb13d92becb004178ed1195e575d5680e33cb84c30",
        image: Part {
            name: IMAGE,
            sha256: "45748945c89cd3125af18733343bcdba500fb0cb3d5b9cf2a385ff9f88579a34",
        },
        config: Some(Part {
            name: "config",
            sha256: "920d24778f1ed85883b1b794401e70a565db2289de20627bd6f57d9c0af0dc44",
        }),
        modules: &[],
    },
    Kernel {
        name: "7.2",
        architecture: Architecture::Arm64,
        version: "7.2.13+deb14-cloud-arm64",
        package: "pool/main/l/linux-signed-arm64/linux-binary-7.2.13%2Bdeb14-cloud-arm64_7.2.13-1_arm64.deb",
        snapshot: "20261122T000000Z",
        package_bytes: 10_181_552,
        package_sha256: "6468b94955d8b5e8a2b3b36a826851ad0aa431c7340f6401e20b065dc08e4f5d",
        image: Part {
            name: IMAGE,
            sha256: "4e6f31fda800ddb26bbe1646780608a59c500c6938878ec243ffa10f9679f331",
        },
        config: None,
        modules: &[],
    },
];

impl Kernel {
    /// Every pinned kernel.
    pub fn all() -> &'static [Kernel] {
        &ALL
    }

    /// The kernel with this short name, which has an architecture behind it unless that is this program's, or full version.
    pub fn find(name: &str) -> Option<&'static Kernel> {
        let (version, architecture) = Architecture::split(name);
        let is_meant = |kernel: &&Kernel| {
            kernel.architecture == architecture && (kernel.name == version || kernel.version == version)
        };
        ALL.iter().find(is_meant)
    }

    /// Its name for `--kernel` and study files: `6.18`, `6.18:arm64`.
    pub fn name(&self) -> String {
        self.architecture.kernel_name(self.name)
    }

    /// All parts of the package that are used.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.image).chain(&self.config).chain(self.modules)
    }

    /// The module with this name, after the modules that it may need.
    ///
    /// # Errors
    /// The kernel has no such module here.
    pub(crate) fn modules_for(&self, name: &str) -> Result<&'static [Part], LabError> {
        let last = self.modules.iter().position(|module| module.name == name);
        let names: Vec<_> = self.modules.iter().map(|module| module.name).collect();
        let known = || match names.is_empty() {
            true => "it has none".to_owned(),
            false => format!("it has {}", names.join(", ")),
        };
        let no_module = || LabError::NoModule { name: name.to_owned(), kernel: self.name(), known: known() };
        let last = last.ok_or_else(no_module)?;
        Ok(&self.modules[..=last])
    }

    /// Addresses of the package: `mirror` first, which drops it some day, then the permanent archive.
    pub(crate) fn urls(&self, mirror: Option<&str>) -> Vec<String> {
        let on_mirror = mirror.map(|mirror| format!("{mirror}/{}", self.package));
        let archived =
            format!("http://snapshot.debian.org/archive/debian/{}/{}", self.snapshot, self.package);
        on_mirror.into_iter().chain([archived]).collect()
    }
}
