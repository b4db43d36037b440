//! The programs that Klatch brings itself: its own file, and `klatch.jar`, which is inside it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// `klatch.jar` as it was when this program was built; empty if it was built without.
static JAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/klatch.jar"));

/// A program of Klatch's own that cannot be used.
#[derive(Debug, Error)]
pub enum OwnError {
    /// The own file cannot be found.
    #[error("cannot find the klatch program itself: {0}")]
    Itself(std::io::Error),
    /// The jar is neither inside nor named.
    #[error(
        "this klatch was built without klatch.jar; build it with `make build`, or set KLATCH_JAR to its path"
    )]
    NoJar,
    /// The jar is named, but not there.
    #[error("KLATCH_JAR names {path}, which is not a file", path = path.display())]
    JarMissing {
        /// As given.
        path: PathBuf,
    },
    /// The jar inside cannot be laid down.
    #[error("cannot lay klatch.jar into {folder}: {source}", folder = folder.display())]
    Unpack {
        /// Where it should go.
        folder: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// The path of this program.
///
/// # Errors
/// The system does not tell.
pub fn klatch_itself() -> Result<PathBuf, OwnError> {
    std::env::current_exe().map_err(OwnError::Itself)
}

/// The path of `klatch.jar`: what `KLATCH_JAR` names, or else the one inside this program, laid into the user's cache.
///
/// # Errors
/// There is none, or the cache cannot be written.
pub fn klatch_jar() -> Result<PathBuf, OwnError> {
    if let Some(named) = std::env::var_os("KLATCH_JAR").map(PathBuf::from) {
        return if named.is_file() { Ok(named) } else { Err(OwnError::JarMissing { path: named }) };
    }
    if JAR.is_empty() {
        return Err(OwnError::NoJar);
    }
    let folder = cache_folder();
    lay_down(&folder).map_err(|source| OwnError::Unpack { folder, source })
}

pub(crate) fn cache_folder() -> PathBuf {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("klatch")
}

/// The name has a hash of the contents: two builds do not get in each other's way.
fn lay_down(folder: &Path) -> std::io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    JAR.hash(&mut hasher);
    let path = folder.join(format!("klatch-{:016x}.jar", hasher.finish()));
    if std::fs::metadata(&path).is_ok_and(|file| file.len() == JAR.len() as u64) {
        return Ok(path);
    }
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(JAR)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}
