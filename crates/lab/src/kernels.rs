//! The kernels that are pinned: Debian's, with everything built in that the lab needs.

/// A kernel, to the last bit.
#[derive(Debug)]
pub struct Kernel {
    /// By which it is asked for: `6.18`.
    pub name: &'static str,
    /// Its full version.
    pub version: &'static str,
    /// The Debian package, below a mirror's `debian/`.
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
    Kernel {
        name: "7.2",
        version: "7.2.12+deb13-cloud-amd64",
        package: "pool/main/l/linux-signed-amd64/linux-binary-7.2.12%2Bdeb13-cloud-amd64_7.2.12-1~bpo13%2B1_amd64.deb",
        snapshot: "20261122T000000Z",
        package_bytes: 13_389_360,
        package_sha256: "aa6720823145e351d3c817c95fe58d89995a2bcba4978ad2418c36a1c272f795",
        kernel_sha256: "4823b07f21f64c616c78f26634434d4ddf0a9b6bc5db119e149ff35c79718efd",
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

    /// Where the package is: Debian's mirrors as long as they have it, then the archive that keeps everything.
    pub(crate) fn urls(&self) -> [String; 2] {
        [
            format!("http://deb.debian.org/debian/{}", self.package),
            format!("http://snapshot.debian.org/archive/debian/{}/{}", self.snapshot, self.package),
        ]
    }
}
