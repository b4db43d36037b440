//! Every option of `klatch run` that affects a measurement is in the record, and the report's command repeats it.

use std::collections::BTreeSet;

use clap::FromArgMatches;
use klatch_record::Record;
use klatch_report::run_again;
use klatch_runner::samples::record_of;

use super::*;
use crate::command_line;

/// Options that do not affect what is measured, and `--starts`, as a study repeats itself.
const NOT_MEASURED: [&str; 9] =
    ["hdr", "json", "junit", "label", "out", "password-file", "percentiles", "starts", "web"];

/// Cases of options with values that are not the defaults, after `klatch run`. `JAVA` is a program that reports Java 17, and `DIR` a
/// folder with a catalog.
const CASES: [&str; 42] = [
    "",
    "--platform native-uring",
    "--platform native-threads --volanomark",
    "--knob loops=2 --knob nice=3",
    "--transport ws",
    "--transport wss --subprotocol none",
    "--workload rr --transport tls",
    "--workload web --knob ktls=off --knob transport=tls",
    "--transport tls --ciphers TLS_AES_128_GCM_SHA256 --tls-version 1.3",
    "--target ircs://chat.example:6697 --addresses all --source-address 192.0.2.1,::1",
    "--target https://h/p --workload rr --client-certificate 'my cert.pem' --client-key key.pem --tls-version 1.2",
    "--target https://h/p --workload rr --ciphers TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,TLS_AES_256_GCM_SHA384",
    "--target irc://[::1]:6667",
    "--target wss://chat.example:443/irc?a=b --ca ca.pem --subprotocol binary.ircv3.net",
    "--target http://127.0.0.1:9080/daytrader --workload trade",
    "--target https://h/p?a=b --ca ca.pem --workload rr --method PUT --header 'Accept: x' --header 'Cookie: @/dev/null' --expect-json /a=b",
    "--target http://[::1]:8080 --workload rr --url /x --expect-status 404",
    "--target https://h/ --workload web --static-only",
    "--platform java-threads@17 --java JAVA",
    "--platform native-epoll --crowd java --java JAVA",
    "--catalog DIR",
    "--crowd native-threads",
    "--crowd-knob cpus=0 --crowd-knob nice=2",
    "--crowd-loops 2",
    "--pacing rate --rate 5 --seed 7",
    "--instrument usage,profile",
    "--warmups 0",
    "--warmups 2",
    "--warmup 1500ms",
    "--trials 5",
    "--require 'p99 <= 5ms' --require 'errors == 0'",
    "--scheduler o1:yield=2,warm_us=0",
    "--scheduler fifo",
    "--sysctl vm.nr_hugepages=64 --allow-sysctl",
    "--shards 3",
    "--servers 2 --shards 4",
    "--host-address 192.0.2.1",
    "--hosts alpha,beta --host-address 192.0.2.1",
    "--hosts alpha --host-program '/opt/my klatch' --reach 'on {host} {command...}' --host-address 192.0.2.1",
    "--ready-timeout 7.5",
    "--timeout 90",
    "--connect-timeout 0.25",
];

fn words(case: &str) -> Vec<String> {
    shlex::split(case).expect("cases are quoted as in a shell")
}

