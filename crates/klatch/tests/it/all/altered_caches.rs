//! Klatch executes only unaltered files from its caches.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Finished, klatch};
use klatch_host::privileges::{PrivateFolder, write_manifest};
use klatch_testing::{Need, needs};

/// Runs one platform with caches below `cache`.
fn run(platform: &str, cache: &Path) -> Finished {
    let mut command = klatch();
    command.args(["run", "--platform", platform, "--rooms", "1", "--users", "2", "--count", "1"]);
    command.args(["--trials", "1", "--warmups", "0", "--out"]).arg(cache.join("results"));
    // Go keeps what it has compiled there too, and compiling its libraries again takes half a minute.
    let go = Command::new("go").args(["env", "GOCACHE"]).output();
    if let Ok(go) = go {
        command.env("GOCACHE", String::from_utf8(go.stdout).unwrap().trim());
    }
    Finished::run(command.env("XDG_CACHE_HOME", cache))
}

/// Replaces a program by one that creates a file beside itself when executed.
fn alter(program: &Path) -> PathBuf {
    let ran = program.with_extension("ran");
    std::fs::write(program, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    ran
}

#[test]
fn an_altered_build_is_refused() {
    needs!(Need::Program("go", "golang-go"));
    let cache = tempfile::tempdir().unwrap();
    let finished = run("go-goroutines", cache.path());
    assert!(finished.out.contains("average throughput"), "{finished:?}");
    let builds = cache.path().join("klatch/builds");
    assert_eq!(std::fs::metadata(&builds).unwrap().mode() & 0o777, 0o700);
    let build = std::fs::read_dir(builds).unwrap().next().unwrap().unwrap().path();
    let ran = alter(&build.join("go-goroutines"));
    let finished = run("go-goroutines", cache.path());
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(
        finished.err.contains("go-goroutines is not used: it was altered since klatch made it"),
        "{finished:?}"
    );
    assert!(!ran.exists());
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    let cache = tempfile::tempdir().unwrap();
    let folder = cache.path().join("klatch");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
    let finished = run("java-threads", cache.path());
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("others can write it (mode 777)"), "{finished:?}");
}

#[test]
fn without_a_home_nothing_falls_back_to_a_temporary_folder() {
    if rustix::process::geteuid().is_root() {
        // Root's caches do not depend on HOME; `planted_files_as_root` covers them.
        return klatch_testing::not_run("an ordinary user without a home", "this is root");
    }
    let out = tempfile::tempdir().unwrap();
    let mut command = klatch();
    command.args(["run", "--platform", "java-threads", "--out"]).arg(out.path());
    let finished = Finished::run(command.env_remove("HOME").env_remove("XDG_CACHE_HOME"));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("set HOME or XDG_CACHE_HOME"), "{finished:?}");
}

#[test]
fn an_altered_jdk_is_not_run() {
    let cache = tempfile::tempdir().unwrap();
    let jdks = PrivateFolder::create(&cache.path().join("klatch/jdks")).unwrap();
    let jdk = jdks.path().join("jdk-99");
    std::fs::create_dir_all(jdk.join("bin")).unwrap();
    let java = jdk.join("bin/java");
    klatch_testing::write_program(&java, "#!/bin/sh\necho '    java.specification.version = 99' >&2\n");
    let listed = || {
        let mut command = klatch();
        Finished::run(command.arg("platforms").env("XDG_CACHE_HOME", cache.path()))
    };
    let finished = listed();
    assert!(
        finished.err.contains("it has no klatch.sha256") && !finished.out.contains("@99"),
        "{finished:?}"
    );
    write_manifest(&jdk).unwrap();
    assert!(listed().out.contains("@99"), "as it was made it is used");
    let ran = alter(&java);
    let finished = listed();
    assert!(finished.err.contains("java is not used: it was altered since klatch made it"), "{finished:?}");
    assert!(!finished.out.contains("@99") && !ran.exists(), "{finished:?}");
}
