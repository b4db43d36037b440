//! Every platform of the catalog gives valid runs, and a user's platform is one file.

use std::path::Path;

use crate::support::{Finished, carrying, gone, klatch, run_of_many, run_once, two_at_a_time};
use klatch_record::{Class, Status};

const SMALL: [&str; 6] = ["--rooms", "3", "--users", "4", "--count", "25"];

/// Rooms and users of the default benchmark on all platforms, to expose an I/O model that fails under load.
#[test]
fn every_platform_is_valid_under_turns_and_under_rounds() {
    // Only the newest of several Javas, because the conformance tests cover all.
    let newest: Vec<String> = carrying("chat").into_iter().filter_map(|mut ways| ways.pop()).collect();
    two_at_a_time(&newest, |way| {
        for pacing in ["turns", "rounds"] {
            let out = tempfile::tempdir().unwrap();
            let mut run = run_of_many(out.path(), &["--platform", way, "--pacing", pacing]);
            let finished = Finished::run(run.args(["--rooms", "10", "--users", "20", "--count", "20"]));
            let record = finished.record();
            assert_eq!(
                (finished.status, record.verdict.status),
                (Some(0), Status::Valid),
                "{way}, {pacing}: {finished:?}"
            );
            assert_eq!((record.score.sent, record.score.received), (4_000, 76_000), "{way}, {pacing}");
            assert!(record.usage.server.unwrap().cpu_s > 0.0, "{way}, {pacing}");
        }
    });
}

#[test]
fn every_java_is_started_once_to_list_all_platforms() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let pretender = |name: &str, version: &str| {
        let bin = folder.path().join(name).join("bin");
        let script = format!(
            "#!/bin/sh\necho {name} >> {}\necho '    java.specification.version = {version}' >&2\n",
            starts.display()
        );
        std::fs::create_dir_all(&bin).unwrap();
        klatch_testing::write_program(&bin.join("java"), &script);
        bin
    };
    pretender("home", "1021");
    let path = format!("{}:/usr/bin:/bin", pretender("path", "1017").display());
    let mut command = klatch();
    let finished = Finished::run(
        command.arg("platforms").env("JAVA_HOME", folder.path().join("home")).env("PATH", path),
    );
    assert!(
        finished.out.contains("java-threads@1021") && finished.out.contains("java-netty@1017"),
        "{finished:?}"
    );
    assert_eq!(std::fs::read_to_string(starts).unwrap(), "home\npath\n");
}

/// A user's catalog with one platform, `mine`.
fn catalog(folder: &Path, command: &str, more: &str) {
    let head = "name = 'mine'\nsummary = 'my own'\nclass = 'open'\nprotocol = 'irc'\n";
    std::fs::write(folder.join("mine.toml"), format!("{head}command = {command}\n{more}")).unwrap();
}

fn run_mine(folder: &Path, arguments: &[&str]) -> Finished {
    let mut run = run_once(&folder.join("results"), &["--platform", "mine", "--catalog"]);
    Finished::run(run.arg(folder).args(SMALL).args(arguments))
}

#[test]
fn a_users_platform_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let klatch = env!("CARGO_BIN_EXE_klatch");
    let command =
        format!("['{klatch}', 'serve', '--coalesce', '--json', '--listen', '{{address}}', '{{knobs}}']");
    let more = "[environment]\nGOGC = 'off'\nTOKEN = 'a-{secret:token}'\n\
                [knobs.sendq]\nhelp = 'bytes'\narguments = ['--sendq', '{value}']\n";
    catalog(folder.path(), &command, more);
    let record = run_mine(folder.path(), &["--knob", "sendq=65536"]).record();
    assert_eq!((record.verdict.status, record.platform.class), (Status::Valid, Some(Class::Open)));
    assert_eq!(record.platform.knobs["sendq"], "65536");
    let variables = [("GOGC", "off"), ("TOKEN", "a-{secret:token}")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(record.platform.environment, variables.into(), "a secret is in no record");
    let command = record.platform.command.unwrap();
    assert_eq!(command[command.len() - 2..], ["--sendq", "65536"]);
    let finished = run_mine(folder.path(), &["--knob", "turbo"]);
    assert_eq!(
        (finished.status, finished.err.trim()),
        (Some(2), "klatch: mine has no knob turbo; it has sendq, cpus, nice, policy, thp")
    );
}

