//! Every command of README and guide runs as it stands, or shortened where it would take long. The quick ones run in `make test`, and the
//! others in `make test-all`.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::docs::{pages, words};
use crate::support::{Finished, NativeServer, klatch};

/// How a command of the documentation is tested.
#[derive(Debug, PartialEq)]
enum Way {
    /// It takes at most a second or two, and no JVM.
    Quick(Vec<String>),
    /// It takes longer, or needs what `make test` does not install.
    Long(Vec<String>),
    /// It cannot run in a test; the reason, and what tests it instead.
    NotHere(&'static str),
}

/// Addresses of servers that the guide says run already.
const CHAT_SERVER: &str = "irc://127.0.0.1:6667";
const SITE: &str = "http://127.0.0.1:8080";

/// How to run `klatch` with these arguments.
fn way(arguments: &[String]) -> Way {
    let mut arguments = arguments.to_vec();
    let has = |text: &str| arguments.iter().any(|word| word == text);
    let names = |text: &str| arguments.iter().any(|word| word.contains(text));
    let command = arguments.first().map_or("", String::as_str).to_owned();
    let second = arguments.get(1).cloned().unwrap_or_default();
    match (command.as_str(), second.as_str()) {
        ("lab", "kernels") if arguments.len() == 2 => return Way::Quick(arguments),
        ("lab", "kernels" | "get-kernel") => return Way::NotHere("downloads tens of megabytes: all::lab"),
        ("lab", _) => return Way::NotHere("boots a machine: all::lab and all::counters"),
        ("duet", _) if has("--exact") => return Way::NotHere("boots machines: all::exact"),
        ("sched", "run") => return Way::NotHere("needs sched_ext: all::lab runs it in the lab"),
        ("floor", _) => return Way::NotHere("measures for minutes: alone::floor"),
        ("crowd" | "serve" | "merge", _) => {
            return Way::NotHere("is a part of a run on several machines: shards");
        }
        ("run", "trade") if names("://") => {
            return Way::NotHere("needs a brokerage that runs: all::daytrader");
        }
        ("run", "rr") | ("duet", _) if names("http://") || names("https://") => {
            return Way::NotHere("needs an HTTP server with these URLs: https");
        }
        ("run", _) if has("--scheduler") => {
            return Way::NotHere("needs sched_ext: all::lab runs it in the lab");
        }
        ("run", _) if has("--hosts") || names("10.0.0.7") => {
            return Way::NotHere("names other machines: alone::hosts and alone::slurm");
        }
        _ => {}
    }
    match command.as_str() {
        "run" => {
            let is_quick = has("native-epoll") || names(CHAT_SERVER) || has("mine");
            shorten_run(&mut arguments);
            if is_quick && second != "web" { Way::Quick(arguments) } else { Way::Long(arguments) }
        }
        "duet" | "calibrate" => {
            for (option, value) in [("--duration", "4s"), ("--starts", "1"), ("--warmup", "1")] {
                set(&mut arguments, option, value);
            }
            Way::Long(arguments)
        }
        "study" => {
            arguments.retain(|word| word != "--resume");
            if !second.is_empty() && !arguments.iter().any(|word| word == "--dry-run") {
                arguments.push("--dry-run".to_owned());
            }
            Way::Quick(arguments)
        }
        "simulate" | "trace" | "conformance" => Way::Long(arguments),
        _ => Way::Quick(arguments),
    }
}

/// Makes one short trial of a run.
fn shorten_run(arguments: &mut Vec<String>) {
    let workload = arguments.get(1).filter(|word| !word.starts_with('-')).cloned().unwrap_or_default();
    // Stages say how long a run takes, so they take the place of a duration.
    let has_stages = arguments.iter().any(|word| word == "--stages");
    let short: &[(&str, &str)] = match workload.as_str() {
        _ if has_stages => &[("--stages", "300ms:40")],
        "trade" => &[("--duration", "1"), ("--users", "200"), ("--quotes", "100")],
        "orders" => &[("--duration", "2"), ("--ramp", "1"), ("--injection-rate", "5")],
        "web" => &[("--duration", "2"), ("--lines", "4")],
        "rr" => &[("--duration", "1")],
        _ if arguments.iter().any(|word| word == "rate") => {
            &[("--rooms", "2"), ("--count", "4"), ("--rate", "5")]
        }
        _ => &[("--rooms", "2"), ("--count", "5")],
    };
    short.iter().for_each(|(option, value)| set(arguments, option, value));
    // Several platforms or starts are a study, which has at least two trials.
    let is_study = arguments.iter().any(|word| word == "--starts" || word.contains(','));
    let trials = if is_study { "2" } else { "1" };
    for (option, value) in &[("--warmups", "0"), ("--trials", trials)] {
        set(arguments, option, value);
    }
}

/// Gives an option this value, in place of another one.
fn set(arguments: &mut Vec<String>, option: &str, value: &str) {
    match arguments.iter().position(|word| word == option) {
        Some(place) => value.clone_into(&mut arguments[place + 1]),
        None => arguments.extend([option.to_owned(), value.to_owned()]),
    }
}

/// The arguments of every `klatch` command of README and guide, with its page, each once.
fn commands() -> Vec<(PathBuf, Vec<String>)> {
    let mut seen = BTreeSet::new();
    let mut commands = Vec::new();
    for (path, page) in pages() {
        if path != Path::new("README.md") && !path.starts_with("docs/guide") {
            continue;
        }
        for line in page.console.iter().filter_map(|line| line.strip_prefix("$ klatch")) {
            let arguments = words(line);
            if seen.insert(arguments.clone()) {
                commands.push((path.clone(), arguments));
            }
        }
    }
    commands
}

/// A folder with the files that the pages name, and the servers that they say run already.
struct Stage {
    folder: tempfile::TempDir,
    chat: NativeServer,
    site: NativeServer,
}

impl Stage {
    fn set() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage {
            chat: NativeServer::start_with(&["--model", "epoll"]),
            site: NativeServer::start_with(&["--model", "epoll", "--workload", "web"]),
            folder,
        };
        stage.write_platforms();
        for out in ["results", "results/a", "results/b", "results/before", "results/after"] {
            let run = ["run", "--platform", "native-epoll", "--out", out];
            let mut run: Vec<String> = run.map(str::to_owned).to_vec();
            shorten_run(&mut run);
            let finished = stage.run(Path::new(""), &run);
            assert_eq!(finished.status, Some(0), "{finished:?}");
        }
        stage
    }

