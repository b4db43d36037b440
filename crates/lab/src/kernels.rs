//! The pinned kernels: Debian's cloud kernels, which have all drivers of the lab built in, and a few modules of them.

use crate::error::LabError;

/// A kernel, pinned by checksum.
#[derive(Debug)]
pub struct Kernel {
    /// Short name for `--kernel` and study files: `6.18`.
    pub name: &'static str,
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

static ALL: [Kernel; 2] = [
    Kernel {
        name: "6.18",
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
];

impl Kernel {
    /// Every pinned kernel; the first is the default.
    pub fn all() -> &'static [Kernel] {
        &ALL
    }

    /// The kernel with this short name or full version.
    pub fn find(name: &str) -> Option<&'static Kernel> {
        ALL.iter().find(|kernel| kernel.name == name || kernel.version == name)
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
        let no_module =
            || LabError::NoModule { name: name.to_owned(), kernel: self.name.to_owned(), known: known() };
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
