//! Snapshots of machines in the cache: the state after a boot, by all that it depends on.

use std::fs::{File, Permissions};
use std::io::{ErrorKind, Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use klatch_host::privileges::{PrivateFolder, Program, cache_folder, create_anew, sha256_hex, sha256_of};

use crate::boot_settings::Boot;
use crate::error::LabError;
use crate::machine::{Watch, arguments, exact_arguments};
use crate::snapshot::Stopped;

/// Folder of the snapshots in the cache; each has a folder in it.
const FOLDER: &str = "snapshots";
/// Names of the files of a snapshot. It is complete when it has a sum.
const STATE: &str = "state";
const SUM: &str = "state.sha256";
const PART: &str = "part";

/// Most snapshots that are kept, and their most bytes together.
const KEPT_MAX: usize = 8;
const BYTES_MAX: u64 = 4 << 30;

/// Name of the snapshot of a machine: a sum of all that the state after its boot depends on.
///
/// # Errors
/// The kernel or QEMU's version cannot be read.
pub(crate) fn key(boot: &Boot<'_>, image: &[u8]) -> Result<String, LabError> {
    let qemu = boot.image.architecture().qemu();
    let version = Program::new(qemu).arg("-version").output();
    let version = version.map_err(|source| LabError::File { what: "start", path: qemu.into(), source })?;
    key_under(&version.stdout, boot, image)
}

/// The same under this version of QEMU.
fn key_under(version: &[u8], boot: &Boot<'_>, image: &[u8]) -> Result<String, LabError> {
    let kernel = std::fs::read(boot.kernel).map_err(|source| LabError::file("read", boot.kernel, source))?;
    let sums = [version, &kernel[..], image].map(sha256_hex).join(" ");
    Ok(sha256_hex(format!("{sums} {:?} {:?}", arguments(boot), exact_arguments()).as_bytes()))
}

/// The place of a snapshot in the cache.
#[derive(Debug)]
pub(crate) struct Kept {
    all: PrivateFolder,
    folder: PrivateFolder,
}

impl Kept {
    /// The place of the snapshot with this key, which need not be there.
    pub(crate) fn open(key: &str) -> Result<Kept, LabError> {
        Kept::open_in(cache_folder()?.subfolder(FOLDER)?, key)
    }

    fn open_in(all: PrivateFolder, key: &str) -> Result<Kept, LabError> {
        Ok(Kept { folder: all.subfolder(key)?, all })
    }

    /// Locks the place against others, if nobody else has it locked.
    pub(crate) fn try_lock(&self) -> Result<bool, LabError> {
        Ok(self.folder.try_lock()?)
    }

    /// The state, if there is a snapshot.
    ///
    /// # Errors
    /// It is damaged, or another user could have written it.
    pub(crate) fn state(&self) -> Result<Option<File>, LabError> {
        let path = self.path(STATE);
        let failed = |source| LabError::file("read", &path, source);
        let Some(mut sum) = self.folder.read(Path::new(SUM))? else { return Ok(None) };
        let mut expected = String::new();
        sum.read_to_string(&mut expected)
            .map_err(|source| LabError::file("read", &self.path(SUM), source))?;
        let state = self.folder.read(Path::new(STATE))?;
        let mut state = state.ok_or_else(|| failed(ErrorKind::NotFound.into()))?;
        if sha256_of(&mut state).map_err(failed)? != expected {
            return Err(LabError::Damaged { path });
        }
        state.rewind().map_err(failed)?;
        // The time of its last use. If it cannot be set, the snapshot goes earlier.
        let _ = sum.set_modified(SystemTime::now());
        Ok(Some(state))
    }

    /// Keeps the state of a machine, and removes the snapshots that were not used for the longest time.
    ///
    /// # Errors
    /// The disk may be full. Then there is no snapshot.
    pub(crate) fn keep(&self, stopped: &mut Stopped, watch: &Watch<'_>) -> Result<File, LabError> {
        self.write(|part| stopped.save(part, watch))
    }

    /// Writes the state by `save`, which gets the path of an empty file.
    fn write(&self, save: impl FnOnce(&Path) -> Result<(), LabError>) -> Result<File, LabError> {
        let [state, sum, part] = [STATE, SUM, PART].map(|name| self.path(name));
        for old in [&sum, &state] {
            remove(old)?;
        }
        let failed = |source| LabError::file("write", &part, source);
        let file = create_anew(&part).map_err(failed)?;
        file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
        let written = save(&part).and_then(|()| {
            let mut file = File::open(&part).map_err(failed)?;
            let text = sha256_of(&mut file).map_err(failed)?;
            file.rewind().map_err(failed)?;
            std::fs::rename(&part, &state).map_err(failed)?;
            self.folder.write(SUM, text.as_bytes()).map_err(failed)?;
            Ok(file)
        });
        if written.is_err() {
            // A disk that is full has room again.
            let _ = std::fs::remove_file(&part);
        }
        self.remove_oldest();
        written
    }

    /// Removes other snapshots until the rest is few enough. One that is in use stays.
    fn remove_oldest(&self) {
        let size = |folder: &Path| -> u64 {
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
        };
        let used = |folder: &Path| folder.join(SUM).metadata().and_then(|sum| sum.modified()).ok();
        let others = self.all.names().unwrap_or_default().into_iter();
        let mut others: Vec<PathBuf> =
            others.map(|name| self.all.path().join(name)).filter(|path| path != self.folder.path()).collect();
        // The newest first; those without a sum are not whole.
        others.sort_by_key(|path| std::cmp::Reverse(used(path)));
        let (mut kept, mut bytes) = (1, size(self.folder.path()));
        for path in others {
            let more = size(&path);
            if kept < KEPT_MAX && bytes + more <= BYTES_MAX {
                (kept, bytes) = (kept + 1, bytes + more);
                continue;
            }
            let other = PrivateFolder::open(&path);
            if other.is_ok_and(|other| other.is_some_and(|other| other.try_lock().unwrap_or(false))) {
                // What cannot be removed now is tried again with the next one.
                let _ = std::fs::remove_dir_all(&path);
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Removes a file or link, which need not be there.
fn remove(path: &Path) -> Result<(), LabError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(LabError::file("replace", path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::*;
    use crate::boot_settings::Snapshots;
    use crate::cpus::Cpus;
    use crate::image::Image;
    use crate::job::Job;

    fn kept(cache: &Path, key: &str) -> Kept {
        Kept::open_in(PrivateFolder::create(cache).unwrap(), key).unwrap()
    }

    fn write(kept: &Kept, text: &'static str) -> Result<File, LabError> {
        kept.write(|part| std::fs::write(part, text).map_err(|source| LabError::file("write", part, source)))
    }

    fn text(file: Option<File>) -> Option<String> {
        file.map(|mut file| {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            text
        })
    }

    #[test]
    fn a_snapshot_is_whole_or_not_there() {
        let cache = tempfile::tempdir().unwrap();
        let one = kept(cache.path(), "one");
        assert!(one.state().unwrap().is_none());
        let full = |part: &Path| {
            std::fs::write(part, "half").unwrap();
            Err(LabError::file("write", part, ErrorKind::StorageFull.into()))
        };
        assert!(one.write(full).is_err());
        assert!(one.state().unwrap().is_none() && !one.path(PART).exists());
        assert_eq!(text(Some(write(&one, "state").unwrap())).as_deref(), Some("state"));
        assert_eq!(text(one.state().unwrap()).as_deref(), Some("state"));
        // A process that was killed while it wrote.
        std::fs::remove_file(one.path(SUM)).unwrap();
        std::fs::write(one.path(PART), "half").unwrap();
        assert!(one.state().unwrap().is_none());
        write(&one, "other").unwrap();
        assert_eq!(text(one.state().unwrap()).as_deref(), Some("other"));
    }

    #[test]
    fn a_damaged_or_foreign_snapshot_is_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let one = kept(cache.path(), "one");
        let refusal = || one.state().unwrap_err().to_string();
        write(&one, "state").unwrap();
        std::fs::OpenOptions::new().append(true).open(one.path(STATE)).unwrap().write_all(b"!").unwrap();
        assert!(refusal().contains("state was altered"), "{}", refusal());
        write(&one, "state").unwrap();
        std::fs::set_permissions(one.path(STATE), Permissions::from_mode(0o666)).unwrap();
        assert!(refusal().contains("others can write it"), "{}", refusal());
        write(&one, "state").unwrap();
        let elsewhere = cache.path().join("elsewhere");
        std::fs::rename(one.path(STATE), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, one.path(STATE)).unwrap();
        assert!(refusal().contains("symbolic link"), "{}", refusal());
        write(&one, "new").unwrap();
        assert_eq!(text(one.state().unwrap()).as_deref(), Some("new"));
        assert_eq!(std::fs::read_to_string(elsewhere).unwrap(), "state");
    }

    #[test]
    fn the_snapshots_that_were_used_last_are_kept() {
        let cache = tempfile::tempdir().unwrap();
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for (number, name) in ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().enumerate() {
            let one = kept(cache.path(), name);
            write(&one, "state").unwrap();
            File::open(one.path(SUM)).unwrap().set_modified(at(number as u64)).unwrap();
        }
        // The oldest is used again, and the next is in use.
        assert!(kept(cache.path(), "a").state().unwrap().is_some());
        let in_use = kept(cache.path(), "b");
        assert!(in_use.try_lock().unwrap());
        write(&kept(cache.path(), "i"), "state").unwrap();
        write(&kept(cache.path(), "j"), "state").unwrap();
        let mut names = PrivateFolder::create(cache.path()).unwrap().names().unwrap();
        names.sort();
        assert_eq!(names, ["a", "b", "d", "e", "f", "g", "h", "i", "j"]);
    }

    #[test]
    fn all_that_a_boot_depends_on_is_in_the_key() {
        let folder = tempfile::tempdir().unwrap();
        let kernels = ["one", "two"].map(|name| {
            let path = folder.path().join(name);
            std::fs::write(&path, name).unwrap();
            path
        });
        let interrupted = AtomicBool::new(false);
        let boot = |change: fn(&mut Boot<'_>)| {
            let mut boot = Boot {
                kernel: &kernels[0],
                image: Image::default(),
                cpus: Cpus::Number(1),
                memory_mb: 1024,
                seed: 1,
                parameters: String::new(),
                job: Job { commands: Vec::new(), start_us: 0 },
                counters: None,
                limit: Duration::MAX,
                interrupted: &interrupted,
                snapshots: Snapshots::Anew,
            };
            change(&mut boot);
            boot
        };
        let key = |boot: &Boot<'_>, image: &[u8]| key_under(b"7.2", boot, image).unwrap();
        let plain = key(&boot(|_| {}), b"image");
        let key_of = |change: fn(&mut Boot<'_>)| key(&boot(change), b"image");
        let topology = |boot: &mut Boot<'_>| boot.cpus = Cpus::Topology("2 llcs x 1 core".parse().unwrap());
        let changes: [fn(&mut Boot<'_>); 6] = [
            |boot| boot.cpus = Cpus::Number(2),
            topology,
            |boot| boot.memory_mb = 2048,
            |boot| boot.seed = 2,
            |boot| boot.parameters = "mitigations=auto".to_owned(),
            |boot| boot.counters = Some(String::new()),
        ];
        let mut keys: Vec<String> = changes.into_iter().map(key_of).collect();
        let other_kernel = Boot { kernel: &kernels[1], ..boot(|_| {}) };
        keys.extend([key(&other_kernel, b"image"), key(&boot(|_| {}), b"images")]);
        keys.push(key_under(b"7.3", &boot(|_| {}), b"image").unwrap());
        keys.push(plain.clone());
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 10, "{keys:?}");
        // The job and the caches are of the machine that goes on.
        assert_eq!(key_of(|boot| boot.job.start_us = 7), plain);
        assert_eq!(
            key_of(|boot| boot.counters = Some("line=64".to_owned())),
            key_of(|boot| boot.counters = Some(String::new()))
        );
    }
}
