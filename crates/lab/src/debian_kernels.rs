//! Kernels of Debian's suites, got by apt, which checks the signatures of the archive.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_host::privileges::{Program, cache_folder, temporary_folder};

use crate::architecture::Architecture;
use crate::boot_kernel::{BootKernel, from_packages, is_of_series, version_key};
use crate::debian_mirror::debian_mirror;
use crate::error::LabError;
use crate::preparing::{Preparing, watched};

/// Suites whose kernels are offered. A mirror need not have all.
const SUITES: [&str; 8] = [
    "bullseye",
    "bookworm",
    "bookworm-backports",
    "trixie",
    "trixie-backports",
    "forky",
    "sid",
    "experimental",
];
/// The keys that sign them, under the names that the package has given the file.
const KEYRINGS: [&str; 2] =
    ["/usr/share/keyrings/debian-archive-keyring.pgp", "/usr/share/keyrings/debian-archive-keyring.gpg"];
/// The flavour whose drivers are few, without its architecture: its packages are small, and boot quickly.
const FLAVOUR: &str = "cloud";
/// What the name of a kernel's package begins with.
const IMAGE: &str = "linux-image-";
/// Parts of a newer kernel, each a package of its own.
const PARTS: [&str; 3] = ["linux-base-", "linux-binary-", "linux-modules-"];
/// Longest time in which apt reads the lists of all suites, or loads the packages of a kernel: 50 MB at 85 kB/s.
const APT_TIMEOUT: Duration = Duration::from_secs(600);

/// apt with lists of its own, which leaves the machine's as they are and needs no root.
pub struct DebianKernels {
    folder: PathBuf,
    architecture: Architecture,
}

