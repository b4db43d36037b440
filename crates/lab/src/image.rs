//! The files of the emulated machine: the root file system that it boots with, and what it gets with its job.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use klatch_host::privileges::Program;
use klatch_schedulers::SchedulerSpec;

use crate::architecture::Architecture;
use crate::cpio::Archive;
use crate::elf::{needs_of, strip};
use crate::error::LabError;
use crate::java::java_runtime;
use crate::preparing::Preparing;
use crate::programs::klatch_for;

/// Folder of the Java runtime in a machine that has one.
pub const JAVA_FOLDER: &str = "/java";
/// Path of the dynamic linker of this program's architecture, fixed by its ABI.
pub(crate) const LINKER: &str =
    if cfg!(target_arch = "aarch64") { "/lib/ld-linux-aarch64.so.1" } else { "/lib64/ld-linux-x86-64.so.2" };

/// Folder of the modules that the machine loads, in the order of their names.
pub(crate) const MODULES: &str = "/modules";

/// Files of the emulated machine, by absolute path.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// It boots with these, so another machine with the same can go on from its snapshot: what seldom changes.
    booted: BTreeMap<String, Content>,
    /// It gets these with its job.
    delivered: BTreeMap<String, Content>,
    /// The architecture of the machine and of its programs.
    architecture: Architecture,
    /// Whether programs keep the names of their routines.
    has_symbols: bool,
}

#[derive(Clone, Debug)]
enum Content {
    Copy(PathBuf),
    Bytes(Vec<u8>),
}

impl Image {
    /// Klatch as `/klatch`, and its libraries, which the machine boots with: this program, or the build of it for another architecture.
    ///
    /// # Errors
    /// There is no such build, or not all of its libraries.
    pub fn of_klatch(architecture: Architecture) -> Result<Image, LabError> {
        let mut image = Image::empty(architecture);
        image.add_program("/klatch", &klatch_for(architecture)?)?;
        image.booted = std::mem::take(&mut image.delivered);
        Ok(image)
    }

