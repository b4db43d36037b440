//! `klatch conformance`.

use std::net::Ipv4Addr;
use std::process::ExitCode;

use clap::Args;
use klatch_conformance::{Outcome, Subject, check, row, summary};
use klatch_platforms::{Processes, Server, Setting, Wish, choose};
use klatch_record::WireName;
use klatch_runner::Target;

use crate::INTERRUPTED;
use crate::crowd::seconds;
use crate::platforms::PlatformArgs;

/// Check that an IRC server does what it must do to be measured: for whoever writes one.
///
/// Exit status: 0 all passed, 1 some failed, 2 could not run. What could not be checked is told, and is no pass.
#[derive(Args)]
pub(crate) struct Conformance {
    /// A platform by name, which is started and stopped; or a server that runs already, irc://HOST:PORT
    target: String,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Something to set about the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    /// How long an answer may take
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    timeout: f64,
    /// How long a server may take until it is ready
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    ready_timeout: f64,
    /// Print all findings as a JSON array
    #[arg(long)]
    json: bool,
}

impl Conformance {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let patience = seconds("timeout", self.timeout)?;
        if self.target.contains("://") {
            let target: Target = self.target.parse()?;
            irc_only(&self.target, target.wire)?;
            return self.check(&target.to_string(), &Subject { class: None, pid: None, patience });
        }
        let all = Processes::default();
        let stopper = all.clone();
        ctrlc::set_handler(move || stopper.interrupt())?;
        let checked = self.start(&all).and_then(|server| {
            let subject = Subject { class: Some(server.class), pid: Some(server.pid), patience };
            self.check(&server.address.to_string(), &subject)
        });
        if all.interrupted() {
            eprintln!("klatch: interrupted; the server is stopped");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        checked
    }

    fn start(&self, all: &Processes) -> anyhow::Result<Server> {
        let wish =
            Wish { name: Some(self.target.clone()), settings: self.knobs.clone(), ..self.platforms.wish() };
        let chosen = choose(&wish)?;
        irc_only(&chosen.name, chosen.entry.wire)?;
        Ok(Server::start(
            &chosen,
            Ipv4Addr::LOCALHOST.into(),
            all,
            seconds("ready timeout", self.ready_timeout)?,
        )?)
    }

    fn check(&self, address: &str, subject: &Subject) -> anyhow::Result<ExitCode> {
        let findings = check(address, subject, |finding| {
            if !self.json {
                println!("{}", row(finding));
            }
        })?;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&findings)?);
        } else {
            println!("\n{}", summary(&findings));
        }
        let failed = findings.iter().any(|finding| finding.outcome == Outcome::Failed);
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn irc_only(name: &str, wire: WireName) -> anyhow::Result<()> {
    anyhow::ensure!(
        wire == WireName::Irc,
        "{name} speaks {}, and the kit checks IRC servers; `klatch run` checks every message of the others too",
        wire.name()
    );
    Ok(())
}
