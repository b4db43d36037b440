//! Users and passwords of real servers, which stand in no output, record or command line.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use klatch_platforms::{PlatformRequest, Processes, Server, resolve};
use klatch_record::{Status, WorkloadKind};
use klatch_testing::{Need, needs};

use crate::support::{Finished, klatch};

const PASSWORD: &str = "hunter2 @/:%";
/// The same in an address.
const ENCODED: &str = "hunter2%20%40%2F%3A%25";

/// The platform file of a server with these replacements, in a catalog of its own.
fn catalog(folder: &Path, name: &str, replacements: &[(&str, &str)]) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../platforms").join(name).with_extension("toml");
    let text = std::fs::read_to_string(own).unwrap();
    let mut text = text.replace(&format!("name = \"{name}\"\nsummary"), "name = \"door\"\nsummary");
    for (from, to) in replacements {
        assert!(text.contains(from), "{name}: {from}");
        text = text.replace(from, to);
    }
    std::fs::write(folder.join("door.toml"), text).unwrap();
}

/// A small run of this kind.
fn small(kind: WorkloadKind) -> &'static [&'static str] {
    match kind {
        WorkloadKind::Rr => &["--workload", "rr", "--connections", "4", "--duration", "0.2"],
        _ => &["--rooms", "1", "--users", "4", "--count", "20"],
    }
}

/// Makes a small run on this server with this login; returns its record.
fn play(folder: &Path, kind: WorkloadKind, server: &Server, login: &str, variable: Option<&str>) -> Finished {
    play_with(&["--json"], folder, kind, server, login, variable)
}

/// The same with more options; returns what was printed.
fn play_with(
    options: &[&str],
    folder: &Path,
    kind: WorkloadKind,
    server: &Server,
    login: &str,
    variable: Option<&str>,
) -> Finished {
    let out = folder.join("results");
    let target = server.endpoint.url().replacen("://", &format!("://{login}@"), 1);
    let mut run = klatch();
    run.args(["run", "--target", &target, "--warmups", "0", "--trials", "1", "--timeout", "10"])
        .args(options)
        .args(small(kind))
        .arg("--out")
        .arg(&out)
        .env_remove("KLATCH_PASSWORD")
        .envs(variable.map(|word| ("KLATCH_PASSWORD", word)));
    let finished = Finished::run(&mut run);
    for entry in std::fs::read_dir(out.join("latest")).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        assert!(!text.contains("hunter2"), "{}: {text}", entry.path().display());
    }
    assert!(!finished.out.contains("hunter2") && !finished.err.contains("hunter2"), "{finished:?}");
    finished
}

/// Starts the server of this name with these replacements in its platform file, in this folder.
fn start(folder: &Path, kind: WorkloadKind, name: &str, replacements: &[(&str, &str)]) -> Server {
    catalog(folder, name, replacements);
    let request = PlatformRequest {
        name: Some("door".to_owned()),
        catalog: Some(folder.to_owned()),
        ..PlatformRequest::default()
    };
    let platform = resolve(&request, &kind.usual()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let all = Processes::default();
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    Server::start(&platform, address, &all, Duration::from_secs(60)).unwrap()
}

/// A server lets in who has the password, and its refusal is named to who has not.
fn asks_for_a_password(
    kind: WorkloadKind,
    name: &str,
    user: &str,
    replacements: &[(&str, &str)],
    refusal: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), kind, name, replacements);
    for (login, variable) in [(format!("{user}:{ENCODED}"), None), (user.to_owned(), Some(PASSWORD))] {
        let finished = play(folder.path(), kind, &server, &login, variable);
        assert_eq!(finished.record().verdict.status, Status::Valid, "{name}: {finished:?}");
    }
    // The next command is the same with more trials.
    let login = format!("{user}:{ENCODED}");
    let next = play_with(&[], folder.path(), kind, &server, &login, None).out;
    assert!(next.contains(&format!("://{user}@")), "{name}: {next}");
    let finished = play(folder.path(), kind, &server, user, Some("wrong"));
    let verdict = finished.record().verdict;
    assert_eq!((finished.status, verdict.status), (Some(1), Status::Invalid), "{name}");
    assert!(verdict.messages().contains(refusal), "{name}: {}", verdict.messages());
}

