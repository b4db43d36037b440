//! The command line of a crowd.

use klatch_platforms::{
    Java, PlatformError, ReaderProgram, ResolvedKnobs, ResolvedPlatform, Setting, klatch_jar, klatch_program,
};
use klatch_record::{
    ChatWorkload, CrowdInfo, FilesWorkload, OrdersWorkload, Pacing, RrWorkload, TradeWorkload, WebWorkload,
    Workload, shard_name,
};

use crate::carrier::{Carrier, option};
use crate::plan::{CrowdKind, Plan, Target, address};

/// How to start one crowd process.
#[derive(Clone)]
pub(crate) struct CrowdCommand {
    pub(crate) info: CrowdInfo,
    pub(crate) knobs: ResolvedKnobs,
    /// Its own share of the parties.
    pub(crate) workload: Workload,
    /// Host and port of its server.
    pub(crate) address: String,
    /// The machine that runs it; `None` for this one.
    pub(crate) host: Option<String>,
    /// Its name in messages, made of its parties and host.
    pub(crate) name: String,
    /// It is the platform itself, as in workload `files`, so it is measured in place of a server.
    pub(crate) is_platform: bool,
}

/// One crowd's part of a plan.
pub(crate) struct CrowdAssignment<'a> {
    /// Its own share of the parties.
    pub(crate) workload: Workload,
    /// Host and port of its server.
    pub(crate) server: (&'a str, u16),
    /// The machine that runs it; `None` for this one.
    pub(crate) host: Option<&'a str>,
}

impl CrowdCommand {
    pub(crate) fn new(
        plan: &Plan,
        carrier: &Carrier,
        assignment: CrowdAssignment<'_>,
        java: Option<&Java>,
    ) -> Result<CrowdCommand, PlatformError> {
        let knobs = crowd_knobs(plan)?;
        let (host, port) = assignment.server;
        let mut command = match java {
            Some(java) => {
                let mut command = vec![java.path.display().to_string()];
                command.extend(knobs.java_options.iter().cloned());
                command.extend(["-jar".to_owned(), klatch_jar()?.display().to_string()]);
                command
            }
            None if assignment.host.is_some() => vec![plan.remote.program.clone()],
            None => vec![klatch_program()?.display().to_string()],
        };
        command.push("crowd".to_owned());
        command.extend(arguments(&assignment.workload, host, port));
        command.extend(option("timeout", plan.timeout.as_secs_f64()));
        command.extend(option("connect-timeout", plan.connect_timeout.as_secs_f64()));
        command.extend(option("seed", plan.seed));
        command.extend(carrier.arguments());
        let protocol = option("protocol", carrier.protocol.name());
        match plan.crowd {
            CrowdKind::Native => command.extend([protocol, option("loops", plan.crowd_loops)].concat()),
            CrowdKind::NativeThreads => command.extend(protocol.into_iter().chain(["--threads".to_owned()])),
            CrowdKind::Java => {}
        }
        command.extend(knobs.arguments.iter().cloned());
        command.extend(["--json", "--steered"].map(str::to_owned));
        let runtime = java.map(|java| java.runtime(&knobs.java_options));
        let name_and_value = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        let settings = plan.crowd_settings.iter().map(name_and_value).collect();
        if let Some(host) = assignment.host {
            command = plan.remote.reach.command(host, &command);
        }
        Ok(CrowdCommand {
            info: CrowdInfo { kind: plan.crowd.name().to_owned(), knobs: settings, command, runtime },
            knobs,
            name: shard_name(
                assignment.workload.kind(),
                assignment.workload.start(),
                assignment.workload.parties(),
                assignment.host,
            ),
            workload: assignment.workload,
            address: address(host, port),
            host: assignment.host.map(str::to_owned),
            is_platform: false,
        })
    }

    /// The command of a platform that reads files itself.
    pub(crate) fn of_reader(
        plan: &Plan,
        platform: &ResolvedPlatform,
        reader: &ReaderProgram,
        workload: Workload,
    ) -> CrowdCommand {
        let mut command = reader.command.clone();
        command.extend(workload_arguments(&workload));
        command.extend(option("timeout", plan.timeout.as_secs_f64()));
        command.extend(["--json", "--steered"].map(str::to_owned));
        CrowdCommand {
            info: CrowdInfo { kind: "readers".to_owned(), knobs: [].into(), command, runtime: None },
            knobs: platform.knobs.with_launch(reader.launch.clone()),
            name: shard_name(workload.kind(), workload.start(), workload.parties(), None),
            workload,
            address: reader.files.display().to_string(),
            host: None,
            is_platform: true,
        }
    }
}

/// The command line of each shard of a crowd without a parent that controls it. The shards wait for each other at the gate
/// named `gate`, and each writes its record `shard-N.json` into its working directory.
pub fn shard_commands(program: &str, target: &Target, shares: &[Workload], gate: &str) -> Vec<Vec<String>> {
    let command = |(place, share): (usize, &Workload)| {
        let mut words = vec![program.to_owned(), "crowd".to_owned()];
        words.extend(arguments(share, &target.host, target.port));
        words.extend(option("protocol", target.protocol.name()));
        words.extend(Carrier::of_target(target, None).arguments());
        words.extend(option("gate", format!("{}:{gate}", shares.len())));
        words.extend(option("out", shard_file(place)));
        words
    };
    shares.iter().enumerate().map(command).collect()
}

