//! The table `[workload]` of a study file.

use std::ops::Range;

use klatch_record::{
    FilesWorkload, OrdersWorkload, ReadOrder, RrWorkload, TradeMix, TradeWorkload, WebWorkload, Workload,
    WorkloadKind,
};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::search::Search;

use super::source::{Source, StudyFileError};
use super::{OneOrMany, StudyFile, Values};

/// The workload. Defaults are those of `klatch run`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadTable {
    /// Kind of the workload: `chat`, `rr`, `web`, `trade`, `orders` or `files`.
    #[serde(default)]
    pub(crate) kind: WorkloadKind,
    /// A named test: `classic` is the classic VolanoMark test of `klatch run --classic`, with its crowd and its yields.
    #[schemars(with = "Option<WorkloadPreset>")]
    pub(crate) preset: Option<Spanned<WorkloadPreset>>,
    /// Number of rooms in all.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) rooms: Values<u32>,
    /// Users in each room; of `trade`: users that the server loads.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) users: Values<u32>,
    /// Messages sent by each user.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) count: Values<u32>,
    /// Workload `rr`: number of connections in all.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) connections: Values<u32>,
    /// Workload `rr`: requests of a connection in flight.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) depth: Values<u32>,
    /// Workloads other than `chat`: time for which requests are sent or blocks read, seconds.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) duration: Values<f64>,
    /// Workload `web`: number of lines in all.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) lines: Values<u32>,
    /// Workload `web`: speed of each line, kbit/s; 0 to read as fast as possible.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) line: Values<u32>,
    /// Workload `web`: directories of the site.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) directories: Values<u32>,
    /// Workload `web`: send static GETs only.
    #[schemars(with = "Option<bool>")]
    pub(crate) static_only: Option<Spanned<bool>>,
    /// Workload `files`: number of readers in all.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) readers: Values<u32>,
    /// Workload `files`: bytes of one read.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) block: Values<u32>,
    /// Workload `files`: order in which blocks are read.
    #[schemars(with = "Option<OneOrMany<ReadOrder>>")]
    pub(crate) order: Values<ReadOrder>,
    /// Workload `files`: number of files.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) files: Values<u32>,
    /// Workload `files`: size of each file, MiB.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) file_mib: Values<u32>,
    /// Workload `files`: compare every block with what its file must contain; `true` unless it is set.
    #[schemars(with = "Option<OneOrMany<bool>>")]
    pub(crate) verified: Values<bool>,
    /// Workload `trade`: number of traders in all.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) traders: Values<u32>,
    /// Workload `trade`: quotes that the server loads.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) quotes: Values<u32>,
    /// Workload `trade`: how often each operation comes.
    #[schemars(with = "Option<OneOrMany<TradeMix>>")]
    pub(crate) mix: Values<TradeMix>,
    /// Workload `trade`: time between a reply and the next operation of a trader, seconds.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) think: Values<f64>,
    /// Workloads `trade` and `orders`: database of the server.
    #[schemars(with = "Option<OneOrMany<String>>")]
    pub(crate) database: Values<String>,
    /// Workloads `trade` and `orders`: whether the database writes each commit to the disk before it confirms it.
    #[schemars(with = "Option<OneOrMany<bool>>")]
    pub(crate) durable: Values<bool>,
    /// Workload `orders`: number of districts, which is that of order entries per second.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) injection_rate: Values<u32>,
    /// Workload `orders`: injection rate of the population that the server loads; by default that of the run.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) population: Values<u32>,
    /// Workload `orders`: time before the steady state, in which operations do not count, seconds.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) ramp: Values<f64>,
    /// Length of the text of a message, or of a request, bytes.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) size: Values<u32>,
    /// When a user sends a message.
    #[schemars(with = "Option<OneOrMany<PacingName>>")]
    pub(crate) pacing: Values<PacingName>,
    /// Pacing `rounds`: messages by which a user may be ahead of the slowest other user.
    #[schemars(with = "Option<OneOrMany<u32>>")]
    pub(crate) window: Values<u32>,
    /// Pacing `rate`: messages, requests or operations per second and connection.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) rate: Values<f64>,
    /// Shortest time between two messages of a user, seconds.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) pause: Values<f64>,
    /// Workload `chat`, crowd `native`: how often each user closes its connection and joins again, 1/s.
    #[schemars(with = "Option<OneOrMany<f64>>")]
    pub(crate) churn: Values<f64>,
}

/// The tests that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkloadPreset {
    Classic,
}

impl std::fmt::Display for PacingName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PacingName::Turns => "turns",
            PacingName::Rounds => "rounds",
            PacingName::Flood => "flood",
            PacingName::Rate => "rate",
        })
    }
}

/// The names of the pacings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PacingName {
    Turns,
    Rounds,
    Flood,
    Rate,
}

/// A setting that only some kinds of workload have: name, position, and those kinds.
type Particular = (&'static str, Option<Range<usize>>, &'static [WorkloadKind]);

impl WorkloadTable {
    /// The workload before any axis is applied; `chat` is the one of `klatch run`.
    pub(crate) fn base(&self, chat: &Workload) -> Workload {
        match self.kind {
            WorkloadKind::Chat => chat.clone(),
            WorkloadKind::Rr => Workload::Rr(RrWorkload::default()),
            WorkloadKind::Web => {
                let static_only = self.static_only.as_ref().is_some_and(|it| *it.get_ref());
                Workload::Web(WebWorkload { static_only, ..WebWorkload::default() })
            }
            WorkloadKind::Trade => Workload::Trade(TradeWorkload::default()),
            WorkloadKind::Orders => Workload::Orders(OrdersWorkload::default()),
            WorkloadKind::Files => Workload::Files(FilesWorkload::default()),
        }
    }

