//! Command lines that repeat a measurement.

use klatch_record::{Record, ResultKind, TradeWorkload, Workload};

use super::subject::Subject;
use crate::model::Command;
use crate::read::Source;

/// Largest number of cells with listed command lines; the records have all.
const CELLS_MAX: usize = 40;

/// The command of the whole study, and the exact command lines of server and crowd for each cell.
pub(super) fn commands(subject: &Subject, sources: &[Source]) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut add = |what: String, words: &[String]| {
        let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        commands.push(Command { what, line });
    };
    for source in sources {
        if let Some(result) = &source.result {
            let file = source.path.join("study.toml").display().to_string();
            let (seed, what) = (result.seed.to_string(), format!("all of {}", result.name));
            match result.kind {
                ResultKind::Simulated => add(what, &["klatch", "simulate", &file].map(str::to_owned)),
                _ => add(what, &["klatch", "study", &file, "--seed", &seed].map(str::to_owned)),
            }
        }
    }
    let studied = sources.iter().any(|source| source.result.is_some());
    for (place, cell) in subject.cells().take(CELLS_MAX) {
        let Some(record) = subject.runs_of(place).last().map(|run| &run.record) else { continue };
        let label = &subject.grid.labels[place];
        if !studied {
            add(format!("{label}: again"), &run_again(record, cell.trials));
        }
        if let Some(server) = &record.platform.command {
            add(format!("{label}: server, as it was started"), server);
        }
        add(format!("{label}: crowd, as it was started"), &record.crowd.command);
    }
    commands
}

/// The arguments of `klatch run` that repeat a record.
fn run_again(record: &Record, trials: u32) -> Vec<String> {
    let Record { platform, crowd, workload, environment, .. } = record;
    let mut words = vec!["klatch".to_owned(), "run".to_owned()];
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    match platform.command {
        Some(_) => option("platform", platform.name.clone()),
        None => {
            let root = match workload {
                Workload::Trade(trade) => trade.daytrader.as_deref().unwrap_or_default(),
                _ => "",
            };
            let scheme = platform.transport.scheme(platform.protocol);
            option("target", format!("{scheme}://{}{root}", platform.address));
        }
    }
    platform.knobs.iter().for_each(|(name, value)| option("knob", format!("{name}={value}")));
    if workload.kind().has_server() {
        option("crowd", crowd.kind.clone());
    }
    crowd.knobs.iter().for_each(|(name, value)| option("crowd-knob", format!("{name}={value}")));
    environment.sysctls.iter().for_each(|(name, value)| option("sysctl", format!("{name}={value}")));
    option("trials", trials.max(1).to_string());
    if !environment.sysctls.is_empty() {
        words.push("--allow-sysctl".to_owned());
    }
    words.extend(workload_options(workload));
    words
}

/// The options of the workload. The address of a target says whether it is a DayTrader.
fn workload_options(workload: &Workload) -> Vec<String> {
    match workload.clone() {
        Workload::Trade(trade) => Workload::Trade(TradeWorkload { daytrader: None, ..trade }).options(),
        other => other.options(),
    }
}

/// Quotes a word for a shell. A word that no shell can take is returned unchanged.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}
