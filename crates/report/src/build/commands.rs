//! Command lines that repeat a measurement.

use klatch_record::{
    ChatWorkload, FilesWorkload, OrdersWorkload, Pacing, Record, ResultKind, RrWorkload, TradeWorkload,
    WebWorkload, Workload,
};

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
    match workload {
        Workload::Chat(chat) => chat_options(chat, &mut option),
        Workload::Rr(rr) => rr_options(rr, &mut option),
        Workload::Web(web) => web_options(web, &mut option),
        Workload::Trade(trade) => trade_options(trade, &mut option),
        Workload::Orders(orders) => orders_options(orders, &mut option),
        Workload::Files(files) => files_options(files, &mut option),
    }
    environment.sysctls.iter().for_each(|(name, value)| option("sysctl", format!("{name}={value}")));
    option("trials", trials.max(1).to_string());
    if !environment.sysctls.is_empty() {
        words.push("--allow-sysctl".to_owned());
    }
    if matches!(workload, Workload::Web(web) if web.static_only && platform.command.is_none()) {
        words.push("--static-only".to_owned());
    }
    if workload.database().is_some_and(|database| database.durable) {
        words.push("--durable".to_owned());
    }
    if matches!(workload, Workload::Files(files) if !files.verified) {
        words.push("--unverified".to_owned());
    }
    words
}

fn trade_options(trade: &TradeWorkload, option: &mut impl FnMut(&str, String)) {
    option("workload", "trade".to_owned());
    option("traders", trade.traders.to_string());
    option("users", trade.users.to_string());
    option("quotes", trade.quotes.to_string());
    option("mix", trade.mix.name().to_owned());
    option("duration", trade.duration_s.to_string());
    if let Some(database) = &trade.database {
        option("database", database.clone());
    }
    if trade.think_s > 0.0 {
        option("think", trade.think_s.to_string());
    }
    if let Some(rate) = trade.rate_per_trader_per_s {
        option("rate", rate.to_string());
    }
}

fn orders_options(orders: &OrdersWorkload, option: &mut impl FnMut(&str, String)) {
    option("workload", "orders".to_owned());
    option("injection-rate", orders.injection_rate.to_string());
    if orders.population != orders.injection_rate {
        option("population", orders.population.to_string());
    }
    option("ramp", orders.ramp_s.to_string());
    option("duration", orders.duration_s.to_string());
    if let Some(database) = &orders.database {
        option("database", database.clone());
    }
}

fn chat_options(chat: &ChatWorkload, option: &mut impl FnMut(&str, String)) {
    option("rooms", chat.rooms.to_string());
    option("users", chat.users.to_string());
    option("count", chat.count.to_string());
    option("size", chat.size_bytes.to_string());
    match chat.pacing {
        Pacing::Turns => option("pacing", "turns".to_owned()),
        Pacing::Flood => option("pacing", "flood".to_owned()),
        Pacing::Rounds { window } => {
            option("pacing", "rounds".to_owned());
            option("window", window.to_string());
        }
        Pacing::Rate { per_user_per_s } => {
            option("pacing", "rate".to_owned());
            option("rate", per_user_per_s.to_string());
        }
    }
    if chat.pause_s > 0.0 {
        option("pause", chat.pause_s.to_string());
    }
    if chat.has_churn() {
        option("churn", chat.churn_per_user_per_s.to_string());
    }
}

fn rr_options(rr: &RrWorkload, option: &mut impl FnMut(&str, String)) {
    option("workload", "rr".to_owned());
    option("connections", rr.connections.to_string());
    option("size", rr.size_bytes.to_string());
    option("depth", rr.depth.to_string());
    option("duration", rr.duration_s.to_string());
    if let Some(rate) = rr.rate_per_connection_per_s {
        option("rate", rate.to_string());
    }
}

fn web_options(web: &WebWorkload, option: &mut impl FnMut(&str, String)) {
    option("workload", "web".to_owned());
    option("lines", web.lines.to_string());
    option("line", web.line_kbit_per_s.map_or("none".to_owned(), |kbit| format!("{kbit}kbit")));
    option("directories", web.directories.to_string());
    option("duration", web.duration_s.to_string());
}

fn files_options(files: &FilesWorkload, option: &mut impl FnMut(&str, String)) {
    option("workload", "files".to_owned());
    option("readers", files.readers.to_string());
    option("block", files.block_bytes.to_string());
    option("order", files.order.to_string());
    option("files", files.files.to_string());
    option("file-mib", files.file_mib.to_string());
    option("duration", files.duration_s.to_string());
}

/// Quotes a word for a shell. A word that no shell can take is returned unchanged.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}
