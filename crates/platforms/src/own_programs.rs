//! The programs that Klatch brings along: its own executable, and three jars that are compiled into it.

use std::io::Read;
use std::path::PathBuf;

use klatch_host::privileges::{FolderError, PrivateFolder, cache_folder, file_has_sum};
use liblzma::read::XzDecoder;
use thiserror::Error;

/// A jar that is compiled into the program.
struct Jar {
    name: &'static str,
    /// The environment variable that replaces it with another file.
    variable: &'static str,
    span: Span,
}

/// The part of all jars that is one of them.
#[derive(Clone, Copy)]
struct Span {
    /// Bytes of the jars before it.
    offset: u64,
    /// Bytes of the jar; none if it did not exist when this program was built.
    length: u64,
    /// SHA-256 of the jar, in hexadecimal.
    sha256: &'static str,
}

/// The jars inside a program: as they are, or packed together by xz, as in a package.
#[derive(Clone, Copy)]
struct Bundle<'a> {
    bytes: &'a [u8],
    packed: bool,
}

impl Bundle<'_> {
    fn read(self, span: Span) -> std::io::Result<Vec<u8>> {
        let mut jars: Box<dyn Read + '_> =
            if self.packed { Box::new(XzDecoder::new(self.bytes)) } else { Box::new(self.bytes) };
        std::io::copy(&mut jars.by_ref().take(span.offset), &mut std::io::sink())?;
        let mut contents = Vec::new();
        jars.take(span.length).read_to_end(&mut contents)?;
        Ok(contents)
    }
}

/// All jars, one after the other.
static BUNDLE: Bundle = Bundle {
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/jars")),
    packed: include!(concat!(env!("OUT_DIR"), "/packed.rs")),
};
/// In the order of the build.
const SPANS: [Span; 3] = include!(concat!(env!("OUT_DIR"), "/spans.rs"));

static KLATCH: Jar = Jar { name: "klatch", variable: "KLATCH_JAR", span: SPANS[0] };
static NETTY: Jar = Jar { name: "klatch-netty", variable: "KLATCH_NETTY_JAR", span: SPANS[1] };
static WEB: Jar = Jar { name: "klatch-web", variable: "KLATCH_WEB_JAR", span: SPANS[2] };

/// A program of Klatch that cannot be used.
#[derive(Debug, Error)]
pub enum OwnError {
    /// The path of the running executable is unknown.
    #[error("cannot find the path of the klatch program: {0}")]
    Executable(std::io::Error),
    /// The jar is not compiled in, and the environment names no other.
    #[error(
        "this klatch was built without {name}.jar; build it with `make build`, or set {variable} to its path"
    )]
    NoJar {
        /// Name of the jar, without its extension.
        name: &'static str,
        /// The environment variable that can name one.
        variable: &'static str,
    },
    /// The environment names a jar that does not exist.
    #[error("{variable} names {path}, which is not a file", path = path.display())]
    JarMissing {
        /// The environment variable that names it.
        variable: &'static str,
        /// Path in that variable.
        path: PathBuf,
    },
    /// The cache folder is not trusted or cannot be created.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The jar cannot be written to the cache.
    #[error("cannot write {name}.jar to {folder}", folder = folder.display())]
    Unpack {
        /// Name of the jar, without its extension.
        name: &'static str,
        /// The cache folder that was used.
        folder: PathBuf,
        /// The error of the file system.
        #[source]
        source: std::io::Error,
    },
}

/// The path of the running executable.
///
/// # Errors
/// The system does not provide it.
pub fn klatch_program() -> Result<PathBuf, OwnError> {
    std::env::current_exe().map_err(OwnError::Executable)
}

/// The path of `klatch.jar`: the one that `KLATCH_JAR` names, or the compiled-in one, unpacked into the user's cache.
///
/// # Errors
/// There is no jar, or the cache cannot be written.
pub fn klatch_jar() -> Result<PathBuf, OwnError> {
    KLATCH.path()
}

/// The path of `klatch-netty.jar`, which `KLATCH_NETTY_JAR` may replace; see [`klatch_jar`].
pub(crate) fn netty_jar() -> Result<PathBuf, OwnError> {
    NETTY.path()
}

/// The path of `klatch-web.jar`, which `KLATCH_WEB_JAR` may replace; see [`klatch_jar`].
pub(crate) fn web_jar() -> Result<PathBuf, OwnError> {
    WEB.path()
}

impl Jar {
    fn path(&self) -> Result<PathBuf, OwnError> {
        let Jar { name, variable, span, .. } = *self;
        if let Some(path) = std::env::var_os(variable).map(PathBuf::from) {
            return if path.is_file() { Ok(path) } else { Err(OwnError::JarMissing { variable, path }) };
        }
        if span.length == 0 {
            return Err(OwnError::NoJar { name, variable });
        }
        let folder = cache_folder()?;
        self.unpack(BUNDLE, &folder).map_err(|source| OwnError::Unpack {
            name,
            folder: folder.path().to_owned(),
            source,
        })
    }

    /// The file name contains a checksum, so builds do not share a file. A file with other contents is replaced.
    fn unpack(&self, bundle: Bundle<'_>, folder: &PrivateFolder) -> std::io::Result<PathBuf> {
        let sha256 = self.span.sha256;
        let name = format!("{}-{}.jar", self.name, &sha256[..16]);
        let path = folder.path().join(&name);
        if !file_has_sum(&path, sha256) {
            folder.write(&name, &bundle.read(self.span)?)?;
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use klatch_host::privileges::sha256_hex;
    use liblzma::read::XzEncoder;

    use super::*;

    #[test]
    fn a_modified_jar_is_replaced() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::create(temporary.path()).unwrap();
        let contents = b"as it was built";
        let (mut packed, all) = (Vec::new(), [b"before", &contents[..], b"after"].concat());
        XzEncoder::new(&all[..], 0).read_to_end(&mut packed).unwrap();
        let sha256 = sha256_hex(contents).leak();
        let span = Span { offset: 6, length: contents.len() as u64, sha256 };
        let jar = Jar { name: "test", variable: "TEST_JAR", span };
        let bundle = Bundle { bytes: &packed, packed: true };
        let path = jar.unpack(bundle, &folder).unwrap();
        assert_eq!(Bundle { bytes: &all, packed: false }.read(span).unwrap(), contents);
        // The same length, so a check of the length would not detect it.
        std::fs::write(&path, "as it was bu1lt").unwrap();
        assert_eq!(jar.unpack(bundle, &folder).unwrap(), path);
        assert_eq!(std::fs::read(&path).unwrap(), contents);
        let elsewhere = folder.path().join("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        jar.unpack(bundle, &folder).unwrap();
        assert!(path.symlink_metadata().unwrap().is_file(), "a link could lead to another jar later");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        jar.unpack(bundle, &folder).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o022, 0);
    }
}
