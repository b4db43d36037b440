//! What Klatch runs from its caches is what it put there.

mod support;

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use klatch_privileges::{PrivateFolder, write_manifest};
use klatch_testing::{Need, needs};
use support::{Said, klatch};

/// A run of one platform with caches below `cache`.
fn run(platform: &str, cache: &Path) -> Said {
    let mut command = klatch();
    command.args(["run", "--platform", platform, "--rooms", "1", "--users", "2", "--count", "1"]);
    command.args(["--trials", "1", "--warmup", "0", "--out"]).arg(cache.join("results"));
    Said::of(command.env("XDG_CACHE_HOME", cache))
}

/// Replaces a program by one that leaves a file beside itself when it runs.
fn alter(program: &Path) -> PathBuf {
    let ran = program.with_extension("ran");
    std::fs::write(program, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    ran
}

#[test]
fn an_altered_build_is_refused() {
    needs!(Need::Program("go", "golang-go"));
    let cache = tempfile::tempdir().unwrap();
    let said = run("go-goroutines", cache.path());
    assert!(said.out.contains("average throughput"), "{said:?}");
    let builds = cache.path().join("klatch/builds");
    assert_eq!(std::fs::metadata(&builds).unwrap().mode() & 0o777, 0o700);
    let build = std::fs::read_dir(builds).unwrap().next().unwrap().unwrap().path();
    let ran = alter(&build.join("go-goroutines"));
    let said = run("go-goroutines", cache.path());
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("go-goroutines is not used: it was altered since klatch made it"), "{said:?}");
    assert!(!ran.exists());
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    let cache = tempfile::tempdir().unwrap();
    let folder = cache.path().join("klatch");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
    let said = run("java-threads", cache.path());
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("others can write it (mode 777)"), "{said:?}");
}

#[test]
fn without_a_home_nothing_falls_back_to_a_temporary_folder() {
    if rustix::process::geteuid().is_root() {
        // Root's caches do not depend on HOME: tests/planted_files_as_root.rs.
        return klatch_testing::not_run("an ordinary user without a home", "this is root");
    }
    let out = tempfile::tempdir().unwrap();
    let mut command = klatch();
    command.args(["run", "--platform", "java-threads", "--out"]).arg(out.path());
    let said = Said::of(command.env_remove("HOME").env_remove("XDG_CACHE_HOME"));
    assert_eq!(said.status, Some(2), "{said:?}");
    assert!(said.err.contains("set HOME or XDG_CACHE_HOME"), "{said:?}");
}

#[test]
fn an_altered_jdk_is_not_run() {
    let cache = tempfile::tempdir().unwrap();
    let jdks = PrivateFolder::create(&cache.path().join("klatch/jdks")).unwrap();
    let jdk = jdks.path().join("jdk-99");
    std::fs::create_dir_all(jdk.join("bin")).unwrap();
    let java = jdk.join("bin/java");
    std::fs::write(&java, "#!/bin/sh\necho '    java.specification.version = 99' >&2\n").unwrap();
    std::fs::set_permissions(&java, PermissionsExt::from_mode(0o755)).unwrap();
    let listed = || {
        let mut command = klatch();
        Said::of(command.arg("platforms").env("XDG_CACHE_HOME", cache.path()))
    };
    let said = listed();
    assert!(said.err.contains("it has no klatch.sha256") && !said.out.contains("@99"), "{said:?}");
    write_manifest(&jdk).unwrap();
    assert!(listed().out.contains("@99"), "as it was made it is used");
    let ran = alter(&java);
    let said = listed();
    assert!(said.err.contains("java is not used: it was altered since klatch made it"), "{said:?}");
    assert!(!said.out.contains("@99") && !ran.exists(), "{said:?}");
}