impl DebianKernels {
    /// Reads the lists of the suites for an architecture, of which those that have not changed are kept. `progress` receives a line before.
    ///
    /// # Errors
    /// There is no apt, mirror or key, or no suite could be read.
    pub fn read(
        architecture: Architecture,
        progress: impl Fn(Preparing<'_>),
    ) -> Result<DebianKernels, LabError> {
        let apt = |cause: &str| LabError::Apt { cause: cause.to_owned() };
        let mirror = debian_mirror()
            .ok_or_else(|| apt("apt has no Debian mirror here; set DEBIAN_MIRROR to the address of one"))?;
        let keys = KEYRINGS.iter().find(|path| Path::new(path).exists());
        let keys = keys.ok_or_else(|| apt("there are no keys; apt-get install debian-archive-keyring"))?;
        let folder = cache_folder()?.subfolder(match architecture {
            Architecture::Amd64 => "apt",
            Architecture::Arm64 => "apt-arm64",
        })?;
        for name in ["lists", "cache"] {
            folder.subfolder(name)?.subfolder("partial")?;
        }
        let sources: String =
            SUITES.iter().map(|suite| format!("deb [signed-by={keys}] {mirror} {suite} main\n")).collect();
        for (name, text) in [("sources.list", sources.as_str()), ("status", "")] {
            let failed = |source| LabError::file("write", &folder.path().join(name), source);
            folder.write(name, text.as_bytes()).map_err(failed)?;
        }
        progress(Preparing::Work("reading which kernels Debian has"));
        let kernels = DebianKernels { folder: folder.path().to_owned(), architecture };
        let updated = kernels.apt("apt-get", None, &["update"]);
        // A mirror without one of the suites is an error of apt's, which has read the others.
        match (kernels.releases(), updated) {
            (Ok(releases), _) if !releases.is_empty() => Ok(kernels),
            (_, Err(error)) | (Err(error), _) => Err(error),
            _ => Err(apt("its lists have no kernel")),
        }
    }

    /// The versions that there are, oldest first.
    ///
    /// # Errors
    /// apt cannot read its lists.
    pub fn releases(&self) -> Result<Vec<String>, LabError> {
        let pattern = format!("^linux-(image|base|binary|modules)-[0-9].*-{FLAVOUR}-{}$", self.architecture);
        Ok(complete(&self.apt("apt-cache", None, &["search", "--names-only", &pattern])?))
    }

    /// Gets the newest release of a version, such as `6.12` or `7.3.4:arm64`, and unpacks it into the cache.
    ///
    /// # Errors
    /// Debian has none, or it cannot be downloaded or used.
    pub fn get(&self, version: &str, progress: impl Fn(Preparing<'_>)) -> Result<BootKernel, LabError> {
        let releases = self.releases()?;
        let (version, _) = Architecture::split(version);
        let release = releases.iter().rfind(|release| is_of_series(release, version)).ok_or_else(|| {
            let series = newest_of_each_series(&releases);
            LabError::Apt {
                cause: format!("it has no kernel {version}; the newest are {}", series.join(", ")),
            }
        })?;
        let package = format!("{IMAGE}{release}");
        let shown = self.apt("apt-cache", None, &["show", "--no-all-versions", &package])?;
        let mut packages = vec![package];
        packages.extend(parts(&shown, release));
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        let listed =
            self.apt("apt-get", None, &[&["download", "--print-uris"], packages.as_slice()].concat())?;
        let what = format!("downloading {}", packages.join(", "));
        progress(Preparing::Download { what: &what, bytes: bytes_of(&listed) });
        let to =
            temporary_folder().map_err(|source| LabError::file("write to", &std::env::temp_dir(), source))?;
        let received = |bytes| progress(Preparing::Received(bytes));
        let words = [&["download"], packages.as_slice()].concat();
        watched(to.path(), received, || self.apt("apt-get", Some(to.path()), &words))?;
        let entries = std::fs::read_dir(to.path());
        let entries = entries.map_err(|source| LabError::file("read", to.path(), source))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        from_packages(&files, progress)
    }

    /// Runs a command of apt on its own lists, and returns what it prints.
    fn apt(&self, program: &str, folder: Option<&Path>, words: &[&str]) -> Result<String, LabError> {
        let at = |name: &str| self.folder.join(name).display().to_string();
        let mut apt = Program::new(program);
        for option in [
            format!("Dir::Etc::SourceList={}", at("sources.list")),
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            format!("Dir::State::Lists={}", at("lists")),
            format!("Dir::State::Status={}", at("status")),
            format!("Dir::Cache={}", at("cache")),
            format!("APT::Architecture={}", self.architecture),
            format!("APT::Architectures={}", self.architecture),
            // The folders are private, so its own user could not write to them.
            "APT::Sandbox::User=".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false".to_owned(),
        ] {
            apt.arg("-o").arg(option);
        }
        if let Some(folder) = folder {
            apt.current_dir(folder);
        }
        let failed = |cause: String| LabError::Apt { cause: format!("{program}: {cause}") };
        let output = apt.args(words).output_within(APT_TIMEOUT).map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; "))),
        }
    }
}

/// The size of all files in the output of `apt-get download --print-uris`: `'ADDRESS' NAME BYTES SHA512:…`.
fn bytes_of(listed: &str) -> Option<u64> {
    listed.lines().map(|line| line.split(' ').nth(2)?.parse::<u64>().ok()).sum()
}

/// The releases in a list of packages that have all of their parts, oldest first. A mirror drops the parts of a superseded kernel at different
/// times.
fn complete(listed: &str) -> Vec<String> {
    let names: BTreeSet<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    let has = |part: &str, release: &str| names.contains(format!("{part}{release}").as_str());
    let is_complete = |release: &&str| {
        PARTS.iter().all(|part| has(part, release)) || !PARTS.iter().any(|part| has(part, release))
    };
    let releases = names.iter().filter_map(|name| name.strip_prefix(IMAGE)).filter(is_complete);
    let mut all: Vec<String> = releases.map(str::to_owned).collect();
    all.sort_by_key(|release| version_key(release));
    all
}

/// The newest release of each series: of 6.12, of 6.18 and so on.
pub fn newest_of_each_series(releases: &[String]) -> Vec<String> {
    let series = |release: &String| version_key(release).into_iter().take(2).collect::<Vec<_>>();
    let is_last = |(index, release): &(usize, &String)| {
        releases.get(index + 1).is_none_or(|next| series(next) != series(release))
    };
    releases.iter().enumerate().filter(is_last).map(|(_, release)| release.clone()).collect()
}

/// The packages among the dependencies of a kernel that are parts of it.
fn parts(shown: &str, release: &str) -> Vec<String> {
    let depends = shown.lines().find_map(|line| line.strip_prefix("Depends: ")).unwrap_or_default();
    let names = depends.split(',').filter_map(|one| one.trim().split(' ').next());
    let is_part = |name: &&str| PARTS.iter().any(|part| name.strip_prefix(part) == Some(release));
    names.filter(is_part).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_kernel_are_among_its_dependencies() {
        let shown = "Package: linux-image-7.0.13\nDepends: dracut | initramfs-tools (>= 0.120), linux-base-7.0.13 (= 7.0.13-1), \
                     linux-binary-7.0.13 (= 7.0.13-1), linux-modules-7.0.13 (= 7.0.13-1), linux-base-9\n";
        assert_eq!(
            parts(shown, "7.0.13"),
            ["linux-base-7.0.13", "linux-binary-7.0.13", "linux-modules-7.0.13"]
        );
        assert!(parts("Depends: kmod, linux-base (>= 4.3~)\n", "6.1.0-50").is_empty());
    }

    #[test]
    fn a_kernel_of_which_a_part_is_gone_is_not_offered() {
        let listed = "linux-binary-7.1 - Linux\nlinux-image-7.1 - Linux\nlinux-image-6.1.0-50 - Linux\nlinux-image-7.3 - x\n\
                      linux-base-7.3 - x\nlinux-binary-7.3 - x\nlinux-modules-7.3 - x\nlinux-base-7.4 - x\n";
        assert_eq!(complete(listed), ["6.1.0-50", "7.3"]);
    }

    #[test]
    fn the_newest_of_each_series_is_its_last() {
        let releases = ["5.10.0-30-a", "5.10.0-32-a", "6.1.0-50-a", "6.12.95+deb12-a", "6.12.107+deb13-a"];
        let releases = releases.map(str::to_owned);
        assert_eq!(newest_of_each_series(&releases), ["5.10.0-32-a", "6.1.0-50-a", "6.12.107+deb13-a"]);
    }
}
