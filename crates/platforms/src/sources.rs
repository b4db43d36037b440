//! Unpacks the sources of small servers in other languages, and builds them once per version.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use include_dir::{Dir, DirEntry};
use klatch_host::privileges::{
    FolderError, ManifestError, PrivateFolder, cache_folder, check_manifest, file_matches, sha256_hex,
    write_manifest,
};
use thiserror::Error;

use crate::catalog::{Entry, FILES};
use crate::process::{CommandFailure, Processes};

/// Longest time for a build, which may download what it needs.
const BUILD_TIMEOUT: Duration = Duration::from_secs(1_800);
/// How often a folder that another process has locked is tried again.
const LOCK_PERIOD: Duration = Duration::from_millis(100);

/// A source that cannot be used.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The folder named in the catalog does not exist.
    #[error("the source folder {0} is not there")]
    Missing(String),
    /// The folder for it is not trusted or cannot be created.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A built file has changed since the build.
    #[error(transparent)]
    Changed(#[from] ManifestError),
    /// A file or folder cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The user has interrupted Klatch.
    #[error("interrupted")]
    Interrupted,
    /// The build command failed.
    #[error("cannot build it: `{command}` {reason}")]
    Build {
        /// The command line of the build.
        command: String,
        /// Its error, or its standard error.
        reason: String,
    },
}

/// The folders of a platform that is built from source.
#[derive(Clone, Debug, Default)]
pub(crate) struct BuildFolders {
    pub(crate) source: PathBuf,
    pub(crate) build: PathBuf,
    /// The files of workload `web`, for a platform that reads them.
    pub(crate) web_files: PathBuf,
}

/// Unpacks the source of `entry`, if it has any, and builds it unless that version is built already, by a compiler of the same version and
/// with the same variables: `compiler` names these. `fill` replaces the placeholders of the build command.
pub(crate) fn prepare(
    entry: &Entry,
    compiler: &str,
    fill: impl Fn(&str, &BuildFolders) -> String,
    all: &Processes,
) -> Result<BuildFolders, SourceError> {
    let Some(name) = &entry.sources else { return Ok(BuildFolders::default()) };
    let (source, state) = match &entry.base_folder {
        Some(folder) => {
            let source = folder.join(name);
            let source =
                source.canonicalize().map_err(|_| SourceError::Missing(source.display().to_string()))?;
            let state = checksum_of_folder(&source).map_err(|error| write_error(&source, error))?;
            (source, state)
        }
        None => {
            let inside =
                FILES.get_dir(name).ok_or_else(|| SourceError::Missing(name.display().to_string()))?;
            let state = checksum_of_dir(inside);
            let folder =
                cache_folder()?.subfolder("sources")?.subfolder(&format!("{}-{state}", entry.name))?;
            // Another process that unpacks the same source would take the files of this one for strays.
            lock(&folder, all)?;
            let source = folder.path().to_owned();
            unpack(inside, &source).map_err(|error| write_error(&source, error))?;
            (source, state)
        }
    };
    let mut folders = BuildFolders { source, ..BuildFolders::default() };
    let Some(build) = &entry.build else { return Ok(folders) };
    // What the command names besides the source, such as a compiler or a jar, is part of the state too.
    let command: String = build.command.iter().map(|word| fill(word, &folders)).collect();
    let state = short(vec![state, command, compiler.to_owned()]);
    let folder = cache_folder()?.subfolder("builds")?.subfolder(&format!("{}-{state}", entry.name))?;
    folders.build = folder.path().to_owned();
    if check_manifest(&folders.build)? {
        return Ok(folders);
    }
    // Another process may be building it; its unfinished files would be part of this build, or of its manifest.
    lock(&folder, all)?;
    if check_manifest(&folders.build)? {
        return Ok(folders);
    }
    // Files without a manifest are of a build that did not finish.
    clear(&folders.build).map_err(|error| write_error(&folders.build, error))?;
    let words: Vec<String> = build.command.iter().map(|word| fill(word, &folders)).collect();
    run(&entry.name, &words, &folders.source, all)?;
    write_manifest(&folders.build)?;
    Ok(folders)
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

/// Locks a folder that another process may be building in.
fn lock(folder: &PrivateFolder, all: &Processes) -> Result<(), SourceError> {
    let mut shown = None;
    while !folder.try_lock()? {
        if all.interrupted() {
            return Err(SourceError::Interrupted);
        }
        shown = shown.or_else(|| {
            all.show(&format!("waiting for another klatch that builds in {}", folder.path().display()))
        });
        std::thread::sleep(LOCK_PERIOD);
    }
    Ok(())
}

fn run(name: &str, words: &[String], folder: &Path, all: &Processes) -> Result<(), SourceError> {
    let failed = |reason: String| SourceError::Build { command: words.join(" "), reason };
    if words.is_empty() {
        return Err(failed("is empty".to_owned()));
    }
    let name = format!("building {name}, once for this version");
    all.run(&name, words, folder, BUILD_TIMEOUT).map_err(|failure| match failure {
        CommandFailure::Interrupted => SourceError::Interrupted,
        CommandFailure::Failed(reason) => failed(reason),
    })
}

fn write_error(path: &Path, source: std::io::Error) -> SourceError {
    SourceError::Write { path: path.to_owned(), source }
}

fn checksum_of_dir(folder: &Dir<'_>) -> String {
    let mut sums = Vec::new();
    let mut pending = vec![folder];
    while let Some(folder) = pending.pop() {
        for entry in folder.entries() {
            match entry {
                DirEntry::Dir(inner) => pending.push(inner),
                DirEntry::File(file) => {
                    sums.push(format!("{}  {}\n", sha256_hex(file.contents()), file.path().display()));
                }
            }
        }
    }
    short(sums)
}

/// The state of a source. A link to a folder counts by its target's name: following it could lead round in circles, in more
/// ways than there are files.
fn checksum_of_folder(folder: &Path) -> std::io::Result<String> {
    let mut sums = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let kind = path.symlink_metadata()?.file_type();
            if kind.is_dir() {
                pending.push(path);
                continue;
            }
            if kind.is_symlink() {
                let target = path.read_link()?;
                sums.push(format!("-> {}  {}\n", target.display(), path.display()));
            }
            // The target of a link can be missing or a folder. Anything else, such as a pipe, could not be read to its end.
            if path.is_file() {
                sums.push(format!("{}  {}\n", sha256_hex(&std::fs::read(&path)?), path.display()));
            }
        }
    }
    Ok(short(sums))
}

