//! The kernels that are pinned: Debian's, with everything built in that the lab needs.

/// A kernel, to the last bit.
#[derive(Debug)]
pub struct Kernel {
    /// By which it is asked for: `6.18`.
    pub name: &'static str,
    /// Its full version.
    pub version: &'static str,
    /// The Debian package, below a mirror's address.
    package: &'static str,
    /// A moment at which snapshot.debian.org had it.
    snapshot: &'static str,
    /// Bytes of the package.
    pub package_bytes: u64,
    /// Checksum of the package.
    pub package_sha256: &'static str,
    /// Checksum of the kernel in it.
    pub kernel_sha256: &'static str,
}

static ALL: [Kernel; 2] = [
    Kernel {
        name: "6.18",
        version: "6.18.15+deb13-cloud-amd64",
        package: "pool/main/l/linux-signed-amd64/linux-image-6.18.15%2Bdeb13-cloud-amd64_6.18.15-1~bpo13%2B1_amd64.deb",
        snapshot: "20261122T000000Z",
        package_bytes: 49_146_196,
        package_sha256: "5a507681ea8c978d02265a7fec2f02c9588fb48b54b7f71edc1059e86007f3ec",
        kernel_sha256: "fb44deb1b865c78a7157fc6da7e9da7be5e253e056d229b54ba90d13d6df525f",
    },
    // That of unstable, as the build of 7.2.12 for Debian 13 (backports) describes scx_bpf_create_dsq and others with the argument
    // that the verifier itself gives them, and no program can call those.
    Kernel {
        name: "7.2",
        version: "7.2.13+deb14-cloud-amd64",
        package: "pool/main/l/linux-signed-amd64/linux-binary-7.2.13%2Bdeb14-cloud-amd64_7.2.13-1_amd64.deb",
        snapshot: "20261122T000000Z",
        package_bytes: 13_717_736,
        package_sha256: "03e41f1c34c16583462f029e81944a85ebcdb78098c258dedfa1cfdd680a27f8",
        kernel_sha256: "a1423b5059ed5c2ea8b0391f4cce75572382016d4d431454d92de37b86fe8e72",
    },
];

impl Kernel {
    /// All of them.
    pub fn all() -> &'static [Kernel] {
        &ALL
    }

    /// The one of that name or version.
    pub fn find(name: &str) -> Option<&'static Kernel> {
        ALL.iter().find(|kernel| kernel.name == name || kernel.version == name)
    }

    /// Where the package is: on `mirror` as long as mirrors have it, then in the archive that keeps everything.
    pub(crate) fn urls(&self, mirror: Option<&str>) -> Vec<String> {
        let on_mirror = mirror.map(|mirror| format!("{mirror}/{}", self.package));
        let archived =
            format!("http://snapshot.debian.org/archive/debian/{}/{}", self.snapshot, self.package);
        on_mirror.into_iter().chain([archived]).collect()
    }
}
