//! The garbage collection time of a snapshot agrees with the JVM's own log.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use klatch_host::machine::{Snapshot, counter_file};
use klatch_testing::{Need, needs};

/// Allocates garbage after a line on standard input, and prints `done` afterwards.
const PROGRAM: &str = r#"
public class Litter {
    public static void main(String[] arguments) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        var live = new java.util.ArrayDeque<byte[]>();
        for (int i = 0; i < 200_000; i++) {
            live.add(new byte[4096]);
            if (live.size() > 4_000) live.remove();
        }
        System.gc();
        System.out.println("done");
        in.readLine();
    }
}
"#;

/// The JDKs in `/usr/lib/jvm` from Java 17 on, each once.
fn jdks() -> BTreeSet<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let homes = homes.filter_map(|home| home.path().canonicalize().ok());
    let feature = |home: &PathBuf| {
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
        version.split(['.', '"']).next()?.parse::<u32>().ok()
    };
    homes.filter(|home| home.join("bin/java").is_file() && feature(home) >= Some(17)).collect()
}

/// Times in a log of `gc*` and `safepoint`, s.
#[derive(Clone, Copy, Debug, Default)]
struct Logged {
    pauses: u32,
    paused_s: f64,
    /// Stops of all threads, for whatever reason, from the moment at which the last one had stopped.
    stopped_s: f64,
    /// The same from the request to stop until all threads go on.
    stopping_s: f64,
}

