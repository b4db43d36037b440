//! The source of small servers in other languages: laid down, and built once for each state of it.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use include_dir::{Dir, DirEntry};
use klatch_privileges::{
    FolderError, ManifestError, cache_folder, check_manifest, confine, file_matches, sha256_hex,
    write_manifest,
};
use thiserror::Error;

use crate::catalog::{Entry, FILES};

/// A source that cannot be used.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The folder named in the catalog is not there.
    #[error("the source folder {0} is not there")]
    Missing(String),
    /// The folder for it is not trusted or cannot be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// What was built is not as it was built.
    #[error(transparent)]
    Changed(#[from] ManifestError),
    /// It cannot be laid down.
    #[error("cannot lay the source into {path}: {source}", path = path.display())]
    Lay {
        /// Where it should go.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Building it failed.
    #[error("cannot build it: `{command}` {why}")]
    Build {
        /// The command line.
        command: String,
        /// What it said.
        why: String,
    },
}

/// The folders of a platform that is built from source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) source: PathBuf,
    pub(crate) build: PathBuf,
}

/// Lays the source of `entry` down, where it has any, and builds it with `fill`ed words, unless that was done before.
pub(crate) fn prepare(entry: &Entry, fill: impl Fn(&str, &Places) -> String) -> Result<Places, SourceError> {
    let Some(name) = &entry.sources else { return Ok(Places::default()) };
    let (source, state) = match &entry.beside {
        Some(folder) => {
            let source = folder.join(name);
            let source =
                source.canonicalize().map_err(|_| SourceError::Missing(source.display().to_string()))?;
            let state = state_of_folder(&source).map_err(|error| lay(&source, error))?;
            (source, state)
        }
        None => {
            let inside =
                FILES.get_dir(name).ok_or_else(|| SourceError::Missing(name.display().to_string()))?;
            let state = state_of(inside);
            let sources = cache_folder()?.subfolder("sources")?;
            let source = sources.path().join(format!("{}-{state}", entry.name));
            lay_down(inside, &source).map_err(|error| lay(&source, error))?;
            (source, state)
        }
    };
    let mut places = Places { source, build: PathBuf::new() };
    let Some(build) = &entry.build else { return Ok(places) };
    let folder = cache_folder()?.subfolder("builds")?.subfolder(&format!("{}-{state}", entry.name))?;
    places.build = folder.path().to_owned();
    if check_manifest(&places.build)? {
        return Ok(places);
    }
    // What is there without a manifest is of a build that did not end.
    clear(&places.build).map_err(|error| lay(&places.build, error))?;
    let words: Vec<String> = build.command.iter().map(|word| fill(word, &places)).collect();
    run(&words, &places.source)?;
    write_manifest(&places.build)?;
    Ok(places)
}

fn clear(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        remove(&entry?.path())?;
    }
    Ok(())
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.symlink_metadata()?.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
}

fn run(words: &[String], folder: &Path) -> Result<(), SourceError> {
    let failed = |why: String| SourceError::Build { command: words.join(" "), why };
    let (program, arguments) = words.split_first().ok_or_else(|| failed("is empty".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    confine(&mut command);
    let output = command.output();
    let output = output.map_err(|error| failed(format!("cannot start: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(format!("failed: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

fn lay(path: &Path, source: std::io::Error) -> SourceError {
    SourceError::Lay { path: path.to_owned(), source }
}

fn state_of(folder: &Dir<'_>) -> String {
    let mut sums = Vec::new();
    let mut waiting = vec![folder];
    while let Some(folder) = waiting.pop() {
        for entry in folder.entries() {
            match entry {
                DirEntry::Dir(inner) => waiting.push(inner),
                DirEntry::File(file) => {
                    sums.push(format!("{}  {}\n", sha256_hex(file.contents()), file.path().display()));
                }
            }
        }
    }
    short(sums)
}

fn state_of_folder(folder: &Path) -> std::io::Result<String> {
    let mut sums = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => waiting.push(path),
                false => sums.push(format!("{}  {}\n", sha256_hex(&std::fs::read(&path)?), path.display())),
            }
        }
    }
    Ok(short(sums))
}

/// A name for all of these checksums.
fn short(mut sums: Vec<String>) -> String {
    sums.sort_unstable();
    sha256_hex(sums.concat().as_bytes())[..16].to_owned()
}

/// Afterwards `place` has exactly these files: one more would be built in.
fn lay_down(inside: &Dir<'_>, place: &Path) -> std::io::Result<()> {
    if !place.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        if place.symlink_metadata().is_ok() {
            remove(place)?;
        }
        std::fs::DirBuilder::new().mode(0o700).create(place)?;
    }
    let targets: Vec<PathBuf> = inside.entries().iter().map(|entry| place.join(name(entry))).collect();
    for found in std::fs::read_dir(place)? {
        let found = found?.path();
        if !targets.contains(&found) {
            remove(&found)?;
        }
    }
    for (entry, target) in inside.entries().iter().zip(&targets) {
        match entry {
            DirEntry::Dir(inner) => lay_down(inner, target)?,
            DirEntry::File(file) if file_matches(target, file.contents()) => {}
            DirEntry::File(file) => {
                let mut aside = tempfile::NamedTempFile::new_in(place)?;
                aside.write_all(file.contents())?;
                if target.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                    remove(target)?;
                }
                aside.persist(target).map_err(|error| error.error)?;
            }
        }
    }
    Ok(())
}

fn name<'a>(entry: &'a DirEntry<'_>) -> &'a OsStr {
    entry.path().file_name().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_laid_down_source_has_its_own_files_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("source");
        let inside = FILES.get_dir("go-goroutines").unwrap();
        lay_down(inside, &place).unwrap();
        let own = inside.files().next().unwrap();
        let path = place.join(own.path().file_name().unwrap());
        std::fs::write(&path, "altered").unwrap();
        std::fs::write(place.join("more.go"), "package main").unwrap();
        lay_down(inside, &place).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), own.contents());
        assert!(!place.join("more.go").exists());
    }
}