    /// The settings that only some kinds of workload have.
    fn particular(&self) -> [Particular; 32] {
        fn span<T>(values: &Values<T>) -> Option<Range<usize>> {
            values.as_ref().map(Spanned::span)
        }
        let (chat, rr, web) = (&[WorkloadKind::Chat][..], &[WorkloadKind::Rr][..], &[WorkloadKind::Web][..]);
        let timed = &[
            WorkloadKind::Rr,
            WorkloadKind::Web,
            WorkloadKind::Trade,
            WorkloadKind::Orders,
            WorkloadKind::Files,
        ];
        let (trade, orders) = (&[WorkloadKind::Trade], &[WorkloadKind::Orders]);
        let with_database = &[WorkloadKind::Trade, WorkloadKind::Orders];
        let files = &[WorkloadKind::Files];
        [
            ("preset", self.preset.as_ref().map(Spanned::span), chat),
            ("rooms", span(&self.rooms), chat),
            ("users", span(&self.users), &[WorkloadKind::Chat, WorkloadKind::Trade]),
            ("count", span(&self.count), chat),
            ("pacing", span(&self.pacing), chat),
            ("window", span(&self.window), chat),
            ("pause", span(&self.pause), chat),
            ("churn", span(&self.churn), chat),
            ("connections", span(&self.connections), rr),
            ("depth", span(&self.depth), rr),
            ("duration", span(&self.duration), timed),
            ("size", span(&self.size), &[WorkloadKind::Chat, WorkloadKind::Rr]),
            ("rate", span(&self.rate), &[WorkloadKind::Chat, WorkloadKind::Rr, WorkloadKind::Trade]),
            ("traders", span(&self.traders), trade),
            ("quotes", span(&self.quotes), trade),
            ("mix", span(&self.mix), trade),
            ("think", span(&self.think), trade),
            ("database", span(&self.database), with_database),
            ("durable", span(&self.durable), with_database),
            ("injection_rate", span(&self.injection_rate), orders),
            ("population", span(&self.population), orders),
            ("ramp", span(&self.ramp), orders),
            ("lines", span(&self.lines), web),
            ("line", span(&self.line), web),
            ("directories", span(&self.directories), web),
            ("readers", span(&self.readers), files),
            ("block", span(&self.block), files),
            ("order", span(&self.order), files),
            ("files", span(&self.files), files),
            ("file_mib", span(&self.file_mib), files),
            ("verified", span(&self.verified), files),
            ("static_only", self.static_only.as_ref().map(Spanned::span), web),
        ]
    }
}

/// Checks that the settings of the table belong together.
pub(crate) fn check_workload(file: &StudyFile, source: &Source<'_>) -> Result<(), StudyFileError> {
    let kind = file.workload.kind;
    for (name, span, owners) in file.workload.particular() {
        if let Some(span) = span.filter(|_| !owners.contains(&kind)) {
            let owners: Vec<&str> = owners.iter().map(|owner| owner.name()).collect();
            let owners = owners.join(" or ");
            let message = format!("{name} belongs to the workload {owners}, not to {kind}");
            return Err(source.error_at(span, message));
        }
    }
    if let Some(search) = &file.search
        && matches!(kind, WorkloadKind::Web | WorkloadKind::Orders | WorkloadKind::Files)
        && matches!(search.get_ref(), Search::Knee { .. })
    {
        let message =
            format!("the {}s of {kind} have no rate, so there is no knee; search a limit", kind.party_name());
        return Err(source.error_at(search.span(), message));
    }
    match kind {
        WorkloadKind::Chat => check_preset(file, source).and_then(|()| check_pacing(file, source)),
        _ => Ok(()),
    }
}

/// Refuses what the classic test has of its own.
fn check_preset(file: &StudyFile, source: &Source<'_>) -> Result<(), StudyFileError> {
    if file.workload.preset.is_none() {
        return Ok(());
    }
    if let Some(pacing) = &file.workload.pacing {
        return Err(source.error_at(pacing.span(), "the classic test has pacing turns; leave it out"));
    }
    match file.crowd.get("kind") {
        Some(kind) => {
            Err(source.error_at(kind.span(), "the classic test has a crowd of its own; leave kind out"))
        }
        None => Ok(()),
    }
}

fn check_pacing(file: &StudyFile, source: &Source<'_>) -> Result<(), StudyFileError> {
    let pacings = file.workload.pacing.as_ref().map_or_else(Vec::new, |pacing| pacing.get_ref().0.clone());
    if let Some(window) = file.workload.window.as_ref().filter(|_| !pacings.contains(&PacingName::Rounds)) {
        return Err(source.error_at(window.span(), "window belongs to pacing rounds"));
    }
    let knee = file
        .search
        .as_ref()
        .is_some_and(|search| matches!(search.get_ref(), crate::search::Search::Knee { .. }));
    let pause = file.workload.pause.as_ref().filter(|_| knee);
    if let Some(pause) = pause.filter(|pause| pause.get_ref().0.iter().any(|pause_s| *pause_s != 0.0)) {
        let message = "pause cannot be combined with a knee, whose schedules are fixed in advance";
        return Err(source.error_at(pause.span(), message));
    }
    match (&file.workload.rate, pacings.contains(&PacingName::Rate)) {
        (Some(rate), false) => Err(source.error_at(rate.span(), "rate belongs to pacing rate")),
        (None, true) if !knee => {
            let span = file.workload.pacing.as_ref().map_or(0..0, Spanned::span);
            Err(source.error_at(span, "pacing rate needs a rate: messages a second of each user"))
        }
        _ => Ok(()),
    }
}
