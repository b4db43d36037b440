//! The instrument `jvm` against the JVM's own log.

mod shared;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use klatch_instruments::{Kernel, Targets};
use klatch_record::{Found, InstrumentName};
use shared::{files, found, start};

/// Makes garbage when it is told to, and says when it has.
const PROGRAM: &str = r#"
public class Garbage {
    static Object kept;
    public static void main(String[] arguments) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        for (int i = 0; i < 400_000; i++) kept = new byte[4096];
        System.gc();
        System.out.println("done");
        in.readLine();
    }
}
"#;

#[test]
fn collections_and_pauses_are_those_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("Garbage.java");
    std::fs::write(&program, PROGRAM).unwrap();
    let log = folder.path().join("gc.log");
    let mut java = Command::new("java")
        .args(["-Xmx64m", "-XX:+UseSerialGC", &format!("-Xlog:gc:file={}", log.display())])
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs java; install it: scripts/setup.sh test");
    let mut said = BufReader::new(java.stdout.take().unwrap()).lines();
    let mut control = java.stdin.take().unwrap();
    let mut wait_for = |word: &str| assert_eq!(said.next().unwrap().unwrap(), word);
    wait_for("ready");
    let pauses = || {
        let text = std::fs::read_to_string(&log).unwrap();
        let pause = |line: &str| {
            line.contains("Pause").then(|| line.rsplit(' ').next()?.strip_suffix("ms")?.parse().ok())
        };
        text.lines().filter_map(|line| pause(line).flatten()).collect::<Vec<f64>>()
    };
    let before = pauses().len();
    let targets = Targets { servers: vec![java.id()], crowds: Vec::new() };
    let watch = start(Kernel::here(), &[InstrumentName::Jvm], &targets, &files(&folder));
    std::io::Write::write_all(&mut control, b"go\n").unwrap();
    wait_for("done");
    let [observation] = watch.finish().try_into().unwrap();
    let logged = &pauses()[before..];
    drop(control);
    assert!(java.wait().unwrap().success());
    let Found::Jvm(jvm) = found(&observation) else { panic!("{observation:?}") };
    let server = jvm.server.as_ref().unwrap();
    let collections: u64 = server.collectors.iter().map(|collector| collector.collections).sum();
    let time_ms: f64 = server.collectors.iter().map(|collector| collector.time_s * 1e3).sum();
    let logged_ms: f64 = logged.iter().sum();
    assert!(logged.len() > 20, "{logged:?}");
    assert_eq!(collections, logged.len() as u64, "{server:?}");
    assert!((0.7..1.3).contains(&(time_ms / logged_ms)), "{time_ms} ms, by the log {logged_ms} ms");
    let pause = server.gc_pause_ms.unwrap();
    let longest = logged.iter().copied().fold(0.0, f64::max);
    assert!((0.5..1.5).contains(&(pause.max / longest)), "{pause:?}, by the log {longest} ms");
    assert!(server.safepoints >= collections && server.gc_share > 0.0, "{server:?}");
    assert!(server.threads > 3 && (1 << 20..128 << 20).contains(&server.heap_committed_bytes), "{server:?}");
}