/// The file name of the record of the shard at `place`, counted from 0.
pub fn shard_file(place: usize) -> String {
    format!("shard-{}.json", place + 1)
}

/// The plan's crowd settings, resolved for its kind of crowd.
pub(crate) fn crowd_knobs(plan: &Plan) -> Result<ResolvedKnobs, PlatformError> {
    Ok(match plan.crowd {
        CrowdKind::Native => ResolvedKnobs::for_native_crowd(&plan.crowd_settings)?,
        CrowdKind::NativeThreads => ResolvedKnobs::for_threads_crowd(&plan.crowd_settings)?,
        CrowdKind::Java => ResolvedKnobs::for_java_crowd(&plan.crowd_settings)?,
    })
}

fn arguments(workload: &Workload, host: &str, port: u16) -> Vec<String> {
    let mut words = [option("host", host), option("port", port)].concat();
    words.extend(workload_arguments(workload));
    words
}

fn workload_arguments(workload: &Workload) -> Vec<String> {
    match workload {
        // The Java crowd knows chat alone, so its arguments do not name it.
        Workload::Chat(chat) => chat_arguments(chat),
        Workload::Rr(rr) => rr_arguments(rr),
        Workload::Web(web) => web_arguments(web),
        Workload::Trade(trade) => trade_arguments(trade),
        Workload::Orders(orders) => orders_arguments(orders),
        Workload::Files(files) => files_arguments(files),
    }
}

fn chat_arguments(chat: &ChatWorkload) -> Vec<String> {
    let mut words = [option("rooms", chat.rooms), option("users", chat.users)].concat();
    words.extend(option("count", chat.count));
    words.extend(option("size", chat.size_bytes));
    words.extend(option("start", chat.start));
    words.extend(option("pause", chat.pause_s));
    // Only the native crowd knows it.
    if chat.has_churn() {
        words.extend(option("churn", chat.churn_per_user_per_s));
    }
    let pacing = |name| option("pacing", name);
    match chat.pacing {
        Pacing::Turns => words.extend(pacing("turns")),
        Pacing::Flood => words.extend(pacing("flood")),
        Pacing::Rounds { window } => words.extend([pacing("rounds"), option("window", window)].concat()),
        Pacing::Rate { per_user_per_s } => {
            words.extend([pacing("rate"), option("rate", per_user_per_s)].concat())
        }
    }
    words
}

fn rr_arguments(rr: &RrWorkload) -> Vec<String> {
    let mut words = [option("workload", "rr"), option("connections", rr.connections)].concat();
    words.extend(option("size", rr.size_bytes));
    words.extend(option("depth", rr.depth));
    words.extend(option("duration", rr.duration_s));
    words.extend(option("start", rr.start));
    words.extend(rr.rate_per_connection_per_s.into_iter().flat_map(|rate| option("rate", rate)));
    words
}

fn web_arguments(web: &WebWorkload) -> Vec<String> {
    let mut words = [option("workload", "web"), option("lines", web.lines)].concat();
    words.extend(option("line", web.line_kbit_per_s.map_or("none".to_owned(), |kbit| format!("{kbit}kbit"))));
    words.extend(option("directories", web.directories));
    words.extend(option("duration", web.duration_s));
    words.extend(option("start", web.start));
    words.extend(web.static_only.then(|| "--static-only".to_owned()));
    words
}

fn trade_arguments(trade: &TradeWorkload) -> Vec<String> {
    let mut words = [option("workload", "trade"), option("traders", trade.traders)].concat();
    words.extend(option("users", trade.users));
    words.extend(option("quotes", trade.quotes));
    words.extend(option("users-per-trader", trade.users_per_trader));
    words.extend(option("mix", trade.mix.name()));
    words.extend(option("think", trade.think_s));
    words.extend(option("duration", trade.duration_s));
    words.extend(option("start", trade.start));
    words.extend(trade.rate_per_trader_per_s.into_iter().flat_map(|rate| option("rate", rate)));
    words.extend(trade.daytrader.iter().flat_map(|root| option("daytrader", root)));
    words
}

fn orders_arguments(orders: &OrdersWorkload) -> Vec<String> {
    let mut words = [option("workload", "orders"), option("injection-rate", orders.injection_rate)].concat();
    words.extend(option("population", orders.population));
    words.extend(option("suppliers", orders.suppliers));
    words.extend(option("ramp", orders.ramp_s));
    words.extend(option("duration", orders.duration_s));
    words.extend(option("start", orders.start));
    words
}

fn files_arguments(files: &FilesWorkload) -> Vec<String> {
    let mut words = [option("workload", "files"), option("readers", files.readers)].concat();
    words.extend(option("block", files.block_bytes));
    words.extend(option("order", files.order));
    words.extend(option("files", files.files));
    words.extend(option("file-mib", files.file_mib));
    words.extend(option("duration", files.duration_s));
    words.extend(option("start", files.start));
    words.extend((!files.verified).then(|| "--unverified".to_owned()));
    words
}
