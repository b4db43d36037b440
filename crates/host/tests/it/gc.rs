//! The garbage collection time of a snapshot agrees with the JVM's own log.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::{Command, Stdio};

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

#[test]
fn gc_time_agrees_with_the_log() {
    for collector in ["Serial", "G1"] {
        let folder = tempfile::tempdir().unwrap();
        let (program, log) = (folder.path().join("Litter.java"), folder.path().join("gc.log"));
        std::fs::write(&program, PROGRAM).unwrap();
        let mut java = Command::new("java")
            .args(["-Xmx64m", &format!("-XX:+Use{collector}GC"), &format!("-Xlog:gc:file={}", log.display())])
            .arg(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test needs java; install it: scripts/setup.sh test");
        let mut output = BufReader::new(java.stdout.take().unwrap()).lines();
        let mut control = java.stdin.take().unwrap();
        let mut wait_for = |word: &str| assert_eq!(output.next().unwrap().unwrap(), word);
        let logged_s = || {
            let text = std::fs::read_to_string(&log).unwrap();
            let pauses = text.lines().filter(|line| line.contains("Pause"));
            let ms =
                pauses.filter_map(|line| line.rsplit(' ').next()?.strip_suffix("ms")?.parse::<f64>().ok());
            ms.sum::<f64>() / 1e3
        };
        wait_for("ready");
        let (before, logged_before_s) = (Snapshot::take(java.id()).unwrap(), logged_s());
        control.write_all(b"go\n").unwrap();
        wait_for("done");
        let (gc_s, logged_s) = (
            Snapshot::take(java.id()).unwrap().since(&before, 1).gc_s.unwrap(),
            logged_s() - logged_before_s,
        );
        drop(control);
        assert!(java.wait().unwrap().success());
        assert!(
            logged_s > 0.005,
            "{collector}: the log has only {logged_s} s of pauses, too little to compare"
        );
        let ratio = gc_s / logged_s;
        assert!((0.7..1.3).contains(&ratio), "{collector}: {gc_s} s, by the log {logged_s} s");
    }
}

/// A folder of another user, removed with its owner.
struct Planted(PathBuf);

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn counters_that_another_user_made_for_a_jvm_are_not_read() {
    needs!(Need::Root);
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("Litter.java");
    std::fs::write(&program, PROGRAM).unwrap();
    for (options, has_counters) in [(&["-XX:-UsePerfData"][..], false), (&[], true)] {
        let mut java = Command::new("java")
            .args(options)
            .arg(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test needs java; install it: scripts/setup.sh test");
        let mut output = BufReader::new(java.stdout.take().unwrap()).lines();
        assert_eq!(output.next().unwrap().unwrap(), "ready");
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