pub(crate) fn parse(words: &[String]) -> Plan {
    let matches =
        command_line().try_get_matches_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let (name, run) = matches.subcommand().expect("it is a command of klatch");
    assert_eq!(name, "run");
    Run::from_arg_matches(run).unwrap().plan().unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

/// Everything that a plan asks for, as text. The results folder is no part of it.
pub(crate) fn text(plan: Plan) -> String {
    format!("{:#?}", Plan { out: "results".into(), ..plan })
}

/// The plan of a case, its record, and the command that repeats it.
fn again(case: &[String]) -> (Plan, Record, Vec<String>) {
    let start = ["klatch", "run", "--platform", "native-epoll"].map(str::to_owned);
    // A platform of the case overrides the first one.
    let start = if case.iter().any(|word| word == "--target") { &start[..2] } else { &start[..] };
    let plan = parse(&[start, case].concat());
    let record = record_of(&plan).unwrap_or_else(|error| panic!("{case:?}: {error}"));
    let words = run_again(&record).expect("a run can be repeated");
    (plan, record, words)
}

/// A program in this folder that reports Java 17.
pub(crate) fn java_17(folder: &std::path::Path) -> std::path::PathBuf {
    let java = folder.join("java");
    let script = "#!/bin/sh\necho '    java.specification.version = 17' >&2\n";
    klatch_testing::write_program(&java, script);
    java
}

/// The cases with a Java and a catalog in a folder.
fn cases(folder: &std::path::Path) -> Vec<Vec<String>> {
    let java = java_17(folder);
    let fill = |word: String| match word.as_str() {
        "JAVA" => java.display().to_string(),
        "DIR" => folder.join("catalog").display().to_string(),
        _ => word,
    };
    std::fs::create_dir(folder.join("catalog")).unwrap();
    CASES.iter().map(|case| words(case).into_iter().map(fill).collect()).collect()
}

#[test]
fn the_command_of_a_record_repeats_its_plan() {
    let folder = tempfile::tempdir().unwrap();
    let usual = text(again(&[]).0);
    for case in cases(folder.path()) {
        let (plan, record, words) = again(&case);
        assert!(case.is_empty() || text(plan.clone()) != usual, "{case:?} is the default");
        let repeated = parse(&words);
        assert_eq!(text(plan), text(repeated.clone()), "{case:?} became {words:?}");
        assert_eq!(record, record_of(&repeated).unwrap(), "{case:?} became {words:?}");
    }
}

#[test]
fn every_option_that_is_measured_has_a_case() {
    let command = command_line();
    let run = command.find_subcommand("run").unwrap();
    let tested: BTreeSet<String> = CASES.iter().flat_map(|case| words(case)).collect();
    let is_tested = |name: &str| tested.contains(&format!("--{name}")) || NOT_MEASURED.contains(&name);
    // The options of the workload are declared with the workload.
    let own = run.get_arguments().filter(|option| option.get_help_heading() != Some("Workload"));
    let missing: Vec<&str> = own.filter_map(clap::Arg::get_long).filter(|name| !is_tested(name)).collect();
    assert!(missing.is_empty(), "neither a case nor in NOT_MEASURED: {missing:?}");
    let exists = |name: &str| run.get_arguments().any(|option| option.get_long() == Some(name));
    assert!(NOT_MEASURED.into_iter().all(exists), "an option of NOT_MEASURED does not exist");
}

#[test]
fn options_of_java_in_the_environment_are_a_part_of_the_command() {
    let (_, mut record, _) = again(&[]);
    let folder = tempfile::tempdir().unwrap();
    let case =
        cases(folder.path()).into_iter().find(|case| case.contains(&"java-threads@17".to_owned())).unwrap();
    let runtime = again(&case).1.platform.runtime.unwrap();
    let environment = [("JAVA_TOOL_OPTIONS".to_owned(), "-Xint -Xmx1g".to_owned())].into();
    record.platform.runtime = Some(klatch_record::Runtime { environment, ..runtime });
    let words = run_again(&record).unwrap();
    assert_eq!(words[..4], ["env", "JAVA_TOOL_OPTIONS=-Xint -Xmx1g", "klatch", "run"]);
}

#[test]
fn a_side_of_a_duet_and_a_merged_record_have_no_command() {
    let (_, mut record, _) = again(&[]);
    record.checks.finished = true;
    assert_eq!(run_again(&record), None);
    record.checks.finished = false;
    record.options = None;
    assert_eq!(run_again(&record), None);
}

/// A server that closes a user for a full queue: the tip has the knob if it is set, else where it would be, and what makes less wait.
#[test]
fn a_full_send_queue_is_answered_with_what_to_change() {
    let flood = ChatWorkload { pacing: Pacing::Flood, ..ChatWorkload::default() };
    let tip = |knob: Option<&str>| {
        let mut record = klatch_record::samples::record(1, 0, 50_000.0);
        record.platform.knobs.extend(knob.map(|bytes| ("sendq".to_owned(), bytes.to_owned())));
        send_queue_tip(&flood, Some(&record))
    };
    assert!(
        tip(Some("4096")).contains("raise the knob sendq, which is 4096, or make less wait: --pacing rounds")
    );
    assert!(tip(None).contains("(--knob sendq=16777216 if klatch platforms --knobs has it)"));
}
