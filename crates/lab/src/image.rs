//! What the emulated machine finds at boot: this very program, the libraries that it is linked with, and what a job brings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cpio::Archive;
use crate::error::LabError;

/// The dynamic linker of x86-64, by the ABI's own name for it.
const LINKER: &str = "/lib64/ld-linux-x86-64.so.2";

/// Files of an emulated machine.
#[derive(Clone, Debug, Default)]
pub struct Image {
    files: BTreeMap<String, Content>,
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
    /// Its libraries cannot be told.
    pub fn of_this_program() -> Result<Image, LabError> {
        let own = Path::new("/proc/self/exe");
        let program = std::fs::read_link(own).map_err(|source| file("find", own, source))?;
        let mut image = Image::default();
        image.program("/klatch", &program)?;
        Ok(image)
    }

    /// A program and its libraries, each where the program looks for it.
    ///
    /// # Errors
    /// Its libraries cannot be told.
    pub fn program(&mut self, at: &str, program: &Path) -> Result<(), LabError> {
        for library in libraries(program)? {
            self.files.insert(library.display().to_string(), Content::Copy(library));
        }
        self.files.insert(at.to_owned(), Content::Copy(program.to_owned()));
        Ok(())
    }

    /// A whole folder, with the libraries that its programs need from elsewhere.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn folder(&mut self, at: &str, from: &Path) -> Result<(), LabError> {
        let entries = std::fs::read_dir(from).map_err(|source| file("read", from, source))?;
        for entry in entries {
            let entry = entry.map_err(|source| file("read", from, source))?;
            let path = entry.path();
            let at = format!("{at}/{}", entry.file_name().to_string_lossy());
            if path.is_dir() {
                self.folder(&at, &path)?;
            } else if path.extension().is_some_and(|end| end == "so") || at.contains("/bin/") {
                self.program(&at, &path)?;
            } else {
                self.files.insert(at, Content::Copy(path));
            }
        }
        Ok(())
    }

    /// A file with this content.
    pub fn bytes(&mut self, at: &str, bytes: Vec<u8>) {
        self.files.insert(at.to_owned(), Content::Bytes(bytes));
    }

    /// A name for another file.
    pub fn link(&mut self, at: &str, to: &str) {
        self.files.insert(at.to_owned(), Content::Link(to.to_owned()));
    }

    /// Writes it for the kernel to unpack.
    ///
    /// # Errors
    /// A file cannot be read, or the archive not be written.
    pub(crate) fn write(&self, to: &Path) -> Result<(), LabError> {
        let failed = |source| file("write the image", to, source);
        let mut archive = Archive::new(BufWriter::new(File::create(to).map_err(failed)?));
        for folder in self.folders() {
            archive.folder(&folder).map_err(failed)?;
        }
        for (at, content) in &self.files {
            match content {
                Content::Copy(from) => {
                    let bytes = std::fs::read(from).map_err(|source| file("read", from, source))?;
                    archive.program(at, &bytes)
                }
                Content::Bytes(bytes) => archive.program(at, bytes),
                Content::Link(to) => archive.link(at, to),
            }
            .map_err(failed)?;
        }
        archive.end().and_then(|mut writer| writer.flush()).map_err(failed)
    }

    /// All folders, each before what is in it.
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

/// What the dynamic linker would load for this program, and the linker itself.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, LabError> {
    let wrong = |why: String| LabError::Libraries { program: program.to_owned(), why };
    let linker = |what: &str| {
        let output = Command::new(LINKER).arg(what).arg(program).output();
        output.map_err(|error| wrong(format!("{LINKER}: {error}")))
    };
    // What is linked statically, or is no program, needs none.
    if !matches!(linker("--verify")?.status.code(), Some(0 | 2)) {
        return Ok(Vec::new());
    }
    let output = linker("--list")?;
    if !output.status.success() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let mut all = vec![PathBuf::from(LINKER)];
    for line in said.lines() {
        let Some((_, path)) = line.split_once("=> ") else { continue };
        let path = path.split(" (").next().unwrap_or_default();
        if path == "not found" {
            return Err(wrong(format!("there is no {line}", line = line.trim())));
        }
        all.push(PathBuf::from(path));
    }
    Ok(all)
}

fn file(what: &'static str, path: &Path, source: std::io::Error) -> LabError {
    LabError::File { what, path: path.to_owned(), source }
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
