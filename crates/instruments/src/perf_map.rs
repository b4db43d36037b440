//! Names of routines that a program compiled while it ran: the file `/tmp/perf-PID.map`.
//!
//! Any user can make a file of this name. Its name is taken before a JVM writes it, and only a plain file of the owner of the
//! process is read.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use klatch_host::machine::ProcessIdentity;
use klatch_host::privileges::{file_uid, open_plain};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;

use crate::jdk::{is_jvm, run_tool, tool};

/// Largest file that is read, in bytes. That of a large application has ten million.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The file with the names of a JVM's compiled methods. Dropping it removes the file.
pub(crate) struct PerfMap {
    /// `/tmp` as the process sees it.
    folder: OwnedFd,
    name: String,
}

impl PerfMap {
    /// Makes the JVM write the file; `None` without Java 17 or a JDK, or if something of this name is there already, such as
    /// that of a JVM with `-XX:+DumpPerfMapAtExit`. The JVM needs no special option.
    pub(crate) fn write(pid: u32) -> Option<PerfMap> {
        if !is_jvm(pid) {
            return None;
        }
        let process = ProcessIdentity::of(pid)?;
        let jcmd = tool(pid, "jcmd").ok()?;
        let map = PerfMap::reserve(&process)?;
        run_tool(&jcmd, &[&pid.to_string(), "Compiler.perfmap"]).ok()?;
        Some(map)
    }

    /// Creates the file, empty, for the JVM to overwrite: it would follow a link of this name, and wait for a pipe.
    fn reserve(process: &ProcessIdentity) -> Option<PerfMap> {
        let path = process.temporary_folder();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, path, flags, Mode::empty()).ok()?;
        // The JVM could not write a file of another user.
        if process.owner != file_uid() || !only_owners_rename(&folder, process.owner) {
            return None;
        }
        let name = file_name(process);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&folder, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(_) => Some(PerfMap { folder, name }),
            Err(error) => {
                if error == Errno::EXIST {
                    warn(&name);
                }
                None
            }
        }
    }
}

impl Drop for PerfMap {
    fn drop(&mut self) {
        // A file left in /tmp does no harm.
        let _ = unlinkat(&self.folder, &self.name, AtFlags::empty());
    }
}

/// Whether nobody but the owner of a file in this folder can put another one in its place.
fn only_owners_rename(folder: &OwnedFd, owner: u32) -> bool {
    let Ok(stat) = fstat(folder) else { return false };
    let is_sticky = stat.st_mode & Mode::SVTX.bits() != 0;
    (stat.st_uid == 0 || stat.st_uid == owner) && (is_sticky || stat.st_mode & 0o022 == 0)
}

fn file_name(process: &ProcessIdentity) -> String {
    format!("perf-{}.map", process.own_pid)
}

/// The profile is complete without these names.
fn warn(name: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "klatch: /tmp/{name} is there already and is not klatch's, so compiled Java methods have no names; remove it"
    );
}

/// The routines of a process, by address.
#[derive(Default)]
pub(crate) struct PerfNames(Vec<Routine>);

struct Routine {
    start: u64,
    bytes: u64,
    name: String,
}

impl PerfNames {
    /// Those that the process's file names; none if there is no such file, or one that somebody else may have written.
    pub(crate) fn of(pid: u32) -> PerfNames {
        let read = || {
            let process = ProcessIdentity::of(pid)?;
            read(&process.temporary_folder().join(file_name(&process)), process.owner)
        };
        read().unwrap_or_default()
    }

    /// Name of the routine at this address.
    pub(crate) fn name(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|routine| routine.start <= address);
        let routine = &self.0[after.checked_sub(1)?];
        (address - routine.start < routine.bytes).then_some(&routine.name)
    }
}

fn read(path: &Path, owner: u32) -> Option<PerfNames> {
    let mut bytes = Vec::new();
    open_plain(path, owner).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let mut routines: Vec<Routine> = String::from_utf8_lossy(&bytes).lines().filter_map(routine).collect();
    routines.sort_by_key(|routine| routine.start);
    Some(PerfNames(routines))
}

/// A line in perf's format, or in HotSpot's, which has `0x` before address and size, and whole signatures.
fn routine(line: &str) -> Option<Routine> {
    let mut words = line.splitn(3, ' ');
    let mut number = || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
    let (start, bytes) = (number()?, number()?);
    let name = words.next()?;
    // HotSpot writes the return type before the method and the parameters after it.
    let method = name.split_once('(').and_then(|(before, _)| before.rsplit_once(' '));
    let name = method.map_or(name, |(_, method)| if method.is_empty() { name } else { method });
    Some(Routine { start, bytes, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_methods() {
        let name = |line: &str| routine(line).map(|routine| (routine.start, routine.bytes, routine.name));
        let line = "0x00007f01 0x0270 java.lang.Object jdk.internal.misc.Unsafe.get(java.lang.Object, long)";
        assert_eq!(name(line), Some((0x7f01, 0x270, "jdk.internal.misc.Unsafe.get".to_owned())));
        assert_eq!(name("01 2 StubRoutines (1)"), Some((1, 2, "StubRoutines (1)".to_owned())));
        assert_eq!(name("what else"), None);
    }

    #[test]
    fn an_address_has_the_name_of_the_routine_around_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("map");
        std::fs::write(&file, "20 10 second\n10 8 first\nno line\n").unwrap();
        let names = read(&file, file_uid()).unwrap();
        let of = |address| names.name(address);
        assert_eq!((of(0xf), of(0x10), of(0x17), of(0x18)), (None, Some("first"), Some("first"), None));
        assert_eq!((of(0x2f), of(0x30), of(u64::MAX)), (Some("second"), None, None));
        assert!(read(&file, file_uid() + 1).is_none());
    }

    #[test]
    fn the_name_of_the_file_is_taken_or_refused() {
        let process = ProcessIdentity::of(std::process::id()).unwrap();
        let path = process.temporary_folder().join(file_name(&process));
        let map = PerfMap::reserve(&process).unwrap();
        assert!(PerfMap::reserve(&process).is_none() && path.exists());
        drop(map);
        assert!(!path.exists());
        // The target of a link of this name is not created.
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let refused = PerfMap::reserve(&process).is_none();
        std::fs::remove_file(&path).unwrap();
        assert!(refused && !target.exists());
    }
}
