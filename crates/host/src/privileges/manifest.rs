//! Checksums of the files in Klatch's caches, in the format of sha256sum(1).

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::privileges::invoker::file_uid;
use crate::privileges::private_group::is_private_group;

/// File name of the manifest in the folder that it describes.
const NAME: &str = "klatch.sha256";

/// A folder differs from its manifest, or cannot be checked.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// A file was altered, added or removed, or other users can write it.
    #[error("{path} is not used: {why}; remove {folder} to have it made again", path = path.display(), folder = folder.display())]
    Changed {
        /// Path of the file concerned.
        path: PathBuf,
        /// The difference, as a clause.
        why: &'static str,
        /// The folder that the manifest describes.
        folder: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("cannot {what} {path}", path = path.display())]
    System {
        /// The failed operation, as a verb phrase.
        what: &'static str,
        /// Path of the file concerned.
        path: PathBuf,
        /// The error of the system call.
        #[source]
        source: io::Error,
    },
}

/// The SHA-256 of `bytes`, in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Whether `path` is a plain file of this user with exactly these contents.
pub fn file_matches(path: &Path, contents: &[u8]) -> bool {
    is_plain(path) && std::fs::read(path).is_ok_and(|actual| actual == contents)
}

/// Whether `path` is a plain file of this user with this SHA-256, in hexadecimal.
pub fn file_has_sum(path: &Path, sum: &str) -> bool {
    is_plain(path) && file_sum(path).is_ok_and(|actual| actual == sum)
}

/// Whether `path` is a plain file of this user that nobody else can write.
fn is_plain(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && fault(&meta).is_none())
}

/// The SHA-256 of a file, in hexadecimal.
fn file_sum(path: &Path) -> io::Result<String> {
    sha256_of(&mut File::open(path)?)
}

/// The SHA-256 of all that can be read, in hexadecimal.
///
/// # Errors
/// It cannot be read.
pub fn sha256_of(from: &mut impl Read) -> io::Result<String> {
    let (mut sum, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hex(&sum.finalize())),
            count => sum.update(&buffer[..count]),
        }
    }
}

