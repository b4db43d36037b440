//! The programs that Klatch brings itself: its own file, and two jars, which are inside it.

use std::io::Write;
use std::path::{Path, PathBuf};

use klatch_privileges::{FolderError, cache_folder, file_matches, sha256_hex};
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
    CrowdSelfReport(std::io::Error),
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
    /// The folder for it is not trusted or cannot be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The jar inside cannot be laid down.
    #[error("cannot lay {name}.jar into {folder}", folder = folder.display())]
    Unpack {
        /// Its name, without the ending.
        name: &'static str,
        /// Where it should go.
        folder: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
}

/// The path of this program.
///
/// # Errors
/// The system does not tell.
pub fn klatch_itself() -> Result<PathBuf, OwnError> {
    std::env::current_exe().map_err(OwnError::CrowdSelfReport)
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

impl Jar {
    fn path(&self) -> Result<PathBuf, OwnError> {
        let Jar { name, variable, contents } = *self;
        if let Some(path) = std::env::var_os(variable).map(PathBuf::from) {
            return if path.is_file() { Ok(path) } else { Err(OwnError::JarMissing { variable, path }) };
        }
        if contents.is_empty() {
            return Err(OwnError::NoJar { name, variable });
        }
        let folder = cache_folder()?;
        self.lay_down(folder.path()).map_err(|source| OwnError::Unpack {
            name,
            folder: folder.path().to_owned(),
            source,
        })
    }

    /// The name has the checksum of the contents, so two builds keep apart. A file whose contents differ is replaced.
    fn lay_down(&self, folder: &Path) -> std::io::Result<PathBuf> {
        let path = folder.join(format!("{}-{}.jar", self.name, &sha256_hex(self.contents)[..16]));
        if file_matches(&path, self.contents) {
            return Ok(path);
        }
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(self.contents)?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_jar_that_was_altered_in_place_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let jar = Jar { name: "test", variable: "TEST_JAR", contents: b"as it was built" };
        let path = jar.lay_down(folder.path()).unwrap();
        // As long as the right one: a check of the length would not see it.
        std::fs::write(&path, "as it was bu1lt").unwrap();
        assert_eq!(jar.lay_down(folder.path()).unwrap(), path);
        assert_eq!(std::fs::read(&path).unwrap(), jar.contents);
        let elsewhere = folder.path().join("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        jar.lay_down(folder.path()).unwrap();
        assert!(path.symlink_metadata().unwrap().is_file(), "a link could lead to another jar later");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        jar.lay_down(folder.path()).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o022, 0);
    }
}
