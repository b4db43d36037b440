//! Instruments for Java, compared with the JVM's own log and with programs of known waits.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::shared::{data, exclusive, files, start};
use klatch_instruments::{Kernel, Targets};
use klatch_record::{InstrumentName, ObservationData};
use klatch_testing::{Need, needs, newer_java};

/// Allocates garbage after a line on standard input, and prints `done` afterwards.
const PROGRAM: &str = r#"
public class Garbage {
    static Object live;
    public static void main(String[] arguments) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        for (int i = 0; i < 400_000; i++) live = new byte[4096];
        System.gc();
        System.out.println("done");
        in.readLine();
    }
}
"#;

/// Four threads each hold one monitor twenty times for 5 ms.
const HOLDERS: &str = r#"
public class Holders {
    static synchronized void hold() throws InterruptedException { Thread.sleep(5); }
    static void spin() { for (long end = System.nanoTime() + 300_000_000L; System.nanoTime() < end; ) Math.sqrt(end); }
    public static void main(String[] arguments) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                try { for (int n = 0; n < 20; n++) hold(); } catch (InterruptedException e) { throw new Error(e); }
            });
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        for (int i = 0; i < 5; i++) spin();
        System.out.println("done");
        in.readLine();
    }
}
"#;

/// A virtual thread sleeps twenty times for 5 ms with a monitor held. Before Java 24 that pins its carrier thread.
const PINNED: &str = r#"
public class Pinned {
    static synchronized void sleep() {
        try { Thread.sleep(5); } catch (InterruptedException e) { throw new Error(e); }
    }
    public static void main(String[] arguments) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        Thread.ofVirtual().start(() -> { for (int n = 0; n < 20; n++) sleep(); }).join();
        System.out.println("done");
        in.readLine();
    }
}
"#;

/// Two threads hand a turn to each other 50,000 times: by a monitor, or with `-Dpark=true` by semaphores.
const HANDOVER: &str = r#"
import java.util.concurrent.Semaphore;
public class Handover {
    static final int ROUNDS = 50_000;
    static int turn;
    static synchronized void monitor(int me) throws InterruptedException {
        while (turn != me) Handover.class.wait();
        turn = 1 - me;
        Handover.class.notify();
    }
    static void semaphores(Semaphore mine, Semaphore other) throws InterruptedException {
        mine.acquire();
        other.release();
    }
    public static void main(String[] arguments) throws Exception {
        var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("ready");
        in.readLine();
        boolean park = Boolean.getBoolean("park");
        Semaphore[] turns = { new Semaphore(1), new Semaphore(0) };
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                try {
                    for (int n = 0; n < ROUNDS; n++) {
                        if (park) semaphores(turns[me], turns[1 - me]); else monitor(me);
                    }
                } catch (InterruptedException e) { throw new Error(e); }
            });
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        System.out.println("done");
        in.readLine();
    }
}
"#;

/// A program that prints `ready`, works after a line of input, prints `done`, and ends with its input.
struct Java {
    process: Child,
    output: Lines<BufReader<ChildStdout>>,
    control: ChildStdin,
}

impl Java {
    fn start(folder: &tempfile::TempDir, name: &str, program: &str, arguments: &[&str]) -> Java {
        Java::start_by(Path::new("java"), folder, name, program, arguments)
    }