    /// The platform `mine` as the guide describes it, whose program stands for one that the reader has; and the study `mine.toml`.
    fn write_platforms(&self) {
        let path = |name: &str| self.folder.path().join(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), text).unwrap();
        };
        let program = env!("CARGO_BIN_EXE_klatch");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && exec echo mine 1.0.0\n\
             [ \"$3\" = --threads ] && exec '{program}' serve --model epoll --listen \"$2\" --loops \"$4\"\n\
             exec '{program}' serve --model epoll --listen \"$2\"\n"
        );
        write("bin/mine-server", &script);
        std::fs::set_permissions(path("bin/mine-server"), PermissionsExt::from_mode(0o755)).unwrap();
        write(
            "my-platforms/mine.toml",
            &block("docs/guide/measure-your-server.md", "# my-platforms/mine.toml"),
        );
        let build = block("docs/guide/ci.md", "name = \"mine\"");
        let server = path("bin/mine-server");
        for folder in ["base", "change", "builds/before", "builds/after"] {
            let text = build.replace("/path/to/base/mine", &server.display().to_string());
            write(&format!("{folder}/mine.toml"), &text);
        }
        write("mine.toml", &block("docs/guide/compare-builds.md", "# mine.toml"));
        write("kernels.toml", &block("docs/guide/compare-kernels.md", "# kernels.toml"));
        write("beside.toml", &block("docs/guide/test-your-scheduler.md", "# beside.toml"));
        write("simulated/mine.toml", &block("docs/guide/own-policy.md", "question = "));
    }

    /// Runs `klatch` in the folder, with the addresses of the servers in place of the guide's.
    fn run(&self, page: &Path, arguments: &[String]) -> Finished {
        let mut search = std::ffi::OsString::from(self.folder.path().join("bin"));
        search.push(":");
        search.push(std::env::var_os("PATH").unwrap_or_default());
        let (chat, site) = (format!("irc://{}", self.chat.address), format!("http://{}", self.site.address));
        let arguments = arguments.iter().map(|word| word.replace(CHAT_SERVER, &chat).replace(SITE, &site));
        // Two pages have a study of this name.
        let is_simulated = page.ends_with("own-policy.md");
        let arguments = arguments.map(|word| match word == "mine.toml" && is_simulated {
            true => format!("simulated/{word}"),
            false => word,
        });
        Finished::run(klatch().args(arguments).env("PATH", search).current_dir(self.folder.path()))
    }

    /// Runs the commands, and returns those that failed, with what they printed.
    fn failures(&self, commands: &[(PathBuf, Vec<String>)]) -> Vec<String> {
        let mut failures = Vec::new();
        for (page, arguments) in commands {
            // A file that is written must not be there.
            if arguments.first().is_some_and(|word| word == "trace") && arguments[1] == "record" {
                let _ = std::fs::remove_file(self.folder.path().join("t.trace"));
            }
            // Stacks are those of a duet with --explain, which needs root and minutes.
            for stacks in arguments.iter().filter(|word| word.ends_with(".folded")) {
                std::fs::write(self.folder.path().join(stacks), "server;main 1\n").unwrap();
            }
            let finished = self.run(page, arguments);
            // A duet this short cannot show what a gate asks for, or has no pair that counts.
            let is_blind = matches!(finished.status, Some(2 | 4)) && finished.err.contains("gate: ");
            // Nor can a single trial decide a requirement.
            let is_judged =
                ["cannot be decided: ", "not met: "].iter().any(|words| finished.out.contains(words));
            let is_blind = is_blind || (matches!(finished.status, Some(4 | 5)) && is_judged);
            let command = arguments.join(" ");
            // Debian has one Java; the guide says how to install others.
            if finished.err.contains(" needs Java ") {
                klatch_testing::not_run(&command, finished.err.trim());
            } else if finished.status != Some(0) && !is_blind {
                failures.push(format!(
                    "{}: klatch {command}\n{:?} {}",
                    page.display(),
                    finished.status,
                    finished.err
                ));
            }
        }
        failures
    }
}

