//! Command lines that repeat a measurement, or check its server.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use klatch_record::{
    ProtocolName, Record, RemoteOptions, RunOptions, Runtime, StudyResult, TradeWorkload, Workload,
};
use klatch_runner::Target;

use super::subject::Subject;
use crate::model::Command;
use crate::read::Source;

/// Largest number of cells with listed command lines; the records have all.
const CELLS_MAX: usize = 40;

/// The command of the whole study, and for each cell the command lines of server and crowd.
pub(super) fn commands(subject: &Subject, sources: &[Source]) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut add = |what: String, words: &[String]| {
        commands.push(Command { what, line: shell_line(words) });
    };
    for source in sources {
        if let Some(result) = &source.result {
            add(
                format!("all of {}", result.name),
                &study_again(result, &fixed(&source.path).join("study.toml")),
            );
        }
    }
    let studied = sources.iter().any(|source| source.result.is_some());
    for (place, _) in subject.cells().take(CELLS_MAX) {
        let Some(record) = subject.runs_of(place).last().map(|run| &run.record) else { continue };
        let label = &subject.grid.labels[place];
        if let Some(words) = run_again(record).filter(|_| !studied) {
            add(format!("{label}: again"), &words);
        }
        if let Some(server) = &record.platform.command {
            add(format!("{label}: server, as it was started"), server);
        }
        add(format!("{label}: crowd, by hand"), &record.crowd.command);
    }
    commands
}

/// The path of a result without links, such as `latest`, which moves on; below the working directory, relative to it.
pub(crate) fn fixed(path: &Path) -> PathBuf {
    let Ok(real) = path.canonicalize() else { return path.to_owned() };
    let below =
        std::env::current_dir().ok().and_then(|here| real.strip_prefix(here).ok().map(Path::to_owned));
    below.filter(|below| !below.as_os_str().is_empty()).unwrap_or(real)
}

/// The command that repeats a study, of which `file` is a copy.
pub fn study_again(result: &StudyResult, file: &Path) -> Vec<String> {
    let mut words = vec!["klatch".to_owned(), "study".to_owned(), file.display().to_string()];
    // The seeds of the others are in their files.
    if result.kind.is_measured() {
        words.extend(["--seed".to_owned(), result.seed.to_string()]);
    }
    for (name, value) in &result.options {
        words.push(format!("--{name}"));
        words.extend(Some(value.clone()).filter(|value| !value.is_empty()));
    }
    words
}

/// The command that repeats a record: a `klatch run` with all options that differ from the defaults. `None` if no such command made it:
/// for a side of a duet, a crowd that was started by itself, and merged records.
pub fn run_again(record: &Record) -> Option<Vec<String>> {
    let Record { platform, crowd, workload, environment, .. } = record;
    // Runs of duets end in a pause.
    let options = record.options.as_ref().filter(|_| !record.checks.finished)?;
    let runtime = platform.runtime.as_ref().or(crowd.runtime.as_ref());
    let mut words = variables(runtime, &environment.variables);
    words.extend(["klatch", "run"].map(str::to_owned));
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    match &options.target {
        None => option("platform", platform.name.clone()),
        Some(target) => option("target", target.clone()),
    }
    platform.knobs.iter().for_each(|(name, value)| option("knob", format!("{name}={value}")));
    if let Some(runtime) = runtime {
        option("java", runtime.path.clone());
    }
    if workload.kind().has_server() {
        option("crowd", crowd.kind.name().to_owned());
    }
    crowd.knobs.iter().for_each(|(name, value)| option("crowd-knob", format!("{name}={value}")));
    environment.sysctls.iter().for_each(|(name, value)| option("sysctl", format!("{name}={value}")));
    run_options(options, &mut option);
    if !environment.sysctls.is_empty() {
        words.push("--allow-sysctl".to_owned());
    }
    words.extend(workload_options(workload, options.target.as_deref()));
    Some(words)
}

/// `env` and the variables that changed what ran: those of the Java, and those of other runtimes. Nothing without such variables.
fn variables(runtime: Option<&Runtime>, others: &BTreeMap<String, String>) -> Vec<String> {
    let variables = runtime.iter().flat_map(|runtime| &runtime.environment).chain(others);
    let mut words: Vec<String> = variables.map(|(name, value)| format!("{name}={value}")).collect();
    if !words.is_empty() {
        words.insert(0, "env".to_owned());
    }
    words
}

