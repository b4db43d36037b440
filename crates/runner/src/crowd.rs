//! The exact command line of a crowd.

use klatch_platforms::{Java, PlatformError, Setting, Tuned, klatch_itself, klatch_jar};
use klatch_record::{CrowdInfo, Pacing, WireName, Workload, shard_name};

use crate::plan::{CrowdKind, Plan, Target, address};

/// How a crowd is started.
pub(crate) struct Crowd {
    pub(crate) info: CrowdInfo,
    pub(crate) tuned: Tuned,
    /// Its own rooms.
    pub(crate) workload: Workload,
    /// The server it talks to.
    pub(crate) address: String,
    /// The other machine it runs on, if it does.
    pub(crate) host: Option<String>,
    /// What it is called in messages.
    pub(crate) name: String,
}

/// A crowd's own part of a plan.
pub(crate) struct Post<'a> {
    /// Its rooms.
    pub(crate) workload: Workload,
    /// Host and port of its server.
    pub(crate) server: (&'a str, u16),
    /// The machine that runs it, if it is not this one.
    pub(crate) host: Option<&'a str>,
}

impl Crowd {
    pub(crate) fn new(
        plan: &Plan,
        wire: WireName,
        post: Post<'_>,
        java: Option<&Java>,
    ) -> Result<Crowd, PlatformError> {
        let tuned = tuned(plan)?;
        let (host, port) = post.server;
        let mut command = match java {
            Some(java) => {
                let mut command = vec![java.path.display().to_string()];
                command.extend(tuned.java_options.iter().cloned());
                command.extend(["-jar".to_owned(), klatch_jar()?.display().to_string()]);
                command
            }
            None if post.host.is_some() => vec![plan.remote.program.clone()],
            None => vec![klatch_itself()?.display().to_string()],
        };
        command.push("crowd".to_owned());
        command.extend(arguments(&post.workload, host, port));
        command.extend(option("timeout", plan.timeout.as_secs_f64()));
        command.extend(option("connect-timeout", plan.connect_timeout.as_secs_f64()));
        command.extend(option("seed", plan.seed));
        let wire = option("wire", wire.name());
        match plan.crowd {
            CrowdKind::Native => command.extend([wire, option("loops", plan.crowd_loops)].concat()),
            CrowdKind::NativeThreads => command.extend(wire.into_iter().chain(["--threads".to_owned()])),
            CrowdKind::Java => {}
        }
        command.extend(tuned.arguments.iter().cloned());
        command.extend(["--json", "--steered"].map(str::to_owned));
        let runtime = java.map(|java| java.runtime(&tuned.java_options));
        let set = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        let knobs = plan.crowd_settings.iter().map(set).collect();
        if let Some(host) = post.host {
            command = plan.remote.over_ssh(host, &command);
        }
        Ok(Crowd {
            info: CrowdInfo { kind: plan.crowd.name().to_owned(), knobs, command, runtime },
            tuned,
            name: shard_name(post.workload.start, post.workload.rooms, post.host),
            workload: post.workload,
            address: address(host, port),
            host: post.host.map(str::to_owned),
        })
    }
}

/// The command line of each shard of a crowd that nobody steers, for whatever starts it. Each writes the record
/// `shard-N.json` where it is started.
pub fn shard_commands(program: &str, target: &Target, shares: &[Workload], gate: &str) -> Vec<Vec<String>> {
    let command = |(place, share): (usize, &Workload)| {
        let mut words = vec![program.to_owned(), "crowd".to_owned()];
        words.extend(arguments(share, &target.host, target.port));
        words.extend(option("wire", target.wire.name()));
        words.extend(option("gate", format!("{}:{gate}", shares.len())));
        words.extend(option("out", shard_file(place)));
        words
    };
    shares.iter().enumerate().map(command).collect()
}

/// The name of the record of a shard, by its place from 0.
pub fn shard_file(place: usize) -> String {
    format!("shard-{}.json", place + 1)
}

/// What the plan sets about its crowd means.
pub(crate) fn tuned(plan: &Plan) -> Result<Tuned, PlatformError> {
    Ok(match plan.crowd {
        CrowdKind::Native | CrowdKind::NativeThreads => Tuned::of_native_crowd(&plan.crowd_settings)?,
        CrowdKind::Java => Tuned::of_java_crowd(&plan.crowd_settings)?,
    })
}

fn arguments(workload: &Workload, host: &str, port: u16) -> Vec<String> {
    let mut words = [option("host", host), option("port", port)].concat();
    words.extend(option("rooms", workload.rooms));
    words.extend(option("users", workload.users));
    words.extend(option("count", workload.count));
    words.extend(option("size", workload.size_bytes));
    words.extend(option("start", workload.start));
    words.extend(option("pause", workload.pause_s));
    let pacing = |name| option("pacing", name);
    match workload.pacing {
        Pacing::Turns => words.extend(pacing("turns")),
        Pacing::Flood => words.extend(pacing("flood")),
        Pacing::Rounds { window } => words.extend([pacing("rounds"), option("window", window)].concat()),
        Pacing::Rate { per_user_per_s } => {
            words.extend([pacing("rate"), option("rate", per_user_per_s)].concat())
        }
    }
    words
}

fn option(name: &str, value: impl ToString) -> [String; 2] {
    [format!("--{name}"), value.to_string()]
}