/// Writes the manifest with the checksum of every file in `folder`; the last step of creating a folder.
///
/// # Errors
/// A file cannot be read, or the manifest cannot be written.
pub fn write_manifest(folder: &Path) -> Result<(), ManifestError> {
    let path = folder.join(NAME);
    let failed = |source| ManifestError::System { what: "write", path: path.clone(), source };
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    for (name, entry) in contents(folder)? {
        // The manifest is renamed into place when it is complete.
        if entry.path != file.path() && name != NAME {
            writeln!(file, "{}  ./{name}", entry.checksum()?).map_err(failed)?;
        }
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Checks that `folder` has exactly the files that its manifest lists; `false` if it has no manifest.
///
/// The folder must lie in a [`PrivateFolder`](crate::privileges::PrivateFolder).
///
/// # Errors
/// A file is missing, added or altered, other users can write it, or it cannot be read.
pub fn check_manifest(folder: &Path) -> Result<bool, ManifestError> {
    let path = folder.join(NAME);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(source) => return Err(ManifestError::System { what: "read", path, source }),
    };
    let changed =
        |path: &Path, why| ManifestError::Changed { path: path.to_owned(), why, folder: folder.to_owned() };
    let lines = text.lines().map(|line| line.split_once("  ./"));
    let mut expected =
        lines.collect::<Option<Vec<_>>>().ok_or_else(|| changed(&path, "it is no manifest"))?;
    expected.sort_unstable_by_key(|(_, name)| *name);
    let mut expected: BTreeMap<&str, &str> = expected.into_iter().map(|(sum, name)| (name, sum)).collect();
    for (name, entry) in contents(folder)? {
        if let Some(why) = entry.fault {
            return Err(changed(&entry.path, why));
        }
        if name == NAME {
            continue;
        }
        match expected.remove(name.as_str()) {
            None => return Err(changed(&entry.path, "it was added since klatch made the folder")),
            Some(sum) if sum != entry.checksum()? => {
                return Err(changed(&entry.path, "it was altered since klatch made it"));
            }
            Some(_) => {}
        }
    }
    match expected.into_keys().next() {
        Some(name) => Err(changed(&folder.join(name), "it is missing")),
        None => Ok(true),
    }
}

/// A file, folder or link.
struct Entry {
    path: PathBuf,
    /// Why it cannot be trusted.
    fault: Option<&'static str>,
}

impl Entry {
    fn checksum(&self) -> Result<String, ManifestError> {
        let failed = |source| ManifestError::System { what: "read", path: self.path.clone(), source };
        file_sum(&self.path).map_err(failed)
    }
}

/// All files below `folder` by their relative path, and every folder or link with a fault.
fn contents(folder: &Path) -> Result<BTreeMap<String, Entry>, ManifestError> {
    let failed = |what, path: &Path| {
        let path = path.to_owned();
        move |source| ManifestError::System { what, path, source }
    };
    let root = folder.canonicalize().map_err(failed("find", folder))?;
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(inner) = waiting.pop() {
        for entry in std::fs::read_dir(&inner).map_err(failed("list", &inner))? {
            let path = entry.map_err(failed("list", &inner))?.path();
            let meta = std::fs::symlink_metadata(&path).map_err(failed("look at", &path))?;
            let mut fault = fault(&meta);
            if meta.is_symlink() {
                // The target is checked under its own name.
                match path.canonicalize() {
                    Ok(target) if target.starts_with(&root) => continue,
                    Ok(_) => fault = Some("it leads out of the folder"),
                    Err(_) => fault = Some("it leads nowhere"),
                }
            } else if meta.is_dir() {
                waiting.push(path.clone());
                if fault.is_none() {
                    continue;
                }
            } else if !meta.is_file() {
                fault = Some("it is not a plain file");
            }
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            all.insert(name, Entry { path, fault });
        }
    }
    Ok(all)
}

/// Why owner or mode cannot be trusted; `None` if they can.
fn fault(meta: &Metadata) -> Option<&'static str> {
    if meta.uid() != file_uid() {
        return Some("it belongs to another user");
    }
    let by_private_group = || meta.mode() & 0o022 == 0o020 && is_private_group(meta.gid(), meta.uid());
    let loose = !meta.is_symlink() && meta.mode() & 0o022 != 0;
    (loose && !by_private_group()).then_some("others can write it")
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn folder_with_manifest() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        std::fs::write(folder.path().join("bin/server"), "#!/bin/sh\n").unwrap();
        std::fs::write(folder.path().join("notes"), "").unwrap();
        symlink("bin/server", folder.path().join("start")).unwrap();
        write_manifest(folder.path()).unwrap();
        folder
    }

    fn refusal(change: impl FnOnce(&Path)) -> String {
        let folder = folder_with_manifest();
        change(folder.path());
        check_manifest(folder.path()).unwrap_err().to_string()
    }

    #[test]
    fn an_unchanged_folder_passes_and_one_without_a_manifest_does_not() {
        assert!(check_manifest(folder_with_manifest().path()).unwrap());
        assert!(!check_manifest(tempfile::tempdir().unwrap().path()).unwrap());
    }

    #[test]
    fn every_change_is_reported() {
        let write = |name: &'static str| move |folder: &Path| std::fs::write(folder.join(name), "x").unwrap();
        assert!(refusal(write("bin/server")).contains("bin/server is not used: it was altered"));
        assert!(refusal(write("bin/other")).contains("bin/other is not used: it was added"));
        assert!(refusal(write(NAME)).contains("it is no manifest"));
        assert!(refusal(|folder| std::fs::remove_file(folder.join("notes")).unwrap()).contains("is missing"));
        let loose = |folder: &Path| {
            std::fs::set_permissions(folder.join("bin"), PermissionsExt::from_mode(0o777)).unwrap();
        };
        assert!(refusal(loose).contains("bin is not used: others can write it"));
        let out = |folder: &Path| symlink("/bin/sh", folder.join("sh")).unwrap();
        assert!(refusal(out).contains("it leads out of the folder"));
    }

    #[test]
    fn a_manifest_is_what_sha256sum_writes() {
        let folder = folder_with_manifest();
        let checked = std::process::Command::new("sha256sum")
            .args(["--check", "--strict", "--quiet", NAME])
            .current_dir(folder.path())
            .status();
        assert!(checked.unwrap().success());
    }
}
