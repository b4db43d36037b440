//! Every setting of every workload makes its way from an option or a study file to the plan, to the crowd and back.

use clap::FromArgMatches;
use clap::error::ErrorKind;
use klatch_record::settings::{Form, Scope, Setting};
use klatch_record::{
    AddressChoice, Authorities, CONNECTING, Connecting, ConnectingSetting, CrowdJob, Endpoint, HeaderValues,
    Load, ProtocolName, Subprotocol, TlsVersion, WebSocket, Workload, WorkloadKind,
};
use klatch_report::run_again;
use klatch_runner::samples::record_of;

use crate::run::tests::{java_17, parse, text};
use crate::workload::{OfCrowd, OfDuet, OfRun, Offer, WorkloadArgs};

const SHA256: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/// A value of each setting that is neither the default nor what follows from the defaults, and fits them. A setting without a value here
/// fails the tests below.
fn another(setting: &Setting, kind: WorkloadKind) -> Vec<(&'static str, String)> {
    let usual = setting.value_of(&kind.usual());
    let of = |value: &str| (setting.name, value.to_owned());
    let value = match (setting.form(), setting.name) {
        (_, "window") => return vec![("pacing", "rounds".to_owned()), of("7")],
        (_, "arrivals") if kind == WorkloadKind::Chat => {
            return vec![("pacing", "rate".to_owned()), ("rate", "7".to_owned()), of("poisson")];
        }
        (_, "arrivals") => return vec![("rate", "7".to_owned()), of("poisson")],
        (_, "stages") if kind == WorkloadKind::Chat => {
            return vec![("pacing", "rate".to_owned()), of("60s:100,0s:50,2.5s:0")];
        }
        (_, "stages") => "60s:100,0s:50,2.5s:0".to_owned(),
        (_, "client_id") => "lab-".to_owned(),
        (_, "url") => "/a?b=c".to_owned(),
        (_, "urls") => concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/urls.txt").to_owned(),
        (_, "method") => return vec![("url", "/".to_owned()), of("PUT")],
        (_, "header") => return vec![("url", "/".to_owned()), of("Accept: a b\nCookie: @/dev/null")],
        (_, "http") => return vec![("url", "/".to_owned()), of("2")],
        (_, "streams") => return vec![("url", "/".to_owned()), ("http", "2".to_owned()), of("7")],
        (_, "body_file") => return vec![("url", "/".to_owned()), of("/dev/null")],
        (_, "expect_status") => return vec![("url", "/".to_owned()), of("204")],
        (_, "expect_length") => return vec![("url", "/".to_owned()), of("3")],
        (_, "expect_sha256") => return vec![("url", "/".to_owned()), of(SHA256)],
        (_, "expect_json") => return vec![("url", "/".to_owned()), of("/a=b\n/c=true")],
        (_, "rate") if kind == WorkloadKind::Chat => return vec![("pacing", "rate".to_owned()), of("7")],
        (_, "pacing") => return vec![of("flood")],
        (_, "database") => "postgresql".to_owned(),
        (_, "daytrader") => "/daytrader".to_owned(),
        (_, "block") => "8192".to_owned(),
        (_, "line") => "none".to_owned(),
        (_, "population" | "suppliers") => "777".to_owned(),
        (Form::Whole, _) => {
            (usual.as_deref().map_or(0, |usual| usual.parse::<u32>().unwrap()) + 1).to_string()
        }
        (Form::Number | Form::Time, _) => {
            usual.map_or(1.5, |usual| usual.parse::<f64>().unwrap() + 0.5).to_string()
        }
        (Form::Switch, _) => (if usual.as_deref() == Some("on") { "off" } else { "on" }).to_owned(),
        (Form::Words(words), _) => words
            .iter()
            .map(|(word, _)| *word)
            .find(|word| Some(*word) != usual.as_deref())
            .unwrap()
            .to_owned(),
        (Form::Text | Form::Lines, name) => panic!("{name} needs another value here"),
    };
    // One user of each trader fewer than there are.
    vec![if setting.name == "users_per_trader" { of("199") } else { of(&value) }]
}

fn all() -> impl Iterator<Item = (WorkloadKind, &'static Setting)> {
    WorkloadKind::ALL.into_iter().flat_map(|kind| kind.settings().iter().map(move |setting| (kind, setting)))
}