    /// The same with a Java runtime in [`JAVA_FOLDER`], if a `java` program of a JDK is given to make it of. `progress` receives a line before a build.
    ///
    /// # Errors
    /// As those of [`Image::of_klatch`] and [`java_runtime`].
    pub fn with_java(
        architecture: Architecture,
        java: Option<&Path>,
        progress: impl Fn(Preparing<'_>),
    ) -> Result<Image, LabError> {
        let mut image = Image::of_klatch(architecture)?;
        if let Some(java) = java {
            image.add_folder(JAVA_FOLDER, &java_runtime(java, progress)?)?;
        }
        Ok(image)
    }

    /// An image without files.
    pub fn empty(architecture: Architecture) -> Image {
        Image { architecture, ..Image::default() }
    }

    /// The architecture of the machine.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The same image, whose programs keep the names of their routines. It is larger.
    #[must_use]
    pub(crate) fn with_symbols(self) -> Image {
        Image { has_symbols: true, ..self }
    }

    /// Adds a program, and its libraries at their paths on the host.
    ///
    /// # Errors
    /// It is for another architecture, the dynamic linker cannot list its libraries, or one does not exist.
    pub fn add_program(&mut self, at: &str, program: &Path) -> Result<(), LabError> {
        let libraries = libraries(program, self.architecture)?;
        if let Some(name) = libraries.missing.first() {
            return Err(self.missing(program, name));
        }
        self.delivered.extend(libraries.paths.into_iter().map(copy));
        self.delivered.insert(at.to_owned(), Content::Copy(program.to_owned()));
        Ok(())
    }

    /// Adds a program or another file at its path on the host, and returns that path.
    ///
    /// # Errors
    /// There is no such file, or as [`Image::add_program`].
    pub fn add_in_place(&mut self, path: &Path) -> Result<PathBuf, LabError> {
        let real = path.canonicalize().map_err(|source| LabError::file("find", path, source))?;
        let place = place_of(path).map_err(|source| LabError::file("find", path, source))?;
        self.add_program(&place.display().to_string(), &real)?;
        Ok(place)
    }

    /// Adds the program that loads a scheduler; a scheduler of Klatch is in Klatch.
    ///
    /// # Errors
    /// The program does not exist, or as [`Image::add_program`].
    pub fn add_scheduler(&mut self, spec: &SchedulerSpec) -> Result<(), LabError> {
        match spec {
            SchedulerSpec::Own(_) => Ok(()),
            SchedulerSpec::Program(program) => self.add_in_place(&program.path()?).map(drop),
        }
    }

    /// Adds a whole folder, and the libraries outside it that its programs need. The machine boots with it.
    ///
    /// # Errors
    /// A file cannot be read, or the dynamic linker cannot list the libraries of one.
    pub fn add_folder(&mut self, at: &str, from: &Path) -> Result<(), LabError> {
        let from = from.canonicalize().map_err(|source| LabError::file("read", from, source))?;
        let mut all = Vec::new();
        walk(&from, &mut all)?;
        let own: BTreeSet<_> = all.iter().filter_map(|path| path.file_name()).collect();
        for path in &all {
            let libraries = libraries(path, self.architecture)?;
            // The JVM loads some libraries by path before others depend on them.
            if let Some(name) = libraries.missing.iter().find(|name| !own.contains(OsStr::new(name))) {
                return Err(self.missing(path, name));
            }
            let elsewhere = libraries.paths.into_iter().filter(|library| !library.starts_with(&from));
            self.booted.extend(elsewhere.map(copy));
            let inside = path.strip_prefix(&from).unwrap_or(path);
            self.booted.insert(format!("{at}/{}", inside.display()), Content::Copy(path.clone()));
        }
        Ok(())
    }

    /// Adds the files in a folder whose names end with this extension, but none of folders in it. There may be no such folder.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn add_files_ending(&mut self, at: &str, folder: &Path, extension: &str) -> Result<(), LabError> {
        let failed = |source| LabError::file("read", folder, source);
        if !folder.exists() {
            return Ok(());
        }
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if let Some(name) = path.file_name().filter(|_| path.extension() == Some(OsStr::new(extension))) {
                let at = format!("{at}/{}", name.display());
                self.delivered.insert(at, Content::Copy(path.clone()));
            }
        }
        Ok(())
    }

    /// Adds a file with this content.
    pub fn add_bytes(&mut self, at: &str, bytes: Vec<u8>) {
        self.delivered.insert(at.to_owned(), Content::Bytes(bytes));
    }

    /// Adds a module of the kernel, which the machine loads at its boot after those that were added before.
    pub fn add_module(&mut self, module: Vec<u8>) {
        let number = self.booted.keys().filter(|name| name.starts_with(MODULES)).count();
        self.booted.insert(format!("{MODULES}/{number:02}.ko"), Content::Bytes(module));
    }

    /// What the machine boots with as a cpio archive, which the kernel unpacks.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn root(&self) -> Result<Vec<u8>, LabError> {
        let failed = |source| LabError::file("make the image of", Path::new("/"), source);
        let mut archive = Archive::new(Vec::new());
        for folder in self.folders() {
            archive.folder(&folder).map_err(failed)?;
        }
        for (at, content) in &self.booted {
            archive.program(at, &self.content(content)?).map_err(failed)?;
        }
        archive.end().map_err(failed)
    }

    /// What the machine gets with its job as a tar archive, without the time of anything, so that the same files make the same archive.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn delivery(&self) -> Result<Vec<u8>, LabError> {
        let mut archive = tar::Builder::new(Vec::new());
        for (at, content) in self.delivered.iter().filter(|(at, _)| !self.booted.contains_key(*at)) {
            let bytes = self.content(content)?;
            let mut header = tar::Header::new_gnu();
            header.set_mode(0o755);
            header.set_size(bytes.len() as u64);
            archive
                .append_data(&mut header, at.trim_start_matches('/'), &bytes[..])
                .map_err(|source| LabError::file("archive", Path::new(at), source))?;
        }
        archive.into_inner().map_err(|source| LabError::file("archive", Path::new("/"), source))
    }

    fn content(&self, content: &Content) -> Result<Vec<u8>, LabError> {
        match content {
            Content::Copy(from) => {
                let bytes = std::fs::read(from).map_err(|source| LabError::file("read", from, source))?;
                Ok(strip(bytes, self.has_symbols))
            }
            Content::Bytes(bytes) => Ok(bytes.clone()),
        }
    }

    fn missing(&self, program: &Path, library: &str) -> LabError {
        let way = match self.architecture {
            own if own == Architecture::default() => String::new(),
            other => {
                format!(
                    " for {other}; on Debian: dpkg --add-architecture {other} && apt-get update && apt-get install libc6:{other}"
                )
            }
        };
        LabError::Libraries { program: program.to_owned(), cause: format!("{library} does not exist{way}") }
    }

    /// All folders that it boots with, each before the files and folders in it.
    fn folders(&self) -> BTreeSet<String> {
        let mounts = ["/dev", "/proc", "/sys", "/tmp", "/run", "/out"].map(str::to_owned);
        let above = |path: &String| {
            let above = Path::new(path).ancestors().skip(1);
            above
                .map(|folder| folder.display().to_string())
                .filter(|folder| folder != "/")
                .collect::<Vec<_>>()
        };
        mounts.into_iter().chain(self.booted.keys().flat_map(above)).collect()
    }
}

/// Where a file of the host is in the machine: at its absolute path, by the links that lead to it, as programs name it: `/bin/sh`.
pub(crate) fn place_of(path: &Path) -> std::io::Result<PathBuf> {
    // The archive has no links for a path that leads up again.
    match path.components().any(|part| part == Component::ParentDir) {
        true => path.canonicalize(),
        false => std::path::absolute(path),
    }
}

/// Shared libraries of a program.
#[derive(Default)]
struct Libraries {
    paths: Vec<PathBuf>,
    missing: Vec<String>,
}