    fn start_by(
        java: &Path,
        folder: &tempfile::TempDir,
        name: &str,
        program: &str,
        arguments: &[&str],
    ) -> Java {
        let file = folder.path().join(format!("{name}.java"));
        std::fs::write(&file, program).unwrap();
        let mut command = Command::new(java);
        command.args(arguments).arg(&file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = command.spawn();
        let needs = |error| {
            panic!("this test needs {}: {error}; install it: scripts/setup.sh test-all", java.display())
        };
        let mut process = started.unwrap_or_else(needs);
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let control = process.stdin.take().unwrap();
        let mut java = Java { process, output, control };
        java.wait_for("ready");
        java
    }

    fn wait_for(&mut self, word: &str) {
        assert_eq!(self.output.next().unwrap().unwrap(), word);
    }

    fn go(&mut self) {
        self.control.write_all(b"go\n").unwrap();
        self.wait_for("done");
    }

    fn targets(&self) -> Targets {
        Targets { servers: vec![self.process.id()], crowds: Vec::new() }
    }

    fn end(self) {
        let Java { mut process, control, .. } = self;
        drop(control);
        assert!(process.wait().unwrap().success());
    }
}

#[test]
fn waits_for_monitors_are_those_of_a_program_that_holds_one() {
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    let mut java = Java::start(&folder, "Holders", HOLDERS, &[]);
    let running = start(Kernel::detect(), &[InstrumentName::Jfr], &java.targets(), &files(&folder));
    java.go();
    let [observation] = running.finish().try_into().unwrap();
    java.end();
    let ObservationData::Jfr(waits) = data(&observation) else { panic!("{observation:?}") };
    let monitors = &waits.server.as_ref().unwrap().monitors;
    let first = &monitors.places[0];
    assert_eq!((first.method.as_str(), first.monitor.as_deref()), ("Holders.hold", Some("java.lang.Class")));
    // It is held for 4 × 20 × 5 ms, and while it is, the three others wait, but for those that are not there yet or any more.
    assert!((0.4..1.5).contains(&first.wait_s) && first.count >= 4, "{monitors:?}");
    assert!(folder.path().join(&observation.files[0]).metadata().unwrap().len() > 0);
}

#[test]
fn pinned_virtual_threads_are_those_of_a_program_that_pins_one() {
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    // From Java 24 on this program pins none.
    let mut java = Java::start_by(&newer_java(), &folder, "Pinned", PINNED, &[]);
    let running = start(Kernel::detect(), &[InstrumentName::Jfr], &java.targets(), &files(&folder));
    java.go();
    let [observation] = running.finish().try_into().unwrap();
    java.end();
    let ObservationData::Jfr(waits) = data(&observation) else { panic!("{observation:?}") };
    let pinned = &waits.server.as_ref().unwrap().pinned;
    // Now and then the recorder has one less.
    assert!((18..=20).contains(&pinned.count), "{pinned:?}");
    // Each is about as long as it slept.
    assert!((0.085..0.5).contains(&pinned.wait_s), "{pinned:?}");
}

#[test]
fn the_profile_names_java_methods() {
    needs!(Need::Bpf);
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    let mut java = Java::start(&folder, "Holders", HOLDERS, &[]);
    let (kernel, targets) = (Kernel::detect(), java.targets());
    let running = start(kernel, &[InstrumentName::Profile], &targets, &files(&folder));
    java.go();
    let [observation] = running.finish().try_into().unwrap();
    java.end();
    assert_eq!(observation.failure, None);
    let folded = std::fs::read_to_string(folder.path().join(&observation.files[0])).unwrap();
    assert!(folded.lines().any(|line| line.contains("Holders") && line.contains("spin")), "{folded}");
    assert!(!Path::new(&format!("/tmp/perf-{}.map", targets.servers[0])).exists());
}

#[test]
fn the_profile_has_the_share_of_synchronization() {
    needs!(Need::Bpf);
    let _exclusive = exclusive();
    let share = |name: &str, program: &str, arguments: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let mut java = Java::start(&folder, name, program, arguments);
        let running = start(Kernel::detect(), &[InstrumentName::Profile], &java.targets(), &files(&folder));
        java.go();
        let [observation] = running.finish().try_into().unwrap();
        java.end();
        let ObservationData::Profile(profile) = data(&observation) else { panic!("{observation:?}") };
        assert_eq!(profile.machine.synchronization, None);
        profile.sides.server.as_ref().unwrap().synchronization.unwrap()
    };
    // What else these two do is to compile.
    let handover = [share("Handover", HANDOVER, &[]), share("Handover", HANDOVER, &["-Dpark=true"])];
    assert!(handover.iter().all(|share| *share > 0.4), "{handover:?}");
    let spinning = share("Holders", HOLDERS, &[]);
    assert!(spinning < 0.1, "{spinning}");
}

