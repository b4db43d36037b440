//! Where results go: a new folder for each call, and the link `latest` to it.

use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use klatch_record::Role;

/// A record has at most a few hundred kB; this much must fit before anything starts.
const ROOM_NEEDED_BYTES: usize = 512 * 1024;

/// Makes the folder `out/<time>-<name>`, makes sure that a record can be written there, and links `out/latest` to it.
///
/// # Errors
/// The folder cannot be created, or has no room for a record.
pub fn make_folder(out: &Path, name: &str, now: Timestamp) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(out)?;
    let stem = format!("{}-{name}", now.strftime("%Y-%m-%dT%H-%M-%SZ"));
    let folder = new_folder(out, &stem)?;
    if let Err(error) = try_to_write(&folder) {
        // Nothing can be kept here, so nothing is left here.
        let _ = std::fs::remove_dir(&folder);
        return Err(error);
    }
    link_latest(out, &folder)?;
    Ok(folder)
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

fn try_to_write(folder: &Path) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&vec![b' '; ROOM_NEEDED_BYTES])?;
    file.as_file().sync_all()
}

fn link_latest(out: &Path, folder: &Path) -> std::io::Result<()> {
    let link = out.join("latest");
    let name = folder.file_name().expect("a result folder has a name");
    match std::fs::symlink_metadata(&link) {
        Ok(there) if there.is_symlink() => std::fs::remove_file(&link)?,
        // Whatever else is called so is not ours.
        Ok(_) => return Ok(()),
        Err(_) => {}
    }
    std::os::unix::fs::symlink(name, link)
}

/// The name of the next run's files in this folder, without an ending: nothing that is there is overwritten, also where
/// a server that starts again after an interruption is warmed up again.
pub fn next_stem(folder: &Path, role: Role) -> String {
    let name = match role {
        Role::WarmUp => "warm-up",
        Role::Trial => "trial",
    };
    let free = |stem: &String| !folder.join(format!("{stem}.json")).exists();
    (1..).map(|number| format!("{name}-{number}")).find(free).expect("there are more numbers than files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_results_of_one_second_have_two_folders_and_the_link_is_to_the_last() {
        let out = tempfile::tempdir().unwrap();
        let first = make_folder(out.path(), "x", Timestamp::UNIX_EPOCH).unwrap();
        let second = make_folder(out.path(), "x", Timestamp::UNIX_EPOCH).unwrap();
        assert!(first.ends_with("1970-01-01T00-00-00Z-x") && second.ends_with("1970-01-01T00-00-00Z-x-2"));
        assert_eq!(std::fs::canonicalize(out.path().join("latest")).unwrap(), second.canonicalize().unwrap());
    }
}