/// A short name derived from all these checksums.
fn short(mut sums: Vec<String>) -> String {
    sums.sort_unstable();
    sha256_hex(sums.concat().as_bytes())[..16].to_owned()
}

/// Makes `place` contain exactly these files; a stray file would become part of the build.
fn unpack(inside: &Dir<'_>, place: &Path) -> std::io::Result<()> {
    if !place.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        if place.symlink_metadata().is_ok() {
            remove(place)?;
        }
        std::fs::DirBuilder::new().mode(0o700).create(place)?;
    }
    let targets: Vec<PathBuf> = inside.entries().iter().map(|entry| place.join(name(entry))).collect();
    for entry in std::fs::read_dir(place)? {
        let existing = entry?.path();
        if !targets.contains(&existing) {
            remove(&existing)?;
        }
    }
    for (entry, target) in inside.entries().iter().zip(&targets) {
        match entry {
            DirEntry::Dir(inner) => unpack(inner, target)?,
            DirEntry::File(file) if file_matches(target, file.contents()) => {}
            DirEntry::File(file) => {
                let mut aside = tempfile::NamedTempFile::new_in(place)?;
                aside.write_all(file.contents())?;
                if target.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
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
    fn the_state_of_a_source_with_links_in_circles_is_that_of_each_file_once() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let state = || checksum_of_folder(folder.path()).unwrap();
        std::fs::write(folder.path().join("main.go"), "package main").unwrap();
        // Two of them are 2^40 paths until the kernel counts forty links.
        ["one", "two"].iter().for_each(|name| symlink(".", folder.path().join(name)).unwrap());
        symlink("main.go", folder.path().join("link.go")).unwrap();
        symlink("missing", folder.path().join("nowhere")).unwrap();
        let before = state();
        std::fs::write(folder.path().join("main.go"), "package changed").unwrap();
        let changed = state();
        assert_ne!(before, changed);
        std::fs::remove_file(folder.path().join("two")).unwrap();
        assert_ne!(state(), changed);
    }

    #[test]
    fn a_pipe_in_a_source_is_not_waited_for() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        checksum_of_folder(folder.path()).unwrap();
    }

    #[test]
    fn an_unpacked_source_has_exactly_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("source");
        let inside = FILES.get_dir("go-goroutines").unwrap();
        unpack(inside, &place).unwrap();
        let own = inside.files().next().unwrap();
        let path = place.join(own.path().file_name().unwrap());
        std::fs::write(&path, "altered").unwrap();
        std::fs::write(place.join("more.go"), "package main").unwrap();
        unpack(inside, &place).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), own.contents());
        assert!(!place.join("more.go").exists());
    }
}