/// The options that differ from the defaults.
fn run_options(options: &RunOptions, option: &mut impl FnMut(&str, String)) {
    // Every field is named, so that a new one is not forgotten here. The target comes before.
    let RunOptions {
        target: _,
        ca,
        connecting,
        catalog,
        label,
        subprotocol,
        scheduler,
        instruments,
        servers,
        shards,
        listen,
        remote,
        crowd_loops,
        seed,
        warmups,
        warmup_s,
        trials,
        require,
        ready_timeout_s,
        timeout_s,
        connect_timeout_s,
    } = options;
    let usual = RunOptions::default();
    for (name, value) in [
        ("ca", ca),
        ("catalog", catalog),
        ("label", label),
        ("subprotocol", subprotocol),
        ("scheduler", scheduler),
    ] {
        if let Some(value) = value {
            option(name, value.clone());
        }
    }
    connecting.settings().into_iter().for_each(|(setting, value)| option(&setting.option(), value));
    require.iter().for_each(|requirement| option("require", requirement.clone()));
    if !instruments.is_empty() {
        let names: Vec<&str> = instruments.iter().map(|instrument| instrument.name()).collect();
        option("instrument", names.join(","));
    }
    if let Some(RemoteOptions { hosts, reach, program }) = remote {
        option("hosts", hosts.join(","));
        option("reach", reach.clone());
        option("host-program", program.clone());
    }
    let mut changed = |name: &str, value: String, default: String| {
        if value != default {
            option(name, value);
        }
    };
    changed("servers", servers.to_string(), usual.servers.to_string());
    changed("shards", shards.to_string(), usual.shards.to_string());
    changed("host-address", listen.clone(), usual.listen);
    changed("crowd-loops", crowd_loops.to_string(), usual.crowd_loops.to_string());
    changed("seed", seed.to_string(), usual.seed.to_string());
    changed("ready-timeout", ready_timeout_s.to_string(), usual.ready_timeout_s.to_string());
    changed("timeout", timeout_s.to_string(), usual.timeout_s.to_string());
    changed("connect-timeout", connect_timeout_s.to_string(), usual.connect_timeout_s.to_string());
    match warmup_s {
        Some(warmup_s) => option("warmup", format!("{warmup_s}s")),
        None => changed("warmups", warmups.to_string(), usual.warmups.to_string()),
    }
    option("trials", trials.to_string());
}

/// The options of the workload. The address of a target says whether it is a DayTrader, and may have the URL of requests.
fn workload_options(workload: &Workload, target: Option<&str>) -> Vec<String> {
    match workload.clone() {
        Workload::Trade(trade) => Workload::Trade(TradeWorkload { daytrader: None, ..trade }).options(),
        other if target.is_some_and(has_path) => other.options_beside_url(),
        other => other.options(),
    }
}

/// The command that checks a server of which no run is valid; `None` where the kit has no checks.
pub fn conformance_of(target: &Target, workload: &Workload) -> Option<Vec<String>> {
    use ProtocolName::{Echo, Http, Irc, Postgres, Redis};
    let options: &[&str] = match (workload, target.endpoint.protocol) {
        (Workload::Chat(_), Irc) => &[],
        (Workload::Web(web), Http) if web.static_only => &["--static-only"],
        (Workload::Web(_), Http) => &[],
        (Workload::Rr(rr), Http) if !rr.has_url() => &["--workload", "rr"],
        (Workload::Rr(_), Echo | Redis | Postgres) => &[],
        _ => return None,
    };
    let has_checks =
        target.endpoint.tls.is_none() && target.login.is_none() && target.context_root().is_none();
    let words = ["klatch", "conformance"].iter().chain(options).map(|word| (*word).to_owned());
    has_checks.then(|| words.chain([target.url()]).collect())
}

/// Whether the address of a target has a path.
pub(super) fn has_path(target: &str) -> bool {
    target.split_once("://").is_some_and(|(_, place)| place.contains('/'))
}

/// The words of a command as a line for a shell. A word that no shell can take is unchanged.
pub(crate) fn shell_line(words: &[String]) -> String {
    // `shlex` also quotes `=`, which means something only in the first word.
    let is_plain = |word: &str| {
        let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
        !word.is_empty() && !word.starts_with('=') && word.bytes().all(harmless)
    };
    let quoted = |word: &String| match is_plain(word) {
        true => word.clone(),
        false => shlex::try_quote(word).map_or_else(|_| word.clone(), Cow::into_owned),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_moves_is_not_in_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("2026-01-01-study");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("latest")).unwrap();
        assert_eq!(fixed(&folder.path().join("latest")), real);
        assert_eq!(fixed(Path::new("absent/latest")), Path::new("absent/latest"));
    }
}
