//! A record says what ran: what a server or crowd has in force is compared with what was asked for, and recorded.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Finished, klatch, run_once};
use klatch_record::{Record, Status, WarningKind};
use klatch_testing::{Need, needs};

const SMALL: [&str; 6] = ["--rooms", "2", "--users", "3", "--count", "10"];

/// `klatch run` of a Java platform.
fn run(out: &Path, arguments: &[&str]) -> Command {
    let mut command = run_once(out, &SMALL);
    command.args(arguments);
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
        command.env_remove(variable);
    }
    command
}

fn refused(command: &mut Command, words: &[&str]) {
    let finished = Finished::run(command);
    assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""), "{finished:?}");
    for words in words {
        assert!(finished.err.contains(words), "{words:?} is not in {finished:?}");
    }
}

/// A program named `java` in a folder, which starts the real one with other options: `$*` is what it was given.
fn wrapper(folder: &Path, script: &str) -> String {
    let path = folder.join("java");
    let real = real_java();
    klatch_testing::write_program(&path, &script.replace("JAVA", &real.display().to_string()));
    path.display().to_string()
}

/// The Java of the search path.
fn real_java() -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&paths).map(|folder| folder.join("java")).find(|java| java.exists());
    found.expect("this test needs java; install it: scripts/setup.sh test").canonicalize().unwrap()
}

/// Drops options that contain ZGC or Serial.
const DROPS: &str = "#!/bin/bash
words=()
for word in \"$@\"; do
    case $word in *Use*GC) ;; *) words+=(\"$word\") ;; esac
done
exec JAVA -XX:+UseG1GC \"${words[@]}\"
";

/// Adds a heap after the options, and stays the parent of the JVM.
const ADDS: &str = "#!/bin/bash
words=()
for word in \"$@\"; do
    words+=(\"$word\")
    case $word in -Xmx*) words+=(-Xmx1g) ;; esac
done
JAVA \"${words[@]}\"
";

#[test]
fn a_heap_of_a_variable_in_place_of_the_knob_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let words = ["knob heap=64m: the running virtual machine ", "; unset _JAVA_OPTIONS=-Xmx1g"];
    let server = ["--platform", "java-threads", "--knob", "heap=64m"];
    refused(run(out.path(), &server).env("_JAVA_OPTIONS", "-Xmx1g"), &words);
    let crowd = ["--platform", "native-threads", "--crowd", "java", "--crowd-knob", "heap=64m"];
    refused(run(out.path(), &crowd).env("_JAVA_OPTIONS", "-Xmx1g"), &words);
    let mut duet = klatch();
    duet.args(["duet", "native-epoll", "java-threads:heap=64m", "--rooms", "2", "--users", "3", "--out"]);
    duet.arg(out.path()).env("_JAVA_OPTIONS", "-Xmx1g");
    refused(&mut duet, &words);
}

#[test]
fn a_study_records_a_knob_that_is_not_in_force_as_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let text = "question = 'Is a small heap slower?'\nplatforms = ['java-threads']\n\
                [workload]\nrooms = 1\nusers = 3\ncount = 10\n[server]\nheap = '64m'\n\
                [rules]\npreset = 'ibm-2000'\ntrials_max = 3\n";
    let file = folder.path().join("heap.toml");
    std::fs::write(&file, text).unwrap();
    let mut study = klatch();
    study
        .arg("study")
        .arg(file)
        .arg("--out")
        .arg(folder.path().join("results"))
        .env("_JAVA_OPTIONS", "-Xmx1g");
    let finished = Finished::run(&mut study);
    let said = finished.out + &finished.err;
    assert!(said.contains("knob heap=64m: the running virtual machine "), "{said}");
    assert_ne!(finished.status, Some(0));
}

