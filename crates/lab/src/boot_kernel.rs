//! The kernel of a boot: a pinned one, one of Debian's that was fetched, or a file of the user's.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use klatch_host::privileges::{
    PrivateFolder, cache_folder, check_manifest, sha256_hex, temporary_folder_in, write_manifest,
};

use klatch_schedulers::SchedulerSpec;

use crate::architecture::Architecture;
use crate::download::{kernel_config, kernel_file, module_files};
use crate::error::LabError;
use crate::image::Image;
use crate::kernels::Kernel;
use crate::modules::{Modules, name_of};
use crate::options::check_options;
use crate::package::each_file;
use crate::preparing::Preparing;
use crate::programs::require_programs;

/// Folder of unpacked kernels in the cache.
const UNPACKED: &str = "kernels";
/// Names of the files of an unpacked kernel.
const IMAGE: &str = "vmlinuz";
const CONFIG: &str = "config";
/// The checksums of the packages that it is from.
const SUMS: &str = "packages.sha256";
/// Modules that carry the answer, where they are not built in.
const DRIVERS: [&str; 2] = ["virtio_pci", "virtio_console"];

/// A kernel, ready to boot.
#[derive(Clone, Debug)]
pub struct BootKernel {
    /// Its version, as `uname -r` prints it.
    pub release: String,
    /// Its architecture, and so that of the machine and its programs.
    pub architecture: Architecture,
    /// Path of its image: bzImage, or Image on arm64.
    pub image: PathBuf,
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    Pinned(&'static Kernel),
    Files {
        /// Text of its configuration.
        config: Option<Vec<u8>>,
        modules: Modules,
    },
}

impl BootKernel {
    /// The kernel that `name` means: a pinned one (`6.18`, `6.18:arm64`), one that was fetched from Debian (`6.12`,
    /// `7.3.4+deb13-cloud-amd64`), or a file: a Debian package, or an image such as `arch/x86/boot/bzImage`, whose modules are in `modules` (`…/lib/modules/RELEASE`). `progress`
    /// receives a line before a download.
    ///
    /// # Errors
    /// There is no such kernel, or it lacks what the lab needs.
    pub fn find(
        name: &str,
        modules: Option<&Path>,
        progress: impl Fn(Preparing<'_>),
    ) -> Result<BootKernel, LabError> {
        let path = Path::new(name);
        let is_package = path.extension().is_some_and(|end| end == "deb");
        if modules.is_some() && (!is_path(name) || is_package) {
            return Err(LabError::OwnModules { name: name.to_owned() });
        }
        Ok(if let Some(pinned) = Kernel::find(name) {
            let image = kernel_file(pinned, progress)?;
            BootKernel {
                release: pinned.version.to_owned(),
                architecture: pinned.architecture,
                image,
                origin: Origin::Pinned(pinned),
            }
        } else if is_path(name) {
            match is_package {
                true => from_packages(&[path.to_owned()], progress)?,
                false => from_image(path, modules)?,
            }
        } else {
            let folder = fetched()?.into_iter().rfind(|one| one.is_named(name));
            from_folder(&folder.ok_or_else(|| no_kernel(name))?.folder)?
        })
    }

    /// As [`BootKernel::find`], after a check that machines of its architecture can be booted here.
    ///
    /// # Errors
    /// As those of [`BootKernel::find`] and [`require_programs`].
    pub fn find_bootable(
        name: &str,
        modules: Option<&Path>,
        progress: impl Fn(Preparing<'_>),
    ) -> Result<BootKernel, LabError> {
        require_programs(Architecture::of_kernel_name(name))?;
        BootKernel::find(name, modules, progress)
    }

    /// Whether a name has the form of a version, and so is no file.
    pub fn is_version(name: &str) -> bool {
        name.starts_with(|c: char| c.is_ascii_digit()) && !is_path(name)
    }

    /// Checks that there is such a kernel, without a download.
    ///
    /// # Errors
    /// There is none.
    pub fn check(name: &str) -> Result<(), LabError> {
        let is_there = match is_path(name) {
            true => Path::new(name).is_file(),
            false => Kernel::find(name).is_some() || fetched()?.iter().any(|one| one.is_named(name)),
        };
        if is_there { Ok(()) } else { Err(no_kernel(name)) }
    }

    /// Adds to an image what the kernel needs in the machine: the drivers that are modules, and the modules `names`.
    ///
    /// # Errors
    /// A module does not exist or cannot be read.
    pub fn add_modules(
        &self,
        image: &mut Image,
        names: &[String],
        progress: impl Fn(Preparing<'_>),
    ) -> Result<(), LabError> {
        let mut add = |all: Vec<Vec<u8>>| all.into_iter().for_each(|module| image.add_module(module));
        match &self.origin {
            Origin::Pinned(pinned) => {
                for name in names {
                    add(module_files(pinned, name, &progress)?);
                }
            }
            Origin::Files { modules, .. } => {
                if let Some(name) = names.iter().find(|name| !modules.has(name)) {
                    return Err(LabError::NoModule {
                        name: name.clone(),
                        kernel: self.release.clone(),
                        known: "it may be built in".to_owned(),
                    });
                }
                add(modules.with_needed(DRIVERS.into_iter().chain(names.iter().map(String::as_str)))?);
            }
        }
        Ok(())
    }

    /// Adds the kernel's configuration to an image, where programs look for it: loaders of BPF programs take values from it.
    ///
    /// # Errors
    /// The package of a pinned kernel cannot be downloaded.
    pub fn add_config(&self, image: &mut Image, progress: impl Fn(Preparing<'_>)) -> Result<(), LabError> {
        let config = match &self.origin {
            Origin::Pinned(pinned) => Some(kernel_config(pinned, progress)?),
            Origin::Files { config, .. } => config.clone(),
        };
        if let Some(config) = config {
            image.add_bytes(&format!("/boot/config-{}", self.release), config);
        }
        Ok(())
    }
}

/// An image with what a kernel and a scheduler, as users write it, need in the machine.
///
/// # Errors
/// See [`BootKernel::add_modules`] and [`Image::add_scheduler`].
pub fn machine_image(image: &Image, kernel: &BootKernel, scheduler: &str) -> Result<Image, LabError> {
    let mut image = image.clone();
    kernel.add_modules(&mut image, &[], |_| {})?;
    if let Ok(spec @ SchedulerSpec::Program(_)) = scheduler.parse() {
        image.add_scheduler(&spec)?;
        kernel.add_config(&mut image, |_| {})?;
    }
    Ok(image)
}

/// A kernel in the cache.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Its version, as `uname -r` prints it.
    pub release: String,
    folder: PathBuf,
}

impl Fetched {
    /// Its architecture; `None` if its image cannot be read.
    pub fn architecture(&self) -> Option<Architecture> {
        header_of(&self.folder.join(IMAGE)).ok().map(|(architecture, _)| architecture)
    }

    /// Whether `name` is its version or series, and its architecture.
    fn is_named(&self, name: &str) -> bool {
        let (version, architecture) = Architecture::split(name);
        is_of_series(&self.release, version) && self.architecture() == Some(architecture)
    }

    /// Text of its configuration; `None` if its packages have none.
    pub fn config(&self) -> Option<Vec<u8>> {
        std::fs::read(self.folder.join(CONFIG)).ok()
    }
}

/// The kernels in the cache, oldest version first.
///
/// # Errors
/// The cache cannot be used.
pub fn fetched() -> Result<Vec<Fetched>, LabError> {
    let folder = unpacked_folder()?;
    let names = folder.names()?.into_iter().filter_map(|name| name.into_string().ok());
    // A temporary folder of an unpacking has a dot.
    let names = names.filter(|name| !name.starts_with('.') && name.contains(|c: char| c.is_ascii_digit()));
    let mut all: Vec<Fetched> = names
        .map(|release| Fetched { folder: folder.path().join(&release), release })
        .filter(|one| one.folder.join(IMAGE).exists())
        .collect();
    all.sort_by_key(|one| version_key(&one.release));
    Ok(all)
}

/// The numbers of a version, which sort as versions do.
pub(crate) fn version_key(release: &str) -> Vec<u64> {
    release.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// Whether a release is `name`, or of its series: 6.12 has 6.12.107+deb13-cloud-amd64, and 6.1 has not.
pub(crate) fn is_of_series(release: &str, name: &str) -> bool {
    release.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".deb") || Path::new(name).is_file()
}

fn no_kernel(name: &str) -> LabError {
    let mut names: Vec<String> = Kernel::all().iter().map(Kernel::name).collect();
    names.extend(fetched().unwrap_or_default().into_iter().map(|one| one.release));
    LabError::NoKernel { name: name.to_owned(), names: names.join(", ") }
}

fn unpacked_folder() -> Result<PrivateFolder, LabError> {
    Ok(cache_folder()?.subfolder(UNPACKED)?)
}

/// Unpacks the packages of one kernel into the cache, unless it has them.
pub(crate) fn from_packages(
    packages: &[PathBuf],
    progress: impl Fn(Preparing<'_>),
) -> Result<BootKernel, LabError> {
    let cache = unpacked_folder()?;
    let temporary = temporary_folder_in(cache.path());
    let temporary = temporary.map_err(|source| LabError::file("write to", cache.path(), source))?;
    let read =
        |package: &PathBuf| std::fs::read(package).map_err(|source| LabError::file("read", package, source));
    let contents = packages.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let sums: String = contents.iter().map(|bytes| format!("{}\n", sha256_hex(bytes))).collect();
    let is_unpacked =
        |one: &Fetched| std::fs::read_to_string(one.folder.join(SUMS)).is_ok_and(|text| text == sums);
    if let Some(there) = fetched()?.into_iter().find(is_unpacked) {
        return from_folder(&there.folder);
    }
    for (package, bytes) in packages.iter().zip(&contents) {
        progress(Preparing::Work(&format!("unpacking {} once", package.display())));
        let failed = |source| LabError::file("unpack", package, source);
        each_file(&bytes[..], |path, content| keep(path, content, temporary.path())).map_err(failed)?;
    }
    let failed = |source| LabError::file("write to", temporary.path(), source);
    std::fs::write(temporary.path().join(SUMS), sums).map_err(failed)?;
    let image = temporary.path().join(IMAGE);
    let release = match File::open(&image) {
        Ok(_) => header_of(&image)?.1,
        Err(_) => {
            let names: Vec<String> = packages.iter().map(|package| package.display().to_string()).collect();
            return Err(LabError::NoImage { packages: names.join(", ") });
        }
    };
    let place = cache.path().join(&release);
    write_manifest(temporary.path())?;
    if place.exists() {
        // It is replaced by what was asked for now.
        std::fs::remove_dir_all(&place).map_err(|source| LabError::file("replace", &place, source))?;
    }
    std::fs::rename(temporary.path(), &place)
        .map_err(|source| LabError::file("save the kernel as", &place, source))?;
    from_folder(&place)
}

/// Keeps a file of a package if it is the image, the configuration or a module.
fn keep(path: &Path, content: &mut dyn Read, folder: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_of_release = |what: &str| name == what || name.starts_with(&format!("{what}-"));
    let to = if is_of_release(IMAGE) {
        folder.join(IMAGE)
    } else if is_of_release(CONFIG) && !path.starts_with("usr/share") {
        folder.join(CONFIG)
    } else if name_of(path).is_some() {
        let modules = folder.join("modules");
        std::fs::create_dir_all(&modules)?;
        modules.join(&*name)
    } else {
        return Ok(());
    };
    io::copy(content, &mut File::create(to)?).map(drop)
}

fn from_folder(folder: &Path) -> Result<BootKernel, LabError> {
    if !check_manifest(folder)? {
        return Err(LabError::NoManifest { path: folder.to_owned() });
    }
    let image = folder.join(IMAGE);
    let modules = folder.join("modules");
    kernel_of(&image, std::fs::read(folder.join(CONFIG)).ok(), modules.exists().then_some(modules.as_path()))
}

/// A kernel that the user has built. Its configuration is looked for where a build and a distribution put it.
fn from_image(image: &Path, modules: Option<&Path>) -> Result<BootKernel, LabError> {
    let (_, release) = header_of(image)?;
    let beside = image.parent().unwrap_or(Path::new("."));
    let candidates = [beside.join(format!("config-{release}")), beside.join("../../../.config")];
    let config = candidates.iter().find_map(|path| std::fs::read(path).ok());
    kernel_of(image, config, modules)
}

fn kernel_of(image: &Path, config: Option<Vec<u8>>, modules: Option<&Path>) -> Result<BootKernel, LabError> {
    let (architecture, release) = header_of(image)?;
    let read = |folder: &Path| {
        Modules::in_folder(folder).map_err(|source| LabError::file("read the modules in", folder, source))
    };
    let modules = modules.map(read).transpose()?.unwrap_or_default();
    if let Some(config) = &config {
        check_options(architecture, &release, &String::from_utf8_lossy(config), &modules)?;
    }
    Ok(BootKernel {
        release,
        architecture,
        image: image.to_owned(),
        origin: Origin::Files { config, modules },
    })
}

/// Architecture and version of an image.
fn header_of(image: &Path) -> Result<(Architecture, String), LabError> {
    let failed = |source| LabError::file("read the kernel", image, source);
    let bytes = std::fs::read(image).map_err(failed)?;
    let amd64 = release_of_amd64(&bytes).map(|release| (Architecture::Amd64, release));
    let arm64 = || Some((Architecture::Arm64, release_of_arm64(&bytes)?));
    amd64.or_else(arm64).ok_or_else(|| {
        let cause = "it is no bzImage of x86-64 and no Image of arm64; take arch/x86/boot/bzImage or arch/arm64/boot/Image of the build, \
                     and not vmlinux";
        failed(io::Error::other(cause))
    })
}

/// The version in the header of a bzImage, see Documentation/arch/x86/boot.rst of Linux: after the magic number `HdrS`, the field
/// `kernel_version` is the offset of a text, less 512.
fn release_of_amd64(image: &[u8]) -> Option<String> {
    (image.get(0x202..0x206)? == b"HdrS").then_some(())?;
    let offset = usize::from(u16::from_le_bytes(image.get(0x20e..0x210)?.try_into().ok()?)) + 0x200;
    release_at(image.get(offset..)?)
}

/// The version in an Image of arm64, whose header has a magic number (Documentation/arch/arm64/booting.rst) and no version: the kernel's
/// own text has it.
fn release_of_arm64(image: &[u8]) -> Option<String> {
    const BANNER: &[u8] = b"Linux version ";
    (image.get(0x38..0x3c)? == b"ARM\x64").then_some(())?;
    // Formats with the same words have no number.
    let banners = image.windows(BANNER.len()).enumerate().filter(|(_, part)| *part == BANNER);
    banners.map(|(at, _)| &image[at + BANNER.len()..]).find_map(release_at)
}

/// The version at the start of a text.
fn release_at(text: &[u8]) -> Option<String> {
    let text = text.split(|byte| *byte == 0 || *byte == b' ').next()?;
    let text = std::str::from_utf8(text).ok()?;
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_~".contains(&byte));
    (is_plain && text.starts_with(|c: char| c.is_ascii_digit())).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm64_image(release: &str) -> Vec<u8> {
        let text = format!("Linux version %s\0Linux version {release}");
        [&[0; 0x38][..], b"ARM\x64", &[0; 0x100], text.as_bytes()].concat()
    }

    fn image(release: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e..0x210].copy_from_slice(&0x100_u16.to_le_bytes());
        bytes[0x300..0x300 + release.len()].copy_from_slice(release.as_bytes());
        bytes
    }

    #[test]
    fn the_version_of_an_image_is_in_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bzImage");
        std::fs::write(&path, image("6.12.1-mine (me@here) #1 SMP")).unwrap();
        assert_eq!(header_of(&path).unwrap(), (Architecture::Amd64, "6.12.1-mine".to_owned()));
        std::fs::write(&path, arm64_image("6.12.1-mine (me@here) #1 SMP")).unwrap();
        assert_eq!(header_of(&path).unwrap(), (Architecture::Arm64, "6.12.1-mine".to_owned()));
        let zipped = b"\x1f\x8b\x08 an Image.gz".to_vec();
        for wrong in [image("../../etc x"), arm64_image("../../etc x"), b"\x7fELF".to_vec(), zipped] {
            std::fs::write(&path, wrong).unwrap();
            assert!(header_of(&path).unwrap_err().to_string().contains("it is no bzImage"));
        }
    }

    #[test]
    fn a_series_has_its_releases_and_no_others() {
        let release = "6.12.107+deb13-cloud-amd64";
        assert!(["6.12", "6.12.107", release, "6"].iter().all(|name| is_of_series(release, name)));
        assert!(!["6.1", "6.12.10", "7"].iter().any(|name| is_of_series(release, name)));
        assert!(version_key("6.12.107+deb13") > version_key("6.12.95+deb12"));
    }

    #[test]
    fn a_kernel_that_is_not_there_is_answered_with_those_that_are() {
        let error = BootKernel::check("4.0").unwrap_err().to_string();
        assert!(error.contains("there is no kernel 4.0") && error.contains("6.18, 7.2"), "{error}");
        assert!(BootKernel::check("6.18:arm64").is_ok() && BootKernel::check("4.0:arm64").is_err());
        assert!(BootKernel::check("./no/bzImage").is_err());
        for own in ["6.18", "6.12", "linux-image.deb"] {
            let error = BootKernel::find(own, Some(Path::new("modules")), |_| {}).unwrap_err().to_string();
            assert!(error.contains("comes with its modules"), "{error}");
        }
    }
}