/// The first block of a page that contains this text.
fn block(page: &str, text: &str) -> String {
    let page = &pages()[Path::new(page)].text;
    let blocks = page.split("```").filter_map(|block| block.strip_prefix("toml\n"));
    let found = blocks.into_iter().find(|block| block.contains(text));
    found.unwrap_or_else(|| panic!("no block has {text}")).to_owned()
}

/// The commands of one way.
fn selected(choose: impl Fn(Way) -> Option<Vec<String>>) -> Vec<(PathBuf, Vec<String>)> {
    let commands = commands().into_iter();
    commands.filter_map(|(page, arguments)| Some((page, choose(way(&arguments))?))).collect()
}

#[test]
fn quick_commands_of_readme_and_guide_work() {
    let quick = selected(|way| if let Way::Quick(arguments) = way { Some(arguments) } else { None });
    assert!(quick.len() > 35, "{quick:?}");
    let failures = Stage::set().failures(&quick);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The other commands; `all` calls it.
pub(crate) fn run_long_ones() {
    let long = selected(|way| if let Way::Long(arguments) = way { Some(arguments) } else { None });
    assert!(long.len() > 30, "{long:?}");
    let failures = Stage::set().failures(&long);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn commands_that_cannot_run_in_a_test_are_few() {
    let not_here = commands().into_iter().filter(|(_, arguments)| matches!(way(arguments), Way::NotHere(_)));
    let not_here: Vec<String> = not_here.map(|(_, arguments)| arguments.join(" ")).collect();
    assert!(not_here.len() < 60, "{not_here:#?}");
}