#[test]
fn a_program_named_java_that_changes_its_options_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let java = wrapper(out.path(), DROPS);
    for collector in ["zgc", "serial"] {
        let knob = format!("gc={collector}");
        let words = [format!("knob {knob}: the running virtual machine collects garbage with \"G1 young")];
        let mut command = run(out.path(), &["--platform", "java-threads", "--java", &java, "--knob", &knob]);
        refused(&mut command, &words.each_ref().map(String::as_str));
    }
    let java = wrapper(out.path(), ADDS);
    refused(
        &mut run(out.path(), &["--platform", "java-threads", "--java", &java, "--knob", "heap=64m"]),
        &["knob heap=64m: the running virtual machine ", "see what the program of this Java does"],
    );
}

fn record(command: &mut Command) -> Record {
    let finished = Finished::run(command);
    let record = finished.record();
    assert_eq!(record.verdict.status, Status::Valid, "{finished:?}");
    record
}

#[test]
fn the_record_has_what_the_virtual_machines_say_of_themselves() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("options");
    std::fs::write(&file, "# a comment\n-XX:+UseSerialGC\n").unwrap();
    let knobs =
        ["--platform", "java-threads", "--knob", "heap=64m", "--crowd", "java", "--crowd-knob", "heap=96m"];
    let record =
        record(run(out.path(), &knobs).env("JDK_JAVA_OPTIONS", format!("-Da=b @{}", file.display())));
    for (runtime, mib) in [(record.platform.runtime, 64), (record.crowd.runtime, 96)] {
        let runtime = runtime.unwrap();
        assert_eq!(runtime.environment["JDK_JAVA_OPTIONS"], "-Da=b -XX:+UseSerialGC");
        let vm = runtime.in_force.unwrap();
        let options = vm.options.unwrap();
        let words = ["-Da=b".to_owned(), "-XX:+UseSerialGC".to_owned(), format!("-Xmx{mib}m")];
        assert!(words.iter().all(|word| options.split(' ').any(|other| other == word)), "{options}");
        assert!(vm.collectors.iter().all(|name| name.starts_with("Serial")), "{:?}", vm.collectors);
        let heap_mib = vm.heap_max_bytes.unwrap() >> 20;
        assert!((mib - 4..=mib + 4).contains(&heap_mib), "{heap_mib}");
        assert!(vm.version.contains("VM") && vm.home.is_some(), "{} {:?}", vm.version, vm.home);
    }
    assert!(record.warnings.iter().all(|warning| warning.kind != WarningKind::Unverified));
}

#[test]
fn knobs_that_no_counter_confirms_give_a_warning() {
    let out = tempfile::tempdir().unwrap();
    let mut command = run(out.path(), &["--platform", "java-threads", "--knob", "heap=64m"]);
    let record = record(command.env("JAVA_TOOL_OPTIONS", "-XX:-UsePerfData -XX:+DisableAttachMechanism"));
    let found = record.warnings.iter().find(|warning| warning.kind == WarningKind::Unverified);
    assert!(
        found.is_some_and(|warning| warning.message.starts_with("the server's virtual machine")),
        "{record:?}"
    );
}

#[test]
fn a_virtual_machine_without_counters_is_asked_by_the_jdks_tool() {
    needs!(Need::Program("jcmd", "openjdk-17-jdk-headless"));
    let out = tempfile::tempdir().unwrap();
    let without = |options: &str| {
        let mut command = run(out.path(), &["--platform", "java-threads", "--knob", "heap=64m"]);
        command.env("JAVA_TOOL_OPTIONS", "-XX:-UsePerfData").env("_JAVA_OPTIONS", options);
        command
    };
    refused(
        &mut without("-Xmx1g"),
        &["knob heap=64m: the running virtual machine has a heap of up to 1024 MiB"],
    );
    let record = record(&mut without("-XX:+UseSerialGC"));
    let vm = record.platform.runtime.unwrap().in_force.unwrap();
    assert_eq!((vm.collectors, vm.heap_max_bytes), (vec!["Serial".to_owned()], Some(64 << 20)));
    assert!(record.warnings.iter().all(|warning| warning.kind != WarningKind::Unverified));
}

