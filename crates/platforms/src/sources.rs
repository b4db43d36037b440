//! The source of small servers in other languages: laid down, and built once for each state of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use include_dir::{Dir, DirEntry};
use thiserror::Error;

use crate::catalog::{Entry, FILES};
use crate::own::cache_folder;

/// A source that cannot be used.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The folder named in the catalog is not there.
    #[error("the source folder {0} is not there")]
    Missing(String),
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
            let source = cache_folder().join("sources").join(format!("{}-{state:016x}", entry.name));
            lay_down(inside, &source).map_err(|error| lay(&source, error))?;
            (source, state)
        }
    };
    let places =
        Places { source, build: cache_folder().join("builds").join(format!("{}-{state:016x}", entry.name)) };
    let done = places.build.join("built");
    let Some(build) = entry.build.as_ref().filter(|_| !done.exists()) else { return Ok(places) };
    std::fs::create_dir_all(&places.build).map_err(|error| lay(&places.build, error))?;
    let words: Vec<String> = build.command.iter().map(|word| fill(word, &places)).collect();
    run(&words, &places.source)?;
    std::fs::write(&done, "").map_err(|error| lay(&done, error))?;
    Ok(places)
}

fn run(words: &[String], folder: &Path) -> Result<(), SourceError> {
    let failed = |why: String| SourceError::Build { command: words.join(" "), why };
    let (program, arguments) = words.split_first().ok_or_else(|| failed("is empty".to_owned()))?;
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| failed(format!("cannot start: {error}")))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(failed(format!("failed: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

fn lay(path: &Path, source: std::io::Error) -> SourceError {
    SourceError::Lay { path: path.to_owned(), source }
}

fn state_of(folder: &Dir<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut waiting = vec![folder];
    while let Some(folder) = waiting.pop() {
        for entry in folder.entries() {
            match entry {
                DirEntry::Dir(inner) => waiting.push(inner),
                DirEntry::File(file) => (file.path(), file.contents()).hash(&mut hasher),
            }
        }
    }
    hasher.finish()
}

fn state_of_folder(folder: &Path) -> std::io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        paths.sort();
        for path in paths {
            match path.is_dir() {
                true => waiting.push(path),
                false => (&path, std::fs::read(&path)?).hash(&mut hasher),
            }
        }
    }
    Ok(hasher.finish())
}

fn lay_down(inside: &Dir<'_>, place: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(place)?;
    for entry in inside.entries() {
        let target = place.join(entry.path().file_name().unwrap_or_default());
        match entry {
            DirEntry::Dir(inner) => lay_down(inner, &target)?,
            DirEntry::File(file) => std::fs::write(&target, file.contents())?,
        }
    }
    Ok(())
}
