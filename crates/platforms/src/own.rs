//! The programs that Klatch brings itself: its own file, and two jars, which are inside it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A jar of Klatch's own.
struct Jar {
    name: &'static str,
    /// The environment variable that names another one.
    variable: &'static str,
    /// As it was when this program was built; empty if it was built without.
    contents: &'static [u8],
}

static KLATCH: Jar = Jar {
    name: "klatch",
    variable: "KLATCH_JAR",
    contents: include_bytes!(concat!(env!("OUT_DIR"), "/klatch.jar")),
};
static NETTY: Jar = Jar {
    name: "klatch-netty",
    variable: "KLATCH_NETTY_JAR",
    contents: include_bytes!(concat!(env!("OUT_DIR"), "/klatch-netty.jar")),
};

/// A program of Klatch's own that cannot be used.
#[derive(Debug, Error)]
pub enum OwnError {
    /// The own file cannot be found.
    #[error("cannot find the klatch program itself: {0}")]
    Itself(std::io::Error),
    /// The jar is neither inside nor named.
    #[error(
        "this klatch was built without {name}.jar; build it with `make build`, or set {variable} to its path"
    )]
    NoJar {
        /// Its name, without the ending.
        name: &'static str,
        /// The environment variable that can name it.
        variable: &'static str,
    },
    /// The jar is named, but not there.
    #[error("{variable} names {path}, which is not a file", path = path.display())]
    JarMissing {
        /// The environment variable.
        variable: &'static str,
        /// As given.
        path: PathBuf,
    },
    /// The jar inside cannot be laid down.
    #[error("cannot lay {name}.jar into {folder}: {source}", folder = folder.display())]
    Unpack {
        /// Its name, without the ending.
        name: &'static str,
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
    KLATCH.path()
}

/// The path of `klatch-netty.jar`, which `KLATCH_NETTY_JAR` can name; otherwise as [`klatch_jar`].
pub(crate) fn netty_jar() -> Result<PathBuf, OwnError> {
    NETTY.path()
}

pub(crate) fn cache_folder() -> PathBuf {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("klatch")
}

impl Jar {
    fn path(&self) -> Result<PathBuf, OwnError> {
        let Jar { name, variable, contents } = *self;
        if let Some(path) = std::env::var_os(variable).map(PathBuf::from) {
            return if path.is_file() { Ok(path) } else { Err(OwnError::JarMissing { variable, path }) };
        }
        if contents.is_empty() {
            return Err(OwnError::NoJar { name, variable });
        }
        let folder = cache_folder();
        self.lay_down(&folder).map_err(|source| OwnError::Unpack { name, folder, source })
    }

    /// The name has a hash of the contents: two builds do not get in each other's way.
    fn lay_down(&self, folder: &Path) -> std::io::Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        self.contents.hash(&mut hasher);
        let path = folder.join(format!("{}-{:016x}.jar", self.name, hasher.finish()));
        if std::fs::metadata(&path).is_ok_and(|file| file.len() == self.contents.len() as u64) {
            return Ok(path);
        }
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(self.contents)?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(path)
    }
}
