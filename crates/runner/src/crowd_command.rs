//! The command line of a crowd.

use std::path::PathBuf;

use klatch_platforms::{
    Java, PlatformError, ReaderProgram, ResolvedKnobs, ResolvedPlatform, Setting, klatch_jar, klatch_program,
};
use klatch_record::{Authorities, CrowdInfo, CrowdProgram, Endpoint, WebSocket, Workload, shard_name};

use crate::plan::{CrowdKind, Plan};
use crate::shard::ShardServer;

/// How to start one crowd process.
#[derive(Clone)]
pub(crate) struct CrowdCommand {
    pub(crate) info: CrowdInfo,
    pub(crate) knobs: ResolvedKnobs,
    /// Its own share of the parties.
    pub(crate) workload: Workload,
    pub(crate) load: Load,
    /// The machine that runs it; `None` for this one.
    pub(crate) host: Option<String>,
    /// Its name in messages, made of its parties and host.
    pub(crate) name: String,
}

/// What a crowd process loads.
#[derive(Clone)]
pub(crate) enum Load {
    /// A server.
    Server(Endpoint),
    /// The files of a folder. The process is the platform itself, so it is measured in place of a server.
    Files(PathBuf),
}

/// One crowd's part of a plan.
pub(crate) struct CrowdAssignment<'a> {
    /// Its own share of the parties.
    pub(crate) workload: Workload,
    /// Its server.
    pub(crate) server: Endpoint,
    /// The machine that runs it; `None` for this one.
    pub(crate) host: Option<&'a str>,
    /// File for its ledgers, if there is a database.
    pub(crate) ledger: Option<PathBuf>,
}

impl CrowdCommand {
    pub(crate) fn new(
        plan: &Plan,
        assignment: CrowdAssignment<'_>,
        java: Option<&Java>,
    ) -> Result<CrowdCommand, PlatformError> {
        let CrowdAssignment { workload, server, host, ledger } = assignment;
        let knobs = crowd_knobs(plan)?;
        let mut command = match java {
            Some(java) => {
                let mut command = vec![java.path.display().to_string()];
                command.extend(knobs.java_options.iter().cloned());
                command.extend(["-jar".to_owned(), klatch_jar()?.display().to_string()]);
                command
            }
            None if host.is_some() => vec![plan.remote.program.clone()],
            None => vec![klatch_program()?.display().to_string()],
        };
        command.push("crowd".to_owned());
        command.extend(arguments(&workload, &server));
        command.extend(option("timeout", plan.timeout.as_secs_f64()));
        command.extend(option("connect-timeout", plan.connect_timeout.as_secs_f64()));
        command.extend(option("seed", plan.seed));
        command.extend(transport_options(&server));
        let protocol = option("protocol", server.protocol.name());
        match plan.crowd {
            CrowdKind::Native => command.extend([protocol, option("loops", plan.crowd_loops)].concat()),
            CrowdKind::NativeThreads => command.extend(protocol.into_iter().chain(["--threads".to_owned()])),
            CrowdKind::Java => {}
        }
        command.extend(knobs.arguments.iter().cloned());
        command.extend(["--json", "--steered"].map(str::to_owned));
        command.extend(ledger.iter().flat_map(|file| option("ledger", file.display())));
        let runtime = java.map(|java| java.runtime(&knobs.java_options));
        let name_and_value = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        let settings = plan.crowd_settings.iter().map(name_and_value).collect();
        if let Some(host) = host {
            command = plan.remote.reach.command(host, &command);
        }
        Ok(CrowdCommand {
            info: CrowdInfo { kind: plan.crowd.into(), knobs: settings, command, runtime },
            knobs,
            name: shard_name(workload.kind(), workload.start(), workload.parties(), host),
            workload,
            load: Load::Server(server),
            host: host.map(str::to_owned),
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
        command.extend(workload.options());
        command.extend(option("timeout", plan.timeout.as_secs_f64()));
        command.extend(["--json", "--steered"].map(str::to_owned));
        CrowdCommand {
            info: CrowdInfo { kind: CrowdProgram::Readers, knobs: [].into(), command, runtime: None },
            knobs: platform.knobs.with_launch(reader.launch.clone()),
            name: shard_name(workload.kind(), workload.start(), workload.parties(), None),
            workload,
            load: Load::Files(reader.files.clone()),
            host: None,
        }
    }

    /// Host and port of its server, or its folder.
    pub(crate) fn address(&self) -> String {
        match &self.load {
            Load::Server(server) => server.to_string(),
            Load::Files(folder) => folder.display().to_string(),
        }
    }

    /// Whether it is the platform itself.
    pub(crate) fn is_platform(&self) -> bool {
        matches!(self.load, Load::Files(_))
    }

    /// Its server with its parties; `None` if it reads files.
    pub(crate) fn shard_server(&self) -> Option<ShardServer> {
        let Load::Server(endpoint) = &self.load else { return None };
        let (start, parties) = (self.workload.start(), self.workload.parties());
        Some(ShardServer { endpoint: endpoint.clone(), start, parties })
    }
}

/// The command line of each shard of a crowd without a parent that controls it. The shards wait for each other at the gate
/// named `gate`, and each writes its record `shard-N.json` into its working directory.
pub fn shard_commands(program: &str, server: &Endpoint, shares: &[Workload], gate: &str) -> Vec<Vec<String>> {
    let command = |(place, share): (usize, &Workload)| {
        let mut words = vec![program.to_owned(), "crowd".to_owned()];
        words.extend(arguments(share, server));
        words.extend(option("protocol", server.protocol.name()));
        words.extend(transport_options(server));
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

fn arguments(workload: &Workload, server: &Endpoint) -> Vec<String> {
    let mut words = [option("host", &server.host), option("port", server.port)].concat();
    words.extend(workload.options());
    words
}

/// The options for what lies between the protocol and TCP. There are none for plain TCP.
fn transport_options(server: &Endpoint) -> Vec<String> {
    let transport = Some(server.transport()).filter(|transport| !transport.is_plain());
    let mut words: Vec<String> =
        transport.into_iter().flat_map(|transport| option("transport", transport)).collect();
    if let Some(WebSocket { path, subprotocol }) = &server.websocket {
        words.extend((path != "/").then(|| option("path", path)).into_iter().flatten());
        words.extend(subprotocol.word().into_iter().flat_map(|word| option("subprotocol", word)));
    }
    let authorities = server.tls.as_ref().and_then(Authorities::file);
    words.extend(authorities.into_iter().flat_map(|file| option("ca", file.display())));
    words
}

/// An option of a crowd with its value.
fn option(name: &str, value: impl ToString) -> [String; 2] {
    [format!("--{name}"), value.to_string()]
}
