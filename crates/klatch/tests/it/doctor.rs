//! `klatch doctor`, and what a package is made of: completions and manual pages.

use std::process::Command;

use crate::support::{Finished, klatch, unshared};
use klatch_testing::{Need, needs};
use serde_json::Value;

fn findings(command: &mut Command) -> Vec<Value> {
    let finished = Finished::run(command);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn find<'a>(findings: &'a [Value], name: &str) -> &'a Value {
    findings.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name}: {findings:#?}"))
}

#[test]
fn each_topic_has_findings_and_each_gap_of_software_a_command() {
    // Without a search path there are no servers of other people, and no Java.
    let mut command = klatch();
    command.args(["doctor", "--json"]).env("PATH", "/nowhere").env_remove("JAVA_HOME");
    let findings = findings(&mut command);
    let mut topics: Vec<&str> = findings.iter().map(|one| one["topic"].as_str().unwrap()).collect();
    topics.dedup();
    assert_eq!(
        topics,
        ["Machine", "Size", "Noise", "Folders", "Instruments", "Schedulers", "Runtimes and servers"]
    );
    let gaps = || findings.iter().filter(|one| one["is_gap"] == true);
    let node = find(&findings, "node-events");
    assert_eq!((&node["is_gap"], &node["remedy"]), (&true.into(), &"apt-get install nodejs".into()));
    assert_eq!(find(&findings, "lab")["remedy"], "apt-get install qemu-system-x86");
    assert!(gaps().all(|one| !one["state"].as_str().unwrap().is_empty()), "{findings:#?}");
    let works = findings.iter().filter(|one| one["is_gap"] == false);
    assert!(works.clone().all(|one| one["remedy"].is_null()), "{findings:#?}");
}

#[test]
fn the_limit_of_open_files_bounds_the_number_of_users() {
    let mut command = Command::new("prlimit");
    command.args(["--nofile=1000:1000", env!("CARGO_BIN_EXE_klatch"), "doctor", "--json"]);
    let findings = findings(&mut command);
    assert_eq!(find(&findings, "200 users")["is_gap"], false);
    let gap = find(&findings, "2000 users");
    let state = gap["state"].as_str().unwrap();
    assert!(state.contains("2100 open files, and the hard limit of open files is 1000"), "{gap}");
    assert_eq!(state.matches("hard limit").count(), 1, "both sides meet the same limit: {gap}");
    assert!(gap["remedy"].as_str().unwrap().starts_with("ulimit -Hn 2100; "), "{gap}");
}

#[test]
fn folders_that_can_only_be_read_are_gaps() {
    needs!(Need::Root);
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().display();
    let script = format!("mount --bind {folder} {folder}; mount -o remount,ro,bind {folder}");
    let mut command = klatch();
    command.args(["doctor", "--json"]);
    command.env("XDG_CACHE_HOME", home.path()).env("XDG_STATE_HOME", home.path());
    let findings = findings(&mut unshared(&["--mount"], &script, &command));
    for name in ["cache", "state"] {
        let state = find(&findings, name)["state"].as_str().unwrap();
        assert!(state.contains("cannot write to") && state.contains("Read-only file system"), "{state}");
    }
}

#[test]
fn people_get_the_gaps_counted() {
    let finished = Finished::run(klatch().arg("doctor"));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let gaps = finished.out.lines().filter(|line| line.starts_with("  gap ")).count();
    let last = finished.out.lines().last().unwrap();
    assert!(last.starts_with(&format!("{gaps} gap")), "{finished:?}");
}

#[test]
fn a_shell_completes_commands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("klatch.bash");
    std::fs::write(&script, Finished::run(klatch().args(["completions", "bash"])).out).unwrap();
    // As bash calls it: the command, the word under the cursor, and the word before.
    let completed = |words: &[&str]| {
        let [.., before, last] = words else { panic!("{words:?}") };
        let (place, words) = (words.len() - 1, words.join(" "));
        let program = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={place}; _klatch klatch {last} {before}; echo ${{COMPREPLY[@]}}",
            script.display()
        );
        Finished::run(Command::new("bash").args(["-c", &program])).out
    };
    assert_eq!(completed(&["klatch", "conf"]).trim(), "conformance");
    assert!(completed(&["klatch", "run", "--pac"]).contains("--pacing"));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let finished = Finished::run(klatch().args(["completions", shell]));
        assert_eq!(finished.status, Some(0), "{shell}");
        assert!(finished.out.contains("conformance"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let finished = Finished::run(klatch().args(["man", "--out"]).arg(folder.path()));
    assert_eq!((finished.status, finished.out.as_str()), (Some(0), ""), "{finished:?}");
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for command in klatch::command_line().get_subcommands() {
        assert!(
            page(&format!("klatch-{}.1", command.get_name())).starts_with(".ie"),
            "{}",
            command.get_name()
        );
    }
    assert!(page("klatch-run.1").contains("\\-\\-pacing"), "options are in it");
    let printed = Finished::run(klatch().arg("man")).out;
    assert_eq!(printed, page("klatch.1"));
    let file = folder.path().join("klatch.1");
    let refused = Finished::run(klatch().args(["man", "--out"]).arg(&file));
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("cannot write manual pages into"), "{refused:?}");
}
