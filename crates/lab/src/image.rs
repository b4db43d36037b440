//! The root file system of the emulated machine: this program, its shared libraries, and the files of a job.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use klatch_host::privileges::Program;
use klatch_schedulers::SchedulerSpec;

use crate::cpio::Archive;
use crate::elf::strip;
use crate::error::LabError;

/// Path of the dynamic linker, fixed by the x86-64 ABI.
pub(crate) const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";

/// Folder of the modules that the machine loads, in the order of their names.
pub(crate) const MODULES: &str = "/modules";

/// Files of the emulated machine, by absolute path.
#[derive(Clone, Debug, Default)]
pub struct Image {
    files: BTreeMap<String, Content>,
    /// Whether programs keep the names of their routines.
    has_symbols: bool,
}

#[derive(Clone, Debug)]
enum Content {
    Copy(PathBuf),
    Bytes(Vec<u8>),
    Link(String),
}

impl Image {
    /// This program as `/klatch`, and its libraries.
    ///
    /// # Errors
    /// The dynamic linker cannot list its libraries.
    pub fn of_this_program() -> Result<Image, LabError> {
        let own = Path::new("/proc/self/exe");
        let program = std::fs::read_link(own).map_err(|source| LabError::file("resolve", own, source))?;
        let mut image = Image::default();
        image.add_program("/klatch", &program)?;
        Ok(image)
    }

    /// The same image, whose programs keep the names of their routines. It is larger.
    #[must_use]
    pub(crate) fn with_symbols(self) -> Image {
        Image { has_symbols: true, ..self }
    }

    /// Adds a program, and its libraries at their paths on the host.
    ///
    /// # Errors
    /// The dynamic linker cannot list its libraries, or one does not exist.
    pub fn add_program(&mut self, at: &str, program: &Path) -> Result<(), LabError> {
        let libraries = libraries(program)?;
        if let Some(name) = libraries.missing.first() {
            return Err(missing(program, name));
        }
        self.files.extend(libraries.paths.into_iter().map(copy));
        self.files.insert(at.to_owned(), Content::Copy(program.to_owned()));
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

    /// Adds a whole folder, and the libraries outside it that its programs need.
    ///
    /// # Errors
    /// A file cannot be read, or the dynamic linker cannot list the libraries of one.
    pub fn add_folder(&mut self, at: &str, from: &Path) -> Result<(), LabError> {
        let from = from.canonicalize().map_err(|source| LabError::file("read", from, source))?;
        let mut all = Vec::new();
        walk(&from, &mut all)?;
        let own: BTreeSet<_> = all.iter().filter_map(|path| path.file_name()).collect();
        for path in &all {
            let libraries = libraries(path)?;
            // The JVM loads some libraries by path before others depend on them.
            if let Some(name) = libraries.missing.iter().find(|name| !own.contains(OsStr::new(name))) {
                return Err(missing(path, name));
            }
            let elsewhere = libraries.paths.into_iter().filter(|library| !library.starts_with(&from));
            self.files.extend(elsewhere.map(copy));
            let inside = path.strip_prefix(&from).unwrap_or(path);
            self.files.insert(format!("{at}/{}", inside.display()), Content::Copy(path.clone()));
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
                self.files.insert(at, Content::Copy(path.clone()));
            }
        }
        Ok(())
    }

    /// Adds a file with this content.
    pub fn add_bytes(&mut self, at: &str, bytes: Vec<u8>) {
        self.files.insert(at.to_owned(), Content::Bytes(bytes));
    }

    /// Adds a module of the kernel, which is loaded after those that were added before.
    pub fn add_module(&mut self, module: Vec<u8>) {
        let number = self.files.keys().filter(|name| name.starts_with(MODULES)).count();
        self.add_bytes(&format!("{MODULES}/{number:02}.ko"), module);
    }

    /// Adds a symbolic link to `to`.
    pub fn add_link(&mut self, at: &str, to: &str) {
        self.files.insert(at.to_owned(), Content::Link(to.to_owned()));
    }

    /// The image as a cpio archive, which the kernel unpacks at boot.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, LabError> {
        let failed = |source| LabError::file("make the image of", Path::new("/"), source);
        let mut archive = Archive::new(Vec::new());
        for folder in self.folders() {
            archive.folder(&folder).map_err(failed)?;
        }
        for (at, content) in &self.files {
            match content {
                Content::Copy(from) => {
                    let bytes = std::fs::read(from).map_err(|source| LabError::file("read", from, source))?;
                    archive.program(at, &strip(bytes, self.has_symbols))
                }
                Content::Bytes(bytes) => archive.program(at, bytes),
                Content::Link(to) => archive.link(at, to),
            }
            .map_err(failed)?;
        }
        archive.end().map_err(failed)
    }

    /// All folders, each before the files and folders in it.
    fn folders(&self) -> BTreeSet<String> {
        let mounts = ["/dev", "/proc", "/sys", "/tmp", "/run", "/out"].map(str::to_owned);
        let above = |path: &String| {
            let above = Path::new(path).ancestors().skip(1);
            above
                .map(|folder| folder.display().to_string())
                .filter(|folder| folder != "/")
                .collect::<Vec<_>>()
        };
        mounts.into_iter().chain(self.files.keys().flat_map(above)).collect()
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
fn libraries(program: &Path) -> Result<Libraries, LabError> {
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

fn missing(program: &Path, library: &str) -> LabError {
    LabError::Libraries { program: program.to_owned(), cause: format!("{library} does not exist") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_with_its_libraries_and_their_folders() {
        let image = Image::of_this_program().unwrap();
        assert!(image.files.contains_key("/klatch") && image.files.contains_key(LINKER));
        assert!(image.files.keys().any(|path| path.ends_with("/libc.so.6")), "{:?}", image.files.keys());
        let folders: Vec<String> = image.folders().into_iter().collect();
        let above = |deep: &str, high: &str| {
            let at = |name| folders.iter().position(|folder| folder == name);
            at(high).is_none_or(|high| at(deep).is_none_or(|deep| high < deep))
        };
        assert!(above("/lib/x86_64-linux-gnu", "/lib") && folders.contains(&"/proc".to_owned()));
    }
}