impl Logged {
    fn read(log: &Path) -> Logged {
        let mut logged = Logged::default();
        for line in std::fs::read_to_string(log).unwrap().lines() {
            let ms = || line.rsplit(' ').next()?.strip_suffix("ms")?.parse::<f64>().ok();
            if let (true, Some(ms)) = (line.contains("Pause"), ms()) {
                logged.pauses += 1;
                logged.paused_s += ms / 1e3;
            }
            let seconds = |name: &str| {
                let (_, ns) = line.split_once(name)?;
                Some(ns.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
            };
            logged.stopped_s += seconds(" At safepoint: ").unwrap_or_default();
            logged.stopping_s += seconds(" Total: ").unwrap_or_default();
        }
        logged
    }

    fn since(self, earlier: Logged) -> Logged {
        Logged {
            pauses: self.pauses - earlier.pauses,
            paused_s: self.paused_s - earlier.paused_s,
            stopped_s: self.stopped_s - earlier.stopped_s,
            stopping_s: self.stopping_s - earlier.stopping_s,
        }
    }
}

/// GC time of a run of `Litter` by the snapshots, s, and what its log has.
fn gc_s_and_log(java: &Path, collector: &str, classes: &Path) -> (f64, Logged) {
    let log = classes.join("gc.log");
    let _ = std::fs::remove_file(&log);
    let mut java = Command::new(java)
        .args(["-Xmx128m", &format!("-XX:+Use{collector}GC")])
        .arg(format!("-Xlog:gc*,safepoint:file={}", log.display()))
        .arg("-cp")
        .args([classes, Path::new("Litter")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a JDK in /usr/lib/jvm can be started");
    let mut output = BufReader::new(java.stdout.take().unwrap()).lines();
    let mut control = java.stdin.take().unwrap();
    let mut wait_for = |word: &str| assert_eq!(output.next().unwrap().unwrap(), word, "{collector}");
    wait_for("ready");
    let (before, logged_before) = (Snapshot::take(java.id()).unwrap(), Logged::read(&log));
    control.write_all(b"go\n").unwrap();
    wait_for("done");
    let usage = Snapshot::take(java.id()).unwrap().since(&before, 1);
    let logged = Logged::read(&log).since(logged_before);
    drop(control);
    assert!(java.wait().unwrap().success());
    (usage.gc_s.unwrap(), logged)
}

#[test]
fn gc_time_is_that_of_the_pauses_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Litter.java"), PROGRAM).unwrap();
    let compiled =
        Command::new("javac").args(["--release", "17", "Litter.java"]).current_dir(folder.path()).status();
    assert!(compiled.expect("this test needs javac; install it: scripts/setup.sh test").success());
    let jdks = jdks();
    assert!(!jdks.is_empty(), "there is no Java from 17 on in /usr/lib/jvm; scripts/setup.sh test");
    for jdk in jdks {
        for collector in ["Serial", "Parallel", "G1", "Z", "Shenandoah"] {
            let (gc_s, logged) = gc_s_and_log(&jdk.join("bin/java"), collector, folder.path());
            let [least_s, most_s] = match collector {
                // Its counters have no pauses apart, and versions of Java differ in when a stop begins and ends.
                "Shenandoah" => [logged.stopped_s, logged.stopping_s],
                _ => [logged.paused_s; 2],
            };
            println!("{} {collector}: {gc_s} s, {logged:?}", jdk.display());
            assert!(logged.pauses >= 3, "{} {collector}: too few pauses: {logged:?}", jdk.display());
            // The counters of a pause begin a little earlier than the log does, and end later.
            let margin_s = 0.3 * most_s + 1e-4 * f64::from(logged.pauses);
            assert!(
                (least_s - margin_s..most_s + margin_s).contains(&gc_s),
                "{} {collector}: {gc_s} s, by the log {least_s} to {most_s} s: {logged:?}",
                jdk.display()
            );
        }
    }
}

/// A folder of another user, removed with its owner.
struct Planted(PathBuf);

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Starts the program, which waits for a line now.
fn start(program: &Path, options: &[&str]) -> Child {
    let mut java = Command::new("java")
        .args(options)
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs java; install it: scripts/setup.sh test");
    let mut output = BufReader::new(java.stdout.take().unwrap()).lines();
    assert_eq!(output.next().unwrap().unwrap(), "ready");
    java
}

#[test]
fn counters_that_another_user_made_for_a_jvm_are_not_read() {
    needs!(Need::Root);
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("Litter.java");
    std::fs::write(&program, PROGRAM).unwrap();
    for (options, has_counters) in [(&["-XX:-UsePerfData"][..], false), (&[], true)] {
        let mut java = start(&program, options);
        // The folder of another user, for this JVM.
        let planted = Planted(PathBuf::from(format!("/tmp/hsperfdata_klatch-test-{}", java.id())));
        std::fs::create_dir(&planted.0).unwrap();
        std::fs::set_permissions(&planted.0, PermissionsExt::from_mode(0o755)).unwrap();
        let file = planted.0.join(java.id().to_string());
        std::fs::write(&file, "planted").unwrap();
        [&file, &planted.0].iter().for_each(|path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
        let found = counter_file(java.id());
        assert_eq!(found.is_some(), has_counters, "{options:?}");
        if let Some(found) = found {
            assert_ne!(std::io::read_to_string(found).unwrap_or_default(), "planted");
        }
        drop(java.stdin.take());
        java.wait().unwrap();
    }
}

#[test]
fn counters_that_a_killed_jvm_left_are_not_those_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("Litter.java");
    std::fs::write(&program, PROGRAM).unwrap();
    let (mut killed, mut silent) = (start(&program, &[]), start(&program, &["-XX:-UsePerfData"]));
    let mut bytes = Vec::new();
    counter_file(killed.id()).unwrap().read_to_end(&mut bytes).unwrap();
    // As if the process id of the killed one were that of the other, whose owner is the same.
    let user = std::fs::read_dir("/tmp").unwrap().flatten().map(|entry| entry.path());
    let mut folders = user.filter(|path| path.join(killed.id().to_string()).exists());
    let left = folders.next().unwrap().join(silent.id().to_string());
    std::fs::write(&left, bytes).unwrap();
    let found = counter_file(silent.id()).is_some();
    std::fs::remove_file(&left).unwrap();
    for java in [&mut killed, &mut silent] {
        drop(java.stdin.take());
        java.wait().unwrap();
    }
    assert!(!found);
}