#[test]
fn netty_without_its_native_library_is_refused_unless_it_is_asked_for() {
    const WITHOUT: &str = "-Dio.netty.transport.noNative=true";
    let out = tempfile::tempdir().unwrap();
    let netty = ["--platform", "java-netty"];
    refused(
        run(out.path(), &netty).env("JAVA_TOOL_OPTIONS", WITHOUT),
        &[
            "runs on nio, and epoll is what it is measured for; knob io=nio measures the other",
            "epoll does not load: ",
        ],
    );
    refused(
        run(out.path(), &[&netty[..], &["--knob", "io=epoll"]].concat()).env("JAVA_TOOL_OPTIONS", WITHOUT),
        &["ended before it was ready (exit status 2)", "epoll does not load: "],
    );
    let io = |arguments: &[&str]| record(&mut run(out.path(), &[&netty[..], arguments].concat())).platform.io;
    assert_eq!((io(&[]).as_deref(), io(&["--knob", "io=nio"]).as_deref()), (Some("epoll"), Some("nio")));
}

#[test]
fn a_java_can_be_named_by_its_path() {
    let out = tempfile::tempdir().unwrap();
    let home = real_java().ancestors().nth(2).unwrap().display().to_string();
    let name = format!("java-threads@{home}");
    let record = record(&mut run(out.path(), &["--platform", &name]));
    assert_eq!(record.platform.name, name);
    assert_eq!(record.platform.runtime.unwrap().path, format!("{home}/bin/java"));
    refused(
        &mut run(out.path(), &["--platform", "java-threads@/nowhere"]),
        &["java-threads cannot run /nowhere: No such file"],
    );
}

#[test]
fn two_javas_of_one_version_are_two_platforms() {
    let folder = tempfile::tempdir().unwrap();
    let pretender = |name: &str| {
        let bin = folder.path().join(name).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let script = "#!/bin/sh\necho '    java.specification.version = 1017' >&2\n";
        klatch_testing::write_program(&bin.join("java"), script);
        bin
    };
    pretender("one");
    let path = format!("{}:/usr/bin:/bin", pretender("two").display());
    let mut command = klatch();
    command.arg("platforms").env("JAVA_HOME", folder.path().join("one")).env("PATH", path);
    let finished = Finished::run(&mut command);
    let second = format!("java-threads@{}/two ", folder.path().display());
    let lines: Vec<&str> = finished.out.lines().filter(|line| line.starts_with("java-threads@")).collect();
    assert!(lines.iter().any(|line| line.starts_with("java-threads@1017 ")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with(&second)), "{second:?} is not in {lines:?}");
}

#[test]
fn variables_that_change_a_runtime_are_in_records_of_runs_and_duets() {
    let out = tempfile::tempdir().unwrap();
    let set = [("GODEBUG", "madvdontneed=1"), ("MALLOC_ARENA_MAX", "2"), ("LD_BIND_NOW", "1")];
    let check = |record: &Record| {
        for (name, value) in set {
            assert_eq!(record.environment.variables.get(name).map(String::as_str), Some(value), "{name}");
        }
    };
    check(&record(run(out.path(), &["--platform", "native-epoll"]).envs(set)));
    let mut duet = klatch();
    duet.args(["duet", "native-epoll", "native-threads", "--rooms", "2", "--users", "3", "--duration", "3s"]);
    duet.args(["--starts", "1", "--warmup", "100ms", "--slice", "20ms", "--out"]).arg(out.path()).envs(set);
    let finished = Finished::run(&mut duet);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    for side in ["a", "b"] {
        let file = out.path().join(format!("latest/{side}/block-001/trial-1.json"));
        check(&serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap());
    }
}

#[test]
fn the_record_has_how_klatch_itself_is_run() {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new("nice");
    command.args([
        "-n",
        "3",
        env!("CARGO_BIN_EXE_klatch"),
        "run",
        "--platform",
        "native-epoll",
        "--warmups",
        "0",
    ]);
    command.args(["--trials", "1", "--json", "--out"]).arg(out.path()).args(SMALL);
    let settings = record(&mut command).environment.settings;
    assert_eq!((settings["own_nice"].as_str(), settings["own_policy"].as_str()), ("3", "other"));
    assert!(
        settings.contains_key("temporary_file_system") && settings.contains_key("own_cpus"),
        "{settings:?}"
    );
}
