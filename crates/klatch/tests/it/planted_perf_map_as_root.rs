//! `/tmp/perf-PID.map`, which any user can make while root runs a profile: nothing waits for it, follows it or believes it.

use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::support::{children_of, gone, run_once, until_joined};
use klatch_record::Record;
use klatch_testing::{Need, needs};
use rustix::fs::{CWD, FileType, Mode, mknodat};

const NOBODY: Option<u32> = Some(65_534);
const TIMEOUT_TENS_OF_S: usize = 9;

/// A file in `/tmp` that another user made; removed with its owner.
struct Planted(PathBuf);

impl Planted {
    fn new(pid: u32, plant: impl Fn(&Path)) -> Planted {
        let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        plant(&path);
        Planted(path)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run with a profile of a server in Java, whose perf maps another user plants when all users have joined.
///
/// Its record, the text of its profile, and the end of its standard error.
fn run(plant: impl Fn(&Path)) -> (Record, String, String) {
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--platform", "java-threads", "--instrument", "profile"]);
    command.args(["--pacing", "rate", "--rate", "100", "--count", "100", "--rooms", "4", "--users", "8"]);
    let mut run = Killed(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    until_joined(&mut run.0);
    let children: Vec<u32> = children_of(run.0.id()).into_iter().map(|(pid, _)| pid).collect();
    assert_eq!(children.len(), 2, "a server and a crowd");
    let planted: Vec<Planted> = children.into_iter().map(|pid| Planted::new(pid, &plant)).collect();
    let kinds = |planted: &[Planted]| -> Vec<(u32, u32)> {
        planted
            .iter()
            .map(|file| file.0.symlink_metadata().unwrap())
            .map(|file| (file.uid(), file.mode()))
            .collect()
    };
    let before = kinds(&planted);
    let ended = (0..TIMEOUT_TENS_OF_S).any(|_| gone(run.0.id()).is_some());
    assert!(ended, "klatch waits for a file that another user made");
    assert!(run.0.wait().unwrap().success());
    assert_eq!(kinds(&planted), before, "the files of the other user are that user's");
    let errors = std::io::read_to_string(run.0.stderr.take().unwrap()).unwrap();
    let latest = out.path().join("latest");
    let text = std::fs::read_to_string(latest.join("trial-1.json")).unwrap();
    let record: Record = serde_json::from_str(&text).unwrap();
    let profile = record.observations[0].files[0].clone();
    (record, std::fs::read_to_string(latest.join(profile)).unwrap(), errors)
}

/// The profile is complete without the names of compiled methods, and the reason is printed.
fn has_a_profile_without_names((record, _, errors): (Record, String, String)) {
    assert!(record.observations[0].data.is_some() && record.observations[0].failure.is_none());
    assert!(errors.contains(".map is there already and is not klatch's"), "{errors}");
}

#[test]
fn a_pipe_in_place_of_a_perf_map_does_not_stop_a_profile() {
    needs!(Need::Root, Need::Bpf);
    has_a_profile_without_names(run(|path| {
        mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
        chown(path, NOBODY, NOBODY).unwrap();
    }));
}

#[test]
fn a_link_in_place_of_a_perf_map_is_not_followed_by_the_jvm() {
    needs!(Need::Root, Need::Bpf);
    let of_root = tempfile::tempdir().unwrap();
    let target = of_root.path().join("target");
    has_a_profile_without_names(run(|path| {
        symlink(&target, path).unwrap();
        lchown(path, NOBODY, NOBODY).unwrap();
    }));
    assert!(!target.exists(), "root's JVM wrote through the link");
}

#[test]
fn names_that_another_user_wrote_are_not_in_the_profile() {
    needs!(Need::Root, Need::Bpf);
    let (record, profile, errors) = run(|path| {
        std::fs::write(path, "1 ffffffffffff planted\n").unwrap();
        chown(path, NOBODY, NOBODY).unwrap();
    });
    assert!(!profile.contains("planted"), "{profile}");
    has_a_profile_without_names((record, profile, errors));
}
