//! The command line and the job of a crowd.

use std::path::PathBuf;

use klatch_platforms::{
    Java, PlatformError, ReaderProgram, ResolvedKnobs, ResolvedPlatform, klatch_jar, klatch_program,
};
use klatch_record::{CrowdInfo, CrowdJob, CrowdProgram, Endpoint, Load, Workload, shard_name};

use crate::description::name_and_value;
use crate::error::RunError;
use crate::plan::{CrowdKind, Plan};
use crate::shard::ShardServer;

/// How to start one crowd process.
#[derive(Clone)]
pub(crate) struct CrowdCommand {
    /// As records describe it, with the command line that a person would type.
    pub(crate) info: CrowdInfo,
    /// The command line that is started. The job is for its standard input.
    pub(crate) command: Vec<String>,
    /// Its own share of the plan.
    pub(crate) job: CrowdJob,
    pub(crate) knobs: ResolvedKnobs,
    /// The machine that runs it; `None` for this one.
    pub(crate) host: Option<String>,
    /// Its name in messages, made of its parties and host.
    pub(crate) name: String,
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

/// The option of a crowd, and of a program that reads files, that takes its job from standard input.
const JOB: &str = "--job";

impl CrowdCommand {
    pub(crate) fn new(
        plan: &Plan,
        assignment: CrowdAssignment<'_>,
        java: Option<&Java>,
    ) -> Result<CrowdCommand, RunError> {
        let CrowdAssignment { workload, server, host, ledger } = assignment;
        let knobs = crowd_knobs(plan)?;
        let mut program = match java {
            Some(java) => {
                let mut program = vec![java.path.display().to_string()];
                program.extend(knobs.java_options.iter().cloned());
                program.extend([
                    "-jar".to_owned(),
                    klatch_jar().map_err(PlatformError::from)?.display().to_string(),
                ]);
                program
            }
            None if host.is_some() => vec![plan.remote.program.clone()],
            None => vec![klatch_program().map_err(PlatformError::from)?.display().to_string()],
        };
        program.push("crowd".to_owned());
        let (loops, threads) = match plan.crowd {
            CrowdKind::Native => (Some(plan.crowd_loops), None),
            CrowdKind::NativeThreads => (None, Some("--threads".to_owned())),
            CrowdKind::Java => (None, None),
        };
        let request = workload.request_parts(&plan.header_values, Some(&server))?;
        let job = CrowdJob { loops, ledger, request, ..job(plan, workload, Load::Server(server)) };
        let on_host = |command: Vec<String>| match host {
            Some(host) => plan.remote.reach.command(host, &command),
            None => command,
        };
        let by_hand = program.iter().cloned().chain(job.options()).chain(threads);
        let info = CrowdInfo {
            kind: plan.crowd.into(),
            knobs: plan.crowd_settings.iter().map(name_and_value).collect(),
            command: on_host(by_hand.chain(knobs.arguments.iter().cloned()).collect()),
            runtime: java.map(|java| java.runtime(&knobs.java_options)),
        };
        program.push(JOB.to_owned());
        let command = on_host(program.into_iter().chain(knobs.arguments.iter().cloned()).collect());
        Ok(CrowdCommand::of(job, info, command, knobs, host))
    }

    /// The command of a platform that reads files itself.
    pub(crate) fn of_reader(
        plan: &Plan,
        platform: &ResolvedPlatform,
        reader: &ReaderProgram,
        workload: Workload,
    ) -> CrowdCommand {
        let job = job(plan, workload, Load::Folder(reader.files.clone()));
        let info = CrowdInfo {
            kind: CrowdProgram::Readers,
            knobs: [].into(),
            command: [reader.command.clone(), job.options()].concat(),
            runtime: None,
        };
        let command = reader.command.iter().cloned().chain([JOB.to_owned()]).collect();
        CrowdCommand::of(job, info, command, platform.knobs.with_launch(reader.launch.clone()), None)
    }

    fn of(
        job: CrowdJob,
        info: CrowdInfo,
        command: Vec<String>,
        knobs: ResolvedKnobs,
        host: Option<&str>,
    ) -> CrowdCommand {
        let (kind, start, parties) = (job.workload.kind(), job.workload.start(), job.workload.parties());
        let name = shard_name(kind, start, parties, host);
        CrowdCommand { info, command, job, knobs, host: host.map(str::to_owned), name }
    }

    /// Whether it is the platform itself.
    pub(crate) fn is_platform(&self) -> bool {
        matches!(self.job.load, Load::Folder(_))
    }

    /// Its server with its parties; `None` if it reads files.
    pub(crate) fn shard_server(&self) -> Option<ShardServer> {
        let Load::Server(endpoint) = &self.job.load else { return None };
        let (start, parties) = (self.job.workload.start(), self.job.workload.parties());
        Some(ShardServer { endpoint: endpoint.clone(), start, parties })
    }
}

/// The command line of each shard of a crowd without a parent that controls it. The shards wait for each other at the gate
/// named `gate`, and each writes its record `shard-N.json` into its working directory.
pub fn shard_commands(program: &str, server: &Endpoint, shares: &[Workload], gate: &str) -> Vec<Vec<String>> {
    let command = |(place, share): (usize, &Workload)| {
        let mut words = vec![program.to_owned(), "crowd".to_owned()];
        words.extend(server.options(share));
        words.extend(share.options());
        words.extend(["--gate".to_owned(), format!("{}:{gate}", shares.len())]);
        words.extend(["--out".to_owned(), shard_file(place)]);
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

/// The part of the plan that all its crowds have, with this share of the workload.
fn job(plan: &Plan, workload: Workload, load: Load) -> CrowdJob {
    CrowdJob {
        workload,
        load,
        login: plan.login().cloned(),
        request: None,
        loops: None,
        timeout_s: plan.timeout.as_secs_f64(),
        connect_timeout_s: plan.connect_timeout.as_secs_f64(),
        seed: plan.seed,
        ledger: None,
    }
}
