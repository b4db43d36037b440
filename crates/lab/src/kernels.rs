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
    /// The Debian package of the image and the modules.
    package: Package,
    /// That of the configuration, if it is another one.
    config_package: Option<Package>,
    /// A timestamp of snapshot.debian.org that contains them.
    snapshot: &'static str,
    /// The image of the kernel.
    pub(crate) image: Part,
    /// Its configuration.
    pub(crate) config: Part,
    /// Modules that can be loaded, each after those that it needs.
    pub(crate) modules: &'static [Part],
}

/// A Debian package, pinned by checksum.
#[derive(Debug)]
pub(crate) struct Package {
    /// Its path below a mirror's address.
    path: &'static str,
    /// Exact size.
    pub(crate) bytes: u64,
    /// SHA-256.
    pub(crate) sha256: &'static str,
}

/// A file of a package, pinned by checksum.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its name up to what differs between packages: `vmlinuz`, `tls`.
    pub(crate) name: &'static str,
    /// SHA-256 of the file.
    pub(crate) sha256: &'static str,
}

/// Name of the kernel in a package.
const IMAGE: &str = "vmlinuz";
/// Name of the configuration in a package.
const CONFIG: &str = "config";

static ALL: [Kernel; 4] = [
    Kernel {
        name: "6.18",
        architecture: Architecture::Amd64,
        version: "6.18.15+deb13-cloud-amd64",
        package: Package {
            path: "pool/main/l/linux-signed-amd64/linux-image-6.18.15%2Bdeb13-cloud-amd64_6.18.15-1~bpo13%2B1_amd64.deb",
            bytes: 49_146_196,
            sha256: "5a507681ea8c978d02265a7fec2f02c9588fb48b54b7f71edc1059e86007f3ec",
        },
        config_package: None,
        snapshot: "20261122T000000Z",
        image: Part {
            name: IMAGE,
            sha256: "fb44deb1b865c78a7157fc6da7e9da7be5e253e056d229b54ba90d13d6df525f",
        },
        config: Part {
            name: CONFIG,
            sha256: "0e893470f02551209e9dfbde55e314ba912a3a37540246574213275a2c52b8b9",
        },
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
        package: Package {
            path: "pool/main/l/linux-signed-amd64/linux-binary-7.2.13%2Bdeb14-cloud-amd64_7.2.13-1_amd64.deb",
            bytes: 13_717_736,
            sha256: "03e41f1c34c16583462f029e81944a85ebcdb78098c258dedfa1cfdd680a27f8",
        },
        config_package: Some(Package {
            path: "pool/main/l/linux/linux-base-7.2.13%2Bdeb14-cloud-amd64_7.2.13-1_amd64.deb",
            bytes: 417_436,
            sha256: "c41b217e1a4e321f5eff028e965ea25f5da8a74cd3683ca7f4bacedc59e0ecc5",
        }),
        snapshot: "20261122T000000Z",
        image: Part {
            name: IMAGE,
            sha256: "a1423b5059ed5c2ea8b0391f4cce75572382016d4d431454d92de37b86fe8e72",
        },
        config: Part {
            name: CONFIG,
            sha256: "49c0b268c61100a59b14a8713b60a4fc7e95d53edbf5b092bf406f09fdf20db5",
        },
        modules: &[],
    },
    Kernel {
        name: "6.18",
        architecture: Architecture::Arm64,
        version: "6.18.15+deb13-cloud-arm64",
        package: Package {
            path: "pool/main/l/linux-signed-arm64/linux-image-6.18.15%2Bdeb13-cloud-arm64_6.18.15-1~bpo13%2B1_arm64.deb",
            bytes: 27_618_032,
            sha256: "d8769e7a5cd50d504354c1bb13d92becb004178ed1195e575d5680e33cb84c30",
        },
        config_package: None,
        snapshot: "20261122T000000Z",
        image: Part {
            name: IMAGE,
            sha256: "45748945c89cd3125af18733343bcdba500fb0cb3d5b9cf2a385ff9f88579a34",
        },
        config: Part {
            name: CONFIG,
            sha256: "920d24778f1ed85883b1b794401e70a565db2289de20627bd6f57d9c0af0dc44",
        },
        modules: &[],
    },
    Kernel {
        name: "7.2",
        architecture: Architecture::Arm64,
        version: "7.2.13+deb14-cloud-arm64",
        package: Package {
            path: "pool/main/l/linux-signed-arm64/linux-binary-7.2.13%2Bdeb14-cloud-arm64_7.2.13-1_arm64.deb",
            bytes: 10_181_552,
            sha256: "6468b94955d8b5e8a2b3b36a826851ad0aa431c7340f6401e20b065dc08e4f5d",
        },
        config_package: Some(Package {
            path: "pool/main/l/linux/linux-base-7.2.13%2Bdeb14-cloud-arm64_7.2.13-1_arm64.deb",
            bytes: 1_657_088,
            sha256: "da2305e9c9864712159da53bcf077a08a63d863aab030e7805dd0138adf9b273",
        }),
        snapshot: "20261122T000000Z",
        image: Part {
            name: IMAGE,
            sha256: "4e6f31fda800ddb26bbe1646780608a59c500c6938878ec243ffa10f9679f331",
        },
        config: Part {
            name: CONFIG,
            sha256: "c74b518dfb1a96bd94388ecfe46fbb0a92afcf8cbb88325afa8d484e2503eac6",
        },
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

    /// The package that has this part.
    pub(crate) fn package_of(&self, part: &Part) -> &Package {
        self.config_package.as_ref().filter(|_| part.name == CONFIG).unwrap_or(&self.package)
    }

    /// All parts of a package that are used.
    pub(crate) fn parts_of(&self, package: &Package) -> impl Iterator<Item = &Part> {
        let all = [&self.image, &self.config].into_iter().chain(self.modules);
        all.filter(move |part| std::ptr::eq(self.package_of(part), package))
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

    /// Addresses of a package: `mirror` first, which drops it some day, then the permanent archive.
    pub(crate) fn urls(&self, package: &Package, mirror: Option<&str>) -> Vec<String> {
        let on_mirror = mirror.map(|mirror| format!("{mirror}/{}", package.path));
        let archived =
            format!("http://snapshot.debian.org/archive/debian/{}/{}", self.snapshot, package.path);
        on_mirror.into_iter().chain([archived]).collect()
    }
}