#[test]
fn redis_knows_its_users() {
    needs!(Need::Program("redis-server", "redis-server"));
    let users = r#""--user", "default", "off", "--user", "alice", "on", ">hunter2 @/:%", "resetkeys""#;
    let replaced = [(r#""--user", "default", "on", "nopass", "resetkeys""#, users)];
    asks_for_a_password(WorkloadKind::Chat, "redis", "alice", &replaced, "WRONGPASS");
    asks_for_a_password(WorkloadKind::Rr, "redis", "alice", &replaced, "WRONGPASS");
}

#[test]
fn nats_knows_users_and_tokens() {
    needs!(Need::Program("nats-server", "nats-server"));
    let limit = "max_pending: 64MB";
    let user = format!("{limit}\nauthorization {{ user: alice, password: \"{PASSWORD}\" }}");
    asks_for_a_password(WorkloadKind::Chat, "nats", "alice", &[(limit, &user)], "Authorization Violation");
    let token = format!("{limit}\nauthorization {{ token: \"{PASSWORD}\" }}");
    asks_for_a_password(WorkloadKind::Chat, "nats", "", &[(limit, &token)], "Authorization Violation");
}

#[test]
fn mosquitto_knows_its_users() {
    needs!(Need::Program("mosquitto", "mosquitto"), Need::Program("mosquitto_passwd", "mosquitto"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    let made =
        Command::new("mosquitto_passwd").args(["-b", "-c"]).arg(&file).args(["alice", PASSWORD]).status();
    assert!(made.unwrap().success());
    let users = std::fs::read_to_string(file).unwrap();
    let own = format!(
        "[[files]]\nname = 'users'\ntext = '{}'\n\n[[files]]\nname = \"mosquitto.conf\"",
        users.trim()
    );
    let replaced = [
        ("[[files]]\nname = \"mosquitto.conf\"", own.as_str()),
        ("allow_anonymous true", "allow_anonymous false\npassword_file {folder}/users"),
    ];
    let refusal = "the broker refused: not authorized";
    asks_for_a_password(WorkloadKind::Chat, "mosquitto", "alice", &replaced, refusal);
}

/// What makes the echo of PostgreSQL know alice, by this method.
fn alice_of_postgresql(method: &str) -> [(&'static str, String); 3] {
    let role = "CREATE ROLE postgres LOGIN\n";
    let grant = "GRANT CONNECT ON DATABASE postgres TO postgres\n";
    let trust = "host postgres postgres samehost trust\n";
    [
        (role, format!("{role}CREATE ROLE alice LOGIN PASSWORD '{PASSWORD}'\n")),
        (grant, format!("{}, alice\n", grant.trim_end())),
        (trust, format!("{trust}host postgres alice samehost {method}\n")),
    ]
}

#[test]
fn postgresql_knows_its_users() {
    needs!(Need::Program("psql", "postgresql"));
    let of_alice = alice_of_postgresql("scram-sha-256");
    let replaced = of_alice.each_ref().map(|(from, to)| (*from, to.as_str()));
    let refusal = "the server answered: password authentication failed for user \"alice\"";
    asks_for_a_password(WorkloadKind::Rr, "postgresql", "alice", &replaced, refusal);
}

#[test]
fn no_password_is_sent_to_postgresql_in_clear_text() {
    needs!(Need::Program("psql", "postgresql"));
    let folder = tempfile::tempdir().unwrap();
    let of_alice = alice_of_postgresql("password");
    let replaced = of_alice.each_ref().map(|(from, to)| (*from, to.as_str()));
    let server = start(folder.path(), WorkloadKind::Rr, "postgresql", &replaced);
    for (login, words) in [
        (format!("alice:{ENCODED}"), "wants the password in clear text or by MD5"),
        ("alice".to_owned(), "wants the password in clear text or by MD5"),
        ("bob".to_owned(), "no pg_hba.conf entry for host"),
    ] {
        let finished = play(folder.path(), WorkloadKind::Rr, &server, &login, None);
        let verdict = finished.record().verdict;
        assert_eq!((finished.status, verdict.status), (Some(1), Status::Invalid), "{finished:?}");
        assert!(verdict.messages().contains(words), "{}", verdict.messages());
    }
}

#[test]
fn an_irc_server_has_a_password_of_its_own() {
    needs!(Need::Program("ngircd", "ngircd"));
    let password = format!("[Global]\nPassword = {PASSWORD}");
    asks_for_a_password(WorkloadKind::Chat, "ngircd", "", &[("[Global]", &password)], "Bad password");
}

#[test]
fn wrong_logins_are_refused_without_their_password() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "hunter2\n").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, answer) in [
        (vec!["--target", "redis://:hunter2@host"], "redis://…@host has no port"),
        (vec!["--target", "fax://u:hunter2@host:1"], "there is no protocol fax"),
        (vec!["--target", "echo://u:hunter2@host:1"], "leave out user and password"),
        (
            vec!["--target", "redis://alice@host:1"],
            "has no password: set KLATCH_PASSWORD, or use --password-file",
        ),
        (vec!["--workload", "rr", "--target", "redis://u:hunter2@127.0.0.1:1"], "no server at 127.0.0.1:1"),
        (vec!["--target", "postgres://u:hunter2@127.0.0.1:1"], "it carries rr: add --workload rr"),
        (vec!["--target", "redis://u:hunter2@host:1", "--password-file", file], "there are two passwords"),
        (vec!["--target", "redis://host:1", "--password-file", file], "needs a target with a user or an @"),
        (
            vec!["--target", "redis://u@host:1", "--password-file", "/nowhere"],
            "cannot read the password in /nowhere",
        ),
        (
            vec!["--target", "irc://u:hunter2@127.0.0.1:1", "--crowd", "java"],
            "log in with a password in the native crowd only",
        ),
    ] {
        let finished = Finished::run(klatch().arg("run").args(&arguments).env_remove("KLATCH_PASSWORD"));
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(
            finished.err.contains(answer) && !finished.err.contains("hunter2"),
            "{arguments:?}: {finished:?}"
        );
    }
}
