//! The garbage collection time of a snapshot agrees with the JVM's own log.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use klatch_machine::Snapshot;

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