#[test]
fn wrong_catalogs_and_commands_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    catalog(folder.path(), "['/nowhere/server']", "speed = 9\n");
    let finished = run_mine(folder.path(), &[]);
    assert!(
        finished.status == Some(2) && finished.err.contains("line 6") && finished.err.contains("`speed`"),
        "{finished:?}"
    );
    catalog(folder.path(), "['/nowhere/server']", "");
    let finished = run_mine(folder.path(), &[]);
    let message = "klatch: mine: cannot start /nowhere/server: No such file or directory (os error 2): install it, or correct the first word of the command in the platform file";
    assert_eq!((finished.status, finished.err.trim()), (Some(2), message));
}

#[test]
fn a_server_that_dies_after_its_ready_line_makes_an_invalid_run() {
    let folder = tempfile::tempdir().unwrap();
    let ready = r#"{"event":"ready","host":"127.0.0.1","port":9,"pid":1,"class":"open"}"#;
    catalog(folder.path(), &format!("['sh', '-c', '''echo \"$1\"; exit 5''', 'sh', '{ready}']"), "");
    let finished = run_mine(folder.path(), &[]);
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{finished:?}");
    assert!(record.verdict.reasons[0].message.starts_with("the server died: exit status 5"), "{record:?}");
}

#[test]
fn orphaned_children_of_a_server_are_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let klatch = env!("CARGO_BIN_EXE_klatch");
    let pid = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; exec {klatch} serve --json --listen $1", pid.display());
    catalog(folder.path(), &format!("['sh', '-c', '''{script}''', 'sh', '{{address}}']"), "");
    let record = run_mine(folder.path(), &[]).record();
    assert_eq!(record.verdict.status, Status::Valid);
    let pid = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    // It has the signal; on a busy machine it dies a moment later.
    gone(pid).expect("the child ends");
}

#[test]
fn a_platform_can_bring_its_source_and_is_built_once() {
    let folder = tempfile::tempdir().unwrap();
    let klatch = env!("CARGO_BIN_EXE_klatch");
    std::fs::create_dir(folder.path().join("src")).unwrap();
    let script = format!("#!/bin/sh\nexec {klatch} serve --json --listen $1\n");
    std::fs::write(folder.path().join("src/server.sh"), script).unwrap();
    let build = format!(
        "echo >> {}/built; cp server.sh \"$1/server\"; chmod +x \"$1/server\"",
        folder.path().display()
    );
    let more =
        format!("sources = 'src'\n[build]\ncommand = ['sh', '-c', '''{build}''', 'sh', '{{build}}']\n");
    catalog(folder.path(), "['{build}/server', '{address}']", &more);
    for _ in 0..2 {
        assert_eq!(run_mine(folder.path(), &[]).record().verdict.status, Status::Valid);
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("built")).unwrap(), "\n", "it was built once");
    catalog(
        folder.path(),
        "['{build}/server']",
        "sources = 'src'\n[build]\ncommand = ['sh', '-c', 'echo no; false']\n",
    );
    std::fs::write(folder.path().join("src/server.sh"), "changed").unwrap();
    let finished = run_mine(folder.path(), &[]);
    assert!(
        finished.status == Some(2) && finished.err.contains("mine: cannot build it: `sh -c echo no; false`"),
        "{finished:?}"
    );
}

#[test]
fn a_platform_without_a_version_has_none() {
    let folder = tempfile::tempdir().unwrap();
    catalog(folder.path(), "['true']", "");
    let listed = Finished::run(klatch().args(["platforms", "--json", "--catalog"]).arg(folder.path())).out;
    let version = |name: &str| {
        let mut lines = listed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.find(|platform| platform["name"] == name).unwrap()["here"][0]["version"].clone()
    };
    assert_eq!((version("mine"), version("native-epoll")), ("–".into(), env!("CARGO_PKG_VERSION").into()));
}