/// A platform that has all settings of this workload.
fn platform_of(workload: &Workload) -> &'static str {
    match workload.kind() {
        WorkloadKind::Chat if is_of_mqtt(workload) => "mosquitto",
        WorkloadKind::Rr if workload.has_url() => "nginx",
        WorkloadKind::Web | WorkloadKind::Trade | WorkloadKind::Orders => "jetty",
        WorkloadKind::Files => "native-pread",
        _ => "native-epoll",
    }
}

fn is_of_mqtt(workload: &Workload) -> bool {
    workload.chat().is_some_and(|chat| !chat.mqtt.is_usual())
}

fn made_of(kind: WorkloadKind, given: &[(&'static str, String)]) -> Workload {
    let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    kind.workload(&given).unwrap_or_else(|error| panic!("{kind} {given:?}: {error}"))
}

#[test]
fn every_setting_makes_the_round_trip_over_text() {
    for (kind, setting) in all() {
        let given = another(setting, kind);
        let workload = made_of(kind, &given);
        assert_ne!(workload, kind.usual(), "{kind}: {given:?} changes nothing");
        let settings: Vec<_> =
            workload.settings().into_iter().map(|(setting, value)| (setting.name, value)).collect();
        assert!(settings.contains(given.last().unwrap()), "{kind}: {given:?} is not in {settings:?}");
        assert_eq!(made_of(kind, &settings), workload, "{kind}: {settings:?}");
    }
}

/// A field that no setting reads would change what is measured without a trace in commands and comparisons.
#[test]
fn every_field_of_a_record_has_a_setting() {
    for kind in WorkloadKind::ALL {
        let fields = |workload: &Workload| -> Vec<(String, String)> {
            let value = serde_json::to_value(workload).unwrap();
            let fields = value.as_object().unwrap().clone().into_iter();
            fields.map(|(name, value)| (name, value.to_string())).collect()
        };
        let usual = fields(&kind.usual());
        let mut changed: Vec<String> = kind
            .settings()
            .iter()
            .flat_map(|setting| {
                let other = fields(&made_of(kind, &another(setting, kind)));
                let differs = |(name, value): &(String, String)| {
                    usual.iter().all(|(usual_name, usual)| (name, value) != (usual_name, usual))
                };
                other.into_iter().filter(differs).map(|(name, _)| name).collect::<Vec<_>>()
            })
            .collect();
        changed.sort();
        changed.dedup();
        for (name, _) in usual.into_iter().filter(|(name, _)| name != "kind") {
            assert!(changed.contains(&name), "{kind}: no setting changes {name}");
        }
    }
}

/// The workload that a command with these options has.
fn parsed<O: Offer>(options: &[String]) -> Workload {
    let command = <WorkloadArgs<O> as clap::Args>::augment_args(clap::Command::default().name("test"));
    let words = std::iter::once("test".to_owned()).chain(options.iter().cloned());
    let matches = command.try_get_matches_from(words).unwrap_or_else(|error| panic!("{options:?}: {error}"));
    WorkloadArgs::<O>::from_arg_matches(&matches).unwrap().workload().unwrap()
}

#[test]
fn every_setting_is_an_option_of_the_commands_that_offer_it() {
    for (kind, setting) in all() {
        let workload = made_of(kind, &another(setting, kind));
        let options = workload.options();
        assert!(options.contains(&setting.option()) || setting.form() == Form::Switch, "{kind}: {options:?}");
        assert_eq!(parsed::<OfCrowd>(&options), workload, "{kind}: {options:?}");
        if setting.scope != Scope::Crowd {
            assert_eq!(parsed::<OfRun>(&options), workload, "{kind}: {options:?}");
        }
        let offered = crate::workload::names::<OfDuet>();
        assert_eq!(offered.contains(&setting.name), matches!(setting.scope, Scope::All | Scope::Share));
    }
}

/// The job of a native crowd with event loops.
fn job(workload: Workload) -> CrowdJob {
    let load = match workload.kind().has_server() {
        true => Load::Server(Endpoint::plain(workload.kind().usual_protocol(), "127.0.0.1", 6667)),
        false => Load::Folder("/data".into()),
    };
    CrowdJob {
        request: workload.request_parts(&HeaderValues::default(), None).unwrap(),
        workload,
        load,
        login: None,
        loops: Some(1),
        timeout_s: 60.0,
        connect_timeout_s: 10.0,
        seed: 1,
        ledger: None,
    }
}

/// A job for each transport, with each other field of a job changed, and without an end of its own.
fn jobs_of_servers() -> Vec<CrowdJob> {
    let usual = job(Workload::default());
    let websocket = WebSocket { path: "/irc".to_owned(), subprotocol: "binary.ircv3.net".parse().unwrap() };
    let none = WebSocket { subprotocol: Subprotocol::Absent, ..WebSocket::root() };
    let transports = [
        (Some(WebSocket::root()), None),
        (Some(websocket), None),
        (None, Some(Authorities::System)),
        (None, Some(Authorities::File("/etc/ca of mine.pem".into()))),
        (Some(none), Some(Authorities::System)),
    ];
    let with_transport = |(websocket, tls)| {
        let server = Endpoint { websocket, tls, ..Endpoint::plain(ProtocolName::Irc, "::1", 7000) };
        CrowdJob { load: Load::Server(server), ..usual.clone() }
    };
    let others = [
        CrowdJob { timeout_s: 2.5, ..usual.clone() },
        CrowdJob { connect_timeout_s: 0.5, ..usual.clone() },
        CrowdJob { seed: u64::MAX, ..usual.clone() },
        job(Workload::default().endless()),
    ];
    transports.into_iter().map(with_transport).chain(others).collect()
}

/// What `klatch crowd` with these options does.
fn by_hand(options: &[String]) -> CrowdJob {
    let words = ["klatch", "crowd"].map(str::to_owned).into_iter().chain(options.iter().cloned());
    let matches = crate::command_line().try_get_matches_from(words);
    let matches = matches.unwrap_or_else(|error| panic!("{options:?}: {error}"));
    let mut crowd = crate::crowd::Crowd::from_arg_matches(matches.subcommand().unwrap().1).unwrap();
    crowd.by_hand().unwrap().0
}

/// What a parent hands to a crowd is what its record says how to do by hand, and reads back.
#[test]
fn every_setting_is_in_the_job_of_a_crowd() {
    let of_settings = all().map(|(kind, setting)| {
        let other = job(made_of(kind, &another(setting, kind)));
        assert_ne!(other.line().unwrap(), job(kind.usual()).line().unwrap(), "{kind}: {}", setting.name);
        other
    });
    let more = [
        CrowdJob { loops: Some(3), ..job(Workload::default()) },
        CrowdJob { ledger: Some("/tmp/ledger".into()), ..job(WorkloadKind::Trade.usual()) },
        CrowdJob {
            load: Load::Server(Endpoint::plain(ProtocolName::Nats, "alpha", 4222)),
            ..job(Workload::default())
        },
        CrowdJob {
            load: Load::Server(Endpoint {
                tls: Some(Authorities::System),
                connecting: Connecting {
                    addresses: AddressChoice::All,
                    sources: vec!["192.0.2.1".parse().unwrap(), "::1".parse().unwrap()],
                    tls_version: Some(TlsVersion::V1_2),
                    ciphers: vec!["A".to_owned(), "B".to_owned()],
                    certificate: Some("my cert.pem".into()),
                    key: Some("key.pem".into()),
                },
                ..Endpoint::plain(ProtocolName::Irc, "::1", 7000)
            }),
            ..job(Workload::default())
        },
    ];
    for job in of_settings.chain(jobs_of_servers()).chain(more) {
        assert_eq!(CrowdJob::from_line(&job.line().unwrap()).unwrap(), job);
        assert_eq!(by_hand(&job.options()), job, "{:?}", job.options());
    }
    let threads = CrowdJob { loops: None, ..job(Workload::default()) };
    assert_eq!(by_hand(&[threads.options(), vec!["--threads".to_owned()]].concat()), threads);
}

/// Option, plan, job of the crowd, record, command of the report, and the same plan.
#[test]
fn every_setting_goes_from_option_to_crowd_to_record_and_back_to_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let java = java_17(folder.path()).display().to_string();
    for (kind, setting) in all().filter(|(_, setting)| setting.scope != Scope::Crowd) {
        let workload = made_of(kind, &another(setting, kind));
        let words = match platform_of(&workload) {
            // Whatever is installed.
            "nginx" => vec!["--target", "http://127.0.0.1:8080"],
            "mosquitto" => vec!["--target", "mqtt://127.0.0.1:1883"],
            // A record has the version of Java with the name.
            "jetty" => vec!["--platform", "jetty@17", "--java", &java],
            platform => vec!["--platform", platform],
        };
        let words = [vec!["klatch", "run"], words].concat();
        let words = words.into_iter().map(str::to_owned).chain(workload.options()).collect::<Vec<_>>();
        let plan = parse(&words);
        assert_eq!(plan.workload, workload);
        let mut record = record_of(&plan).unwrap_or_else(|error| panic!("{kind}, {}: {error}", setting.name));
        let by_hand = match kind.has_server() {
            true => by_hand(&record.crowd.command[2..]),
            false => job(record.workload.clone()),
        };
        record.workload = CrowdJob::from_line(&by_hand.line().unwrap()).unwrap().workload;
        assert_eq!(record.workload, workload);
        let words = run_again(&record).unwrap();
        assert_eq!(text(parse(&words)), text(plan), "{words:?}");
    }
}

/// The Java crowd reads these jobs too: its tests compare them with the options.
#[test]
fn the_vectors_have_a_job_for_every_setting_of_the_java_crowd() {
    let kinds = [WorkloadKind::Chat, WorkloadKind::Files];
    // It speaks IRC alone.
    let of_settings = all()
        .filter(|(kind, _)| kinds.contains(kind))
        .map(|(kind, setting)| made_of(kind, &another(setting, kind)))
        .filter(|workload| !is_of_mqtt(workload))
        .map(job);
    let vector = |job: CrowdJob| {
        let job = CrowdJob { loops: None, ..job };
        serde_json::json!({ "options": job.options(), "job": job })
    };
    let vectors: Vec<_> = of_settings.chain(jobs_of_servers()).map(vector).collect();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/jobs.json");
    let lines: Vec<String> = vectors.iter().map(serde_json::Value::to_string).collect();
    klatch_testing::assert_committed(
        &path,
        &format!("[\n{}\n]\n", lines.join(",\n")),
        "KLATCH_WRITE_REFERENCE",
    );
}

#[test]
fn a_job_stands_in_place_of_all_options_but_those_of_the_program() {
    let klatch = crate::command_line();
    let own = ["yield", "model", "read-depth", "resume", "ktls", "json", "job"];
    for argument in klatch.find_subcommand("crowd").unwrap().get_arguments() {
        let Some(long) = argument.get_long() else { continue };
        let word = argument.get_possible_values().first().map(|word| word.get_name().to_owned());
        let values = word.into_iter().chain(
            [
                "1", "404", "0/2", "irc", "uring", "ws", "text", "1s:5", "/", "PUT", SHA256, "first", "1.2",
                "::1", "",
            ]
            .map(str::to_owned),
        );
        // With the first value that it takes, if it takes any.
        let kinds = values.map(|value| {
            let option = if value.is_empty() { format!("--{long}") } else { format!("--{long}={value}") };
            let result = crate::command_line().try_get_matches_from(["klatch", "crowd", "--job", &option]);
            result.err().map(|error| error.kind())
        });
        let refusals = [ErrorKind::InvalidValue, ErrorKind::ValueValidation, ErrorKind::TooManyValues];
        let mut taken = kinds.filter(|kind| kind.is_none_or(|kind| !refusals.contains(&kind)));
        let kind = taken.next().unwrap_or_else(|| panic!("{long} needs another value here"));
        assert_eq!(kind == Some(ErrorKind::ArgumentConflict), !own.contains(&long), "{long}: {kind:?}");
    }
}

#[test]
fn a_workload_after_run_offers_its_own_options_and_sets_the_kind() {
    let mut klatch = crate::command_line();
    klatch.build();
    let run = klatch.find_subcommand("run").unwrap();
    let shown = |command: &clap::Command| -> Vec<String> {
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        shown.filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
    };
    for kind in WorkloadKind::ALL {
        let own = shown(run.find_subcommand(kind.name()).unwrap());
        for (owner, setting) in all().filter(|(_, setting)| setting.scope != Scope::Crowd) {
            let option = setting.option()[2..].to_owned();
            let is_own = kind.settings().iter().any(|own| own.name == setting.name);
            assert_eq!(own.contains(&option), is_own, "{kind}, {owner}: {option}");
        }
        let matches = crate::command_line()
            .try_get_matches_from(["klatch", "run", kind.name(), "--start", "3"])
            .unwrap();
        let run = crate::run::RunOfWorkload::from_arg_matches(matches.subcommand().unwrap().1).unwrap();
        let workload = run.0.plan().unwrap().workload;
        assert_eq!((workload.kind(), workload.start()), (kind, 3));
    }
}

#[test]
fn help_shows_the_options_of_one_workload() {
    for command in ["run", "duet", "calibrate", "crowd", "plan"] {
        for (words, shown, hidden) in [
            ("--help", "--rooms", "--static-only"),
            ("--workload web --help", "--static-only", "--rooms"),
            ("--workload=rr -h", "--depth", "--rooms"),
        ] {
            let line: Vec<String> =
                format!("klatch {command} {words}").split(' ').map(str::to_owned).collect();
            let klatch = crate::workload::with_own_help(crate::command_line(), &line);
            let help = klatch.try_get_matches_from(&line).unwrap_err().to_string();
            assert!(help.contains(shown) && !help.contains(hidden), "{line:?}: {help}");
            // Options with the name of a setting that are none.
            if command == "duet" || command == "calibrate" {
                let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(help.contains("--duration <TIME> Time for the whole duet"), "{line:?}: {help}");
            }
        }
    }
}

#[test]
fn every_setting_is_a_key_of_study_files() {
    for (kind, setting) in all().filter(|(_, setting)| matches!(setting.scope, Scope::All | Scope::End)) {
        let given = another(setting, kind);
        let platform = platform_of(&made_of(kind, &given));
        let values =
            given.iter().map(|(name, value)| format!("{name} = '''{value}'''\n")).collect::<String>();
        let text =
            format!("question = 'q'\nplatforms = ['{platform}']\n[workload]\nkind = '{kind}'\n{values}");
        let study = study_of(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(study.cells[0].plan.workload, made_of(kind, &given), "{text}");
    }
}

/// A value of each setting of how clients connect that differs from the default.
fn another_connecting(setting: &ConnectingSetting) -> &'static str {
    match setting.name {
        "addresses" => "all",
        "source_address" => "192.0.2.1,::1",
        "tls_version" => "1.2",
        "ciphers" => "TLS_A,TLS_B",
        "client_certificate" => "my cert.pem",
        "client_key" => "key.pem",
        name => panic!("{name} needs a value here"),
    }
}

fn connecting_of(settings: &[&ConnectingSetting]) -> Connecting {
    let mut connecting = Connecting::default();
    for setting in settings {
        setting.set(&mut connecting, another_connecting(setting)).unwrap();
    }
    connecting
}

/// Each alone, or with the one that it needs.
fn with_needed(setting: &'static ConnectingSetting) -> Vec<&'static ConnectingSetting> {
    let needed = CONNECTING.iter().filter(|other| setting.needs == Some(other.name));
    std::iter::once(setting).chain(needed).collect()
}

#[test]
fn every_setting_of_connecting_is_an_option_and_a_part_of_the_command_that_repeats_a_run() {
    for setting in CONNECTING {
        let given = with_needed(setting);
        let connecting = connecting_of(&given);
        assert!(!connecting.is_usual(), "{}", setting.name);
        assert_eq!(connecting.settings().len(), given.len(), "{}", setting.name);
        let server = Endpoint { tls: Some(Authorities::System), connecting, ..irc_endpoint() };
        let crowd = CrowdJob { load: Load::Server(server.clone()), ..job(Workload::default()) };
        assert_eq!(by_hand(&crowd.options()), crowd, "{}", setting.name);
        let words = ["klatch", "run", "--target", "ircs://127.0.0.1:7000"].map(str::to_owned);
        let options = given
            .iter()
            .flat_map(|setting| [format!("--{}", setting.option()), another_connecting(setting).to_owned()]);
        let plan = parse(&words.into_iter().chain(options).collect::<Vec<_>>());
        let klatch_runner::Subject::Target(target) = &plan.subject else { panic!("a target was given") };
        assert_eq!(target.target.endpoint.connecting, server.connecting);
        let again = run_again(&record_of(&plan).unwrap()).unwrap();
        assert_eq!(text(parse(&again)), text(plan), "{again:?}");
    }
}

fn irc_endpoint() -> Endpoint {
    Endpoint::plain(ProtocolName::Irc, "127.0.0.1", 7000)
}

#[test]
fn every_setting_of_connecting_is_a_key_of_study_files() {
    let study = |keys: &str| {
        let text = format!(
            "question = 'q'\nplatforms = ['native-epoll']\n[server]\ntransport = 'wss'\n[connecting]\n{keys}"
        );
        study_of(&text)
    };
    for setting in CONNECTING {
        let given = with_needed(setting);
        let key =
            |setting: &&ConnectingSetting| format!("{} = '{}'\n", setting.name, another_connecting(setting));
        let keys: String = given.iter().map(key).collect();
        match study(&keys) {
            Ok(study) => {
                let platform = study.cells[0].plan.subject.platform().unwrap();
                assert_eq!(platform.connecting, connecting_of(&given), "{keys}");
            }
            // No platform asks for a certificate.
            Err(error) => {
                assert!(setting.name.starts_with("client_"), "{keys}: {error}");
                assert!(error.to_string().contains("certificate"), "{error}");
            }
        }
    }
    let study = study("tls_version = [1.2, '1.3']\nsubprotocol = 'none'\n").unwrap();
    let ids: Vec<&str> = study.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids, ["native-epoll_tls_version-1.2", "native-epoll_tls_version-1.3"]);
    for cell in &study.cells {
        let platform = cell.plan.subject.platform().unwrap();
        assert_eq!(platform.subprotocol, Subprotocol::Absent);
        assert_eq!(platform.connecting.tls_version.unwrap().to_string(), cell.at["tls_version"]);
    }
}

fn study_of(text: &str) -> Result<klatch_study::StudyPlan, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, text).unwrap();
    let base = klatch_study::StudyBase {
        preset: None,
        label: None,
        platforms: Default::default(),
        out: folder.path().to_owned(),
        build: crate::version::build(),
    };
    let study = klatch_study::load(path.to_str().unwrap()).unwrap().measured(&base, 1);
    study.map_err(|error| error.to_string())
}