#[test]
fn collections_and_pauses_are_those_of_the_log() {
    let _exclusive = exclusive();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("gc.log");
    let arguments = ["-Xmx64m", "-XX:+UseSerialGC", &format!("-Xlog:gc:file={}", log.display())];
    let mut java = Java::start(&folder, "Garbage", PROGRAM, &arguments);
    let pauses = || {
        let text = std::fs::read_to_string(&log).unwrap();
        let pause = |line: &str| {
            line.contains("Pause").then(|| line.rsplit(' ').next()?.strip_suffix("ms")?.parse().ok())
        };
        text.lines().filter_map(|line| pause(line).flatten()).collect::<Vec<f64>>()
    };
    let before = pauses().len();
    let running = start(Kernel::detect(), &[InstrumentName::Jvm], &java.targets(), &files(&folder));
    java.go();
    let [observation] = running.finish().try_into().unwrap();
    let logged = &pauses()[before..];
    java.end();
    let ObservationData::Jvm(jvm) = data(&observation) else { panic!("{observation:?}") };
    let server = jvm.server.as_ref().unwrap();
    let collections: u64 = server.collectors.iter().map(|collector| collector.collections).sum();
    let time_ms: f64 = server.collectors.iter().map(|collector| collector.time_s * 1e3).sum();
    let logged_ms: f64 = logged.iter().sum();
    assert!(logged.len() > 20, "{logged:?}");
    assert_eq!(collections, logged.len() as u64, "{server:?}");
    assert!((0.7..1.3).contains(&(time_ms / logged_ms)), "{time_ms} ms, by the log {logged_ms} ms");
    let pause = server.gc_pause_ms.unwrap();
    // On a busy machine two pauses can fall between two polls. The first is then lost, even if it is the longest.
    let (shortest, longest) = logged.iter().fold((f64::MAX, 0.0_f64), |(s, l), ms| (s.min(*ms), l.max(*ms)));
    assert!((0.5 * shortest..1.5 * longest + 1.0).contains(&pause.max), "{pause:?}, by the log {logged:?}");
    assert!((1..=collections).contains(&pause.count), "{pause:?}");
    assert!(server.safepoints >= collections && server.gc_share > 0.0, "{server:?}");
    assert!(server.threads > 3 && (1 << 20..128 << 20).contains(&server.heap_committed_bytes), "{server:?}");
}

/// What the instrument has of `Garbage` with a collector that works beside the program.
fn observed_with(jdk: &Path, collector: &str) -> klatch_record::observed::JvmSide {
    let folder = tempfile::tempdir().unwrap();
    let option = format!("-XX:+Use{collector}GC");
    let mut java = Java::start_by(&jdk.join("bin/java"), &folder, "Garbage", PROGRAM, &["-Xmx256m", &option]);
    let running = start(Kernel::detect(), &[InstrumentName::Jvm], &java.targets(), &files(&folder));
    java.go();
    let [observation] = running.finish().try_into().unwrap();
    java.end();
    let ObservationData::Jvm(jvm) = data(&observation) else { panic!("{observation:?}") };
    jvm.server.clone().unwrap()
}

#[test]
fn collectors_that_work_beside_the_program_are_all_there_and_their_work_is_no_pause() {
    let _exclusive = exclusive();
    let homes = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let homes = homes.filter_map(|home| home.path().canonicalize().ok());
    let homes: std::collections::BTreeSet<_> =
        homes.filter(|home| home.join("lib/server/libjvm.so").is_file()).collect();
    assert!(!homes.is_empty(), "there is no Java in /usr/lib/jvm; scripts/setup.sh test");
    for jdk in homes {
        let zgc = observed_with(&jdk, "Z");
        let names: Vec<&str> = zgc.collectors.iter().map(|collector| collector.name.as_str()).collect();
        let known: [&[&str]; 2] =
            [&["Z concurrent cycle pauses"], &["ZGC minor collection pauses", "ZGC major collection pauses"]];
        assert!(known.contains(&names.as_slice()), "{names:?}");
        // The program asks for one whole collection, of three pauses at least.
        assert!(zgc.collectors.iter().all(|collector| collector.collections >= 3), "{zgc:?}");
        assert!(zgc.gc_share > 0.0 && zgc.gc_pause_ms.is_some(), "{zgc:?}");
        let shenandoah = observed_with(&jdk, "Shenandoah");
        let cycles_s: f64 = shenandoah.collectors.iter().map(|collector| collector.time_s).sum();
        assert!(cycles_s > 0.0 && shenandoah.safepoint_s < cycles_s, "{shenandoah:?}");
        assert!(shenandoah.gc_share > 0.0 && shenandoah.gc_pause_ms.is_none(), "{shenandoah:?}");
        // `safepoint_s` is of the same time as the share.
        let ratio = shenandoah.safepoint_s / shenandoah.gc_share;
        assert!(cycles_s / ratio > shenandoah.gc_share, "{shenandoah:?}");
    }
}
