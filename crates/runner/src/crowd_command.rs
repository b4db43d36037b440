//! The command line of a crowd.

use klatch_platforms::{
    Java, PlatformError, ReaderProgram, ResolvedKnobs, ResolvedPlatform, Setting, klatch_jar, klatch_program,
};
use klatch_record::{CrowdInfo, Workload, shard_name};

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
        command.extend(workload.options());
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
    words.extend(workload.options());
    words
}