/// The table of the reference.
fn reference() -> String {
    let mut text = "# Settings of workloads\n\n\
        Each setting is declared once, in the source of its workload (`crates/record/src/workload/`). Options, keys and axes of study files, the\n\
        options of a crowd, the commands that a report prints, and what `klatch compare` looks at are made of these declarations, and so is this\n\
        page. A setting `file_mib` is the option `--file-mib` and the key `file_mib`.\n"
        .to_owned();
    for kind in WorkloadKind::ALL {
        text += &format!("\n## {kind}\n\n{}.\n\n", kind.summary());
        text += "| setting | value | default | range | what it is |\n|---|---|---|---|---|\n";
        for setting in kind.settings() {
            let value = match setting.form() {
                Form::Switch => "on, off".to_owned(),
                Form::Words(words) => words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "),
                Form::Whole | Form::Number | Form::Time | Form::Text | Form::Lines => setting.unit.to_owned(),
            };
            let default = setting.default_in_words(kind);
            let place = match setting.scope {
                Scope::All => "",
                Scope::End => " (not in duets)",
                Scope::Share => " (not in study files)",
                Scope::Crowd => " (only `klatch crowd`; a run takes it from `--target`)",
            };
            text += &format!(
                "| `{}` | {value} | {} | {} | {}{place} |\n",
                setting.name,
                default.unwrap_or_default(),
                setting.range(),
                setting.help
            );
        }
    }
    text += "\n## How clients connect\n\nOptions of `klatch run` and `klatch crowd`, and keys of `[connecting]` in study files (`crates/record/src/connecting.rs`).\n\n";
    text += "| setting | value | default | what it is |\n|---|---|---|---|\n";
    for setting in CONNECTING {
        let ConnectingSetting { name, unit, default, help, .. } = setting;
        text += &format!("| `{name}` | {} | {default} | {help} |\n", unit.replace('|', ", "));
    }
    text
}

#[test]
fn the_reference_has_the_table_of_the_declarations() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/settings.md");
    klatch_testing::assert_committed(&path, &reference(), "KLATCH_WRITE_REFERENCE");
}