/// The libraries that the dynamic linker would load for this program, and the linker itself.
fn libraries(program: &Path, architecture: Architecture) -> Result<Libraries, LabError> {
    match architecture == Architecture::default() {
        true => libraries_by_linker(program),
        false => libraries_of_other(program, architecture),
    }
}

/// The same for a program of another architecture, whose linker cannot run here: they are looked for in the folders where Debian has
/// libraries of it.
fn libraries_of_other(program: &Path, architecture: Architecture) -> Result<Libraries, LabError> {
    let (mut libraries, mut seen) = (Libraries::default(), BTreeSet::new());
    let mut left = vec![program.to_owned()];
    while let Some(path) = left.pop() {
        let bytes = std::fs::read(&path).map_err(|source| LabError::file("read", &path, source))?;
        match Architecture::of_program(&bytes) {
            Some(one) if one == architecture => {}
            // A script or data.
            None if !bytes.starts_with(b"\x7fELF") => continue,
            _ => return Err(LabError::OtherArchitecture { program: path, architecture }),
        }
        let needs = needs_of(&bytes);
        for name in needs.linker.into_iter().chain(needs.libraries) {
            if !seen.insert(name.clone()) {
                continue;
            }
            // The linker has a whole path.
            let mut places = architecture.library_folders().into_iter().map(|folder| folder.join(&name));
            match places.find(|path| path.is_file()) {
                Some(found) => {
                    libraries.paths.push(found.clone());
                    left.push(found);
                }
                None => libraries.missing.push(name),
            }
        }
    }
    Ok(libraries)
}

fn libraries_by_linker(program: &Path) -> Result<Libraries, LabError> {
    let failed = |cause: String| LabError::Libraries { program: program.to_owned(), cause };
    let run = |linker: &mut Program| {
        let output = linker.arg(program).output();
        output.map_err(|error| failed(format!("{LINKER}: {error}")))
    };
    // A static program, or a file that is no program, needs no libraries.
    if !matches!(run(Program::new(LINKER).arg("--verify"))?.status.code(), Some(0 | 2)) {
        return Ok(Libraries::default());
    }
    // Like ldd. Unlike `--list`, this reports a missing library and continues.
    let output = run(Program::new(LINKER).env("LD_TRACE_LOADED_OBJECTS", "1"))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    let mut libraries = Libraries { paths: vec![PathBuf::from(LINKER)], missing: Vec::new() };
    for line in listing.lines() {
        let Some((name, path)) = line.split_once("=> ") else { continue };
        match path.split(" (").next().unwrap_or_default() {
            "not found" => libraries.missing.push(name.trim().to_owned()),
            path => libraries.paths.push(PathBuf::from(path)),
        }
    }
    Ok(libraries)
}

/// All files below a folder. Links to folders are not followed: they could lead round in circles.
fn walk(folder: &Path, all: &mut Vec<PathBuf>) -> Result<(), LabError> {
    let failed = |source| LabError::file("read", folder, source);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if entry.file_type().map_err(failed)?.is_dir() {
            walk(&path, all)?;
        } else if path.is_file() {
            all.push(path);
        }
    }
    Ok(())
}

fn copy(library: PathBuf) -> (String, Content) {
    (library.display().to_string(), Content::Copy(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_with_its_libraries_and_their_folders() {
        let mut image = Image::of_klatch(Architecture::default()).unwrap();
        assert!(image.booted.contains_key("/klatch") && image.booted.contains_key(LINKER));
        assert!(image.booted.keys().any(|path| path.ends_with("/libc.so.6")), "{:?}", image.booted.keys());
        image.add_in_place(Path::new("/bin/sh")).unwrap();
        image.add_bytes("/etc/passwd", b"root".to_vec());
        let delivery = image.delivery().unwrap();
        assert_eq!(delivery, image.delivery().unwrap(), "equal files make equal archives");
        let mut delivered = tar::Archive::new(&delivery[..]);
        let names =
            delivered.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string());
        // The libraries of a shell are those of this program.
        assert_eq!(names.collect::<Vec<_>>(), ["bin/sh", "etc/passwd"]);
        let folders: Vec<String> = image.folders().into_iter().collect();
        let above = |deep: &str, high: &str| {
            let at = |name| folders.iter().position(|folder| folder == name);
            at(high).is_none_or(|high| at(deep).is_none_or(|deep| high < deep))
        };
        assert!(above("/lib/x86_64-linux-gnu", "/lib") && folders.contains(&"/proc".to_owned()));
    }

    #[test]
    fn a_program_of_another_architecture_is_refused() {
        let other = Architecture::ALL.into_iter().find(|one| *one != Architecture::default()).unwrap();
        let mut image = Image::empty(other);
        let own = std::env::current_exe().unwrap();
        let error = image.add_program("/mine", &own).unwrap_err().to_string();
        assert!(error.contains(&format!("is no program for {other}")), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/klatch\n").unwrap();
        image.add_program("/script", &script).unwrap();
        assert_eq!(image.delivered.len(), 1);
    }
}
