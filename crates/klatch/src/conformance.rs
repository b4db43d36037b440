//! `klatch conformance`: the kit against a platform that Klatch starts, or a running server.

use std::net::Ipv4Addr;
use std::process::ExitCode;

use clap::Args;
use klatch_conformance::{Outcome, Subject, check, row, summary};
use klatch_platforms::{PlatformRequest, Processes, Server, Setting, resolve};
use klatch_record::ProtocolName;
use klatch_runner::Target;

use crate::INTERRUPTED;
use crate::crowd::seconds;
use crate::output::{print_error, print_line};
use crate::platforms::PlatformArgs;

/// Check that an IRC server follows the protocol
///
/// Prints a check that could not run as not checked, which is no pass.
///
/// Exit status: 0 all passed, 1 some failed, 2 could not run.
#[derive(Args)]
pub(crate) struct Conformance {
    /// Platform to start, check and stop; or a running server, irc://HOST:PORT
    target: String,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Knob of the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    /// Longest time for an answer
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    timeout: f64,
    /// Longest time until the server is ready
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    ready_timeout: f64,
    /// Print all results as a JSON array
    #[arg(long)]
    json: bool,
}

impl Conformance {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let timeout = seconds("timeout", self.timeout)?;
        if self.target.contains("://") {
            let target: Target = self.target.parse()?;
            irc_only(&self.target, target.protocol)?;
            return self
                .check(&target.to_string(), &Subject { class: None, pid: None, answer_timeout: timeout });
        }
        let all = Processes::default();
        let stopper = all.clone();
        crate::interrupt::on_interrupt(move || stopper.interrupt())?;
        let checked = self.start(&all).and_then(|server| {
            let subject = Subject { class: server.class, pid: Some(server.pid), answer_timeout: timeout };
            self.check(&server.address.to_string(), &subject)
        });
        if all.interrupted() {
            print_error("klatch: interrupted; the server is stopped");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        checked
    }

    fn start(&self, all: &Processes) -> anyhow::Result<Server> {
        let request = PlatformRequest {
            name: Some(self.target.clone()),
            settings: self.knobs.clone(),
            ..self.platforms.request()
        };
        let platform = resolve(&request)?;
        irc_only(&platform.name, platform.entry.protocol)?;
        Ok(Server::start(
            &platform,
            Ipv4Addr::LOCALHOST.into(),
            all,
            seconds("ready timeout", self.ready_timeout)?,
        )?)
    }

    fn check(&self, address: &str, subject: &Subject) -> anyhow::Result<ExitCode> {
        let findings = check(address, subject, |finding| {
            if !self.json {
                print_line(row(finding));
            }
        })?;
        if self.json {
            print_line(serde_json::to_string_pretty(&findings)?);
        } else {
            print_line(format_args!("\n{}", summary(&findings)));
        }
        let failed = findings.iter().any(|finding| finding.outcome == Outcome::Failed);
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn irc_only(name: &str, protocol: ProtocolName) -> anyhow::Result<()> {
    anyhow::ensure!(
        protocol == ProtocolName::Irc,
        "{name} uses {}, and the kit checks IRC servers only; `klatch run` checks every message of the others too",
        protocol.name()
    );
    Ok(())
}
