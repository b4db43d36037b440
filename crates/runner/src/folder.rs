//! Folders for results: a new one for each call. The link `latest` leads to the last one with a result.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_record::{Role, create_folder, printable_line, sync_folder};

/// Free space that is required before anything starts; a record has a few hundred kB at most.
const ROOM_NEEDED_BYTES: usize = 512 * 1024;

/// Creates the folder `out/<time>-<name>`, and checks that a record can be written there. The folder outlasts a power failure.
///
/// # Errors
/// The folder cannot be created, or has no room for a record.
pub fn make_folder(out: &Path, name: &str, now: Timestamp) -> std::io::Result<PathBuf> {
    create_folder(out)?;
    // The path of a Java can be part of a name.
    let name = name.replace('/', "-");
    let stem = format!("{}-{name}", now.strftime("%Y-%m-%dT%H-%M-%SZ"));
    let folder = new_folder(out, &stem)?;
    if let Err(error) = check_writable(&folder) {
        // The folder cannot be used, so it is removed.
        let _ = std::fs::remove_dir(&folder);
        return Err(error);
    }
    sync_folder(out)?;
    Ok(folder)
}

/// Links `latest`, beside this folder of results, to it. What is written first is the result, so the link never leads to nothing. Where
/// there are no links, as on FAT, that is a warning.
pub fn point_latest_at(folder: &Path) {
    let Some(out) = folder.parent() else { return };
    if let Err(error) = link_latest(out, folder).and_then(|()| sync_folder(out)) {
        let link = out.join("latest");
        let _ = writeln!(
            std::io::stderr(),
            "klatch: cannot link {} to the results: {error}",
            printable_line(&link.display().to_string())
        );
    }
}

/// Removes a folder of results in which nothing was written.
pub(crate) fn remove_empty(folder: &Path) {
    let _ = std::fs::remove_dir(folder);
}

fn new_folder(out: &Path, stem: &str) -> std::io::Result<PathBuf> {
    let mut folder = out.join(stem);
    for number in 2.. {
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                folder = out.join(format!("{stem}-{number}"));
            }
            made => return made.map(|()| folder),
        }
    }
    unreachable!("there are more numbers than folders")
}

fn check_writable(folder: &Path) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&vec![b' '; ROOM_NEEDED_BYTES])?;
    file.as_file().sync_all()
}

fn link_latest(out: &Path, folder: &Path) -> std::io::Result<()> {
    let link = out.join("latest");
    let name = folder.file_name().expect("a result folder has a name");
    // A file of this name that is no link is not Klatch's.
    if std::fs::symlink_metadata(&link).is_ok_and(|there| !there.is_symlink()) {
        return Ok(());
    }
    if std::fs::read_link(&link).is_ok_and(|there| there == Path::new(name)) {
        return Ok(());
    }
    // A new link is renamed over the old one, so that `latest` is there at all times, also if several runs begin at once.
    let new = tempfile::Builder::new().prefix(".latest-").make_in(out, |path| symlink(name, path))?;
    new.persist(link).map_err(|error| error.error)?;
    Ok(())
}

/// The name of the next run's files in `folder`, without extension. No file is overwritten, even when an interrupted
/// block repeats its warm-ups.
pub fn next_stem(folder: &Path, role: Role) -> String {
    stem_after(folder, role, 0)
}

/// The same, after so many runs of this role whose files do not exist yet.
pub(crate) fn stem_after(folder: &Path, role: Role, waiting: usize) -> String {
    let name = match role {
        Role::WarmUp => "warm-up",
        Role::Trial => "trial",
    };
    let free = |stem: &String| !folder.join(format!("{stem}.json")).exists();
    let mut stems = (1..).map(|number| format!("{name}-{number}")).filter(free);
    stems.nth(waiting).expect("there are more numbers than files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_the_same_second_get_separate_folders_and_latest_links_the_last() {
        let out = tempfile::tempdir().unwrap();
        let first = make_folder(out.path(), "x", Timestamp::UNIX_EPOCH).unwrap();
        let of_path = make_folder(out.path(), "x@/opt/jdk", Timestamp::UNIX_EPOCH).unwrap();
        assert!(of_path.is_dir() && of_path.ends_with("1970-01-01T00-00-00Z-x@-opt-jdk"), "{of_path:?}");
        let second = make_folder(out.path(), "x", Timestamp::UNIX_EPOCH).unwrap();
        assert!(first.ends_with("1970-01-01T00-00-00Z-x") && second.ends_with("1970-01-01T00-00-00Z-x-2"));
        assert!(!out.path().join("latest").exists(), "there is no result yet");
        point_latest_at(&first);
        point_latest_at(&second);
        assert_eq!(std::fs::canonicalize(out.path().join("latest")).unwrap(), second.canonicalize().unwrap());
    }

    #[test]
    fn latest_is_a_link_at_all_times_while_several_runs_begin() {
        let out = tempfile::tempdir().unwrap();
        let link = out.path().join("latest");
        point_latest_at(&make_folder(out.path(), "x", Timestamp::UNIX_EPOCH).unwrap());
        let begin = |number: usize| {
            for _ in 0..100 {
                link_latest(out.path(), &out.path().join(number.to_string())).unwrap();
                std::fs::read_link(&link).unwrap();
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|number| drop(scope.spawn(move || begin(number)))));
        let names = std::fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.count(), 2, "only the folder and the link");
    }

    #[test]
    fn a_file_named_latest_is_left_alone() {
        let out = tempfile::tempdir().unwrap();
        std::fs::write(out.path().join("latest"), "mine").unwrap();
        point_latest_at(&make_folder(out.path(), "x", Timestamp::UNIX_EPOCH).unwrap());
        assert_eq!(std::fs::read_to_string(out.path().join("latest")).unwrap(), "mine");
    }
}
