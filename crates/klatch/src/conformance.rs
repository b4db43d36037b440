//! `klatch conformance`: the kit against a platform that Klatch starts, or a running server.

use std::cell::Cell;
use std::net::Ipv4Addr;
use std::process::ExitCode;

use clap::Args;
use klatch_conformance::{Finding, Subject, check_server, row, summary};
use klatch_platforms::{PlatformRequest, ResolvedPlatform, Server, Setting, resolve};
use klatch_record::{Endpoint, ProtocolName, RrWorkload, Transport, WebWorkload, Workload, WorkloadKind};
use klatch_report::Progress;
use klatch_runner::{Target, save_failed_musts};

use crate::INTERRUPTED;
use crate::output::{print_error, print_line, print_text};
use crate::platforms::PlatformArgs;
use crate::quantity::Time;
use crate::run::transport_setting;

/// Check that a server follows the protocol of a workload
///
/// Chat: IRC. rr: the echo service, ECHO of Redis, SELECT $1 of PostgreSQL and GET over HTTP. web: the site, its files, pages, ads and post log. A check that could not run is printed as not checked, and has not passed.
///
/// A check is a must if a score counts on it, else a should: clients count on it. A run of a platform that failed a must says so.
///
/// Exit status: 0 no must failed, 1 a must failed, 2 could not run.
#[derive(Args)]
pub(crate) struct Conformance {
    /// Platform to start, check and stop; or a running server, irc://HOST:PORT, ws://HOST:PORT/PATH, echo://HOST:PORT,
    /// redis://HOST:PORT, postgres://HOST:PORT or http://HOST:PORT
    target: String,
    /// Workload whose protocol is checked: chat, rr or web. That of a running server follows from its protocol; http:// is web unless this says rr
    #[arg(long, default_value_t = WorkloadKind::Chat, value_name = "WORKLOAD")]
    workload: WorkloadKind,
    /// chat: what lies between the platform's protocol and TCP: plain, or ws (WebSocket), for which there are other checks
    #[arg(long)]
    transport: Option<Transport>,
    /// web: check static files only, on a running server without the dynamic half
    #[arg(long)]
    static_only: bool,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Knob of the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    /// Longest time for an answer
    #[arg(long, default_value = "10s", value_name = "TIME")]
    timeout: Time,
    /// Longest time until the server is ready
    #[arg(long, default_value = "60s", value_name = "TIME")]
    ready_timeout: Time,
    /// Print all results as a JSON array
    #[arg(long)]
    json: bool,
}

/// The exit status of these findings.
fn status(findings: &[Finding]) -> ExitCode {
    if findings.iter().any(Finding::fails_a_must) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

impl Conformance {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        if self.target.contains("://") {
            let target: Target = self.target.parse()?;
            self.has_checks(&self.target, target.endpoint.protocol)?;
            anyhow::ensure!(
                target.context_root().is_none(),
                "no checks have a path of HTTP: leave it out of {}",
                self.target
            );
            anyhow::ensure!(
                target.login.is_none(),
                "the checks of conformance have no login: leave out user and password"
            );
            let subject = Subject { class: None, pid: None, answer_timeout: self.timeout.0 };
            let findings = self.check(&target.endpoint, &subject, self.static_only)?;
            return Ok(status(&findings));
        }
        let all = crate::interrupt::interruptible_processes()?;
        let checked = self.resolve().and_then(|platform| {
            let timeout = self.ready_timeout.0;
            let server = Server::start(&platform, Ipv4Addr::LOCALHOST.into(), &all, timeout)?;
            let static_only = self.static_only || platform.in_workload.static_only;
            let (class, pid) = (server.class, Some(server.pid));
            let subject = Subject { class, pid, answer_timeout: self.timeout.0 };
            let findings = self.check(&server.endpoint, &subject, static_only)?;
            // A server that was stopped fails the check that is under way.
            if !all.interrupted() {
                self.remember(&findings);
            }
            Ok(status(&findings))
        });
        if all.interrupted() {
            print_error("klatch: interrupted; the server is stopped");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        checked
    }

    fn resolve(&self) -> anyhow::Result<ResolvedPlatform> {
        let workload = match self.workload {
            WorkloadKind::Chat => Workload::default(),
            WorkloadKind::Rr => Workload::Rr(RrWorkload::default()),
            WorkloadKind::Web => Workload::Web(WebWorkload { directories: 1, ..WebWorkload::default() }),
            kind if kind.has_server() => {
                anyhow::bail!("every run of workload {kind} checks every reply; there are no other checks")
            }
            kind => anyhow::bail!("workload {kind} has no server to check"),
        };
        let request = PlatformRequest {
            name: Some(self.target.clone()),
            settings: self.knobs.iter().cloned().chain(self.transport.map(transport_setting)).collect(),
            ..self.platforms.request()
        };
        let platform = resolve(&request.with_file()?, &workload)?;
        self.has_checks(&platform.name, platform.protocol())?;
        Ok(platform)
    }

    /// Saves what the platform failed for later runs. Only those of chat are known to runs, by the platform's name.
    fn remember(&self, findings: &[Finding]) {
        if self.workload != WorkloadKind::Chat {
            return;
        }
        let failed = findings.iter().filter(|finding| finding.fails_a_must());
        let failed: Vec<String> = failed.map(|finding| finding.name.clone()).collect();
        if let Err(error) = save_failed_musts(&self.target, &failed) {
            print_error(format_args!("klatch: later runs will not know of it: {error}"));
        }
    }

    fn check(
        &self,
        endpoint: &Endpoint,
        subject: &Subject,
        static_only: bool,
    ) -> anyhow::Result<Vec<Finding>> {
        anyhow::ensure!(
            endpoint.tls.is_none(),
            "the kit has no checks for transport {}; every run checks the certificate and each record, and --transport plain or ws the rest",
            endpoint.transport()
        );
        let progress = Progress::new("conformance", None, "checks");
        let made = Cell::new(0);
        let on_finding = |finding: &Finding, all: usize| {
            if !self.json {
                print_text(line_of(finding));
                made.set(made.get() + 1);
                progress.set_total(all as u64, false);
                progress.at(made.get());
            }
        };
        let findings = check_server(endpoint, self.workload, subject, static_only, on_finding)?;
        drop(progress);
        if self.json {
            print_line(serde_json::to_string_pretty(&findings)?);
        } else {
            print_text(end_of(&findings));
        }
        Ok(findings)
    }

    /// Refuses a server for which the kit has no checks.
    fn has_checks(&self, name: &str, protocol: ProtocolName) -> anyhow::Result<()> {
        let has = match protocol {
            ProtocolName::Irc | ProtocolName::Echo | ProtocolName::Http => true,
            // A running server is asked for what the kit can check of it.
            ProtocolName::Redis | ProtocolName::Postgres => {
                self.workload == WorkloadKind::Rr || self.target.contains("://")
            }
            _ => false,
        };
        anyhow::ensure!(
            has,
            "{name} uses {}, for which the kit has no checks in workload {}; `klatch run` checks every message of it too",
            protocol.name(),
            self.workload
        );
        Ok(())
    }
}

fn line_of(finding: &Finding) -> String {
    row(finding) + "\n"
}

/// The last lines, below those of the findings.
fn end_of(findings: &[Finding]) -> String {
    format!("\n{}\n", summary(findings))
}

#[cfg(test)]
mod tests {
    use klatch_conformance::{Duty, Outcome};
    use klatch_report::{at_width, fitted};

    use super::*;

    #[test]
    fn the_list_is_as_it_was_at_three_widths() {
        let finding = |name: &str, duty, outcome, seen: Option<&str>| {
            Finding {
            name: name.to_owned(),
            duty,
            expected: "the message arrives at all other members, with the prefix of its speaker, and not at the speaker".to_owned(),
            seen: seen.map(str::to_owned),
            outcome,
        }
        };
        let skipped = Outcome::NotChecked {
            reason: "strace is not installed, so nobody sees the system calls of the server: apt-get install strace".to_owned(),
        };
        let failed = ":a!u@h PRIVMSG #room :hello arrived at its speaker as well, 0.4 ms after the first member had it";
        let findings = [
            finding("registration: NICK and USER", Duty::Must, Outcome::Passed, Some("001 after 0.2 ms")),
            finding("talk: to all other members", Duty::Must, Outcome::Failed, Some(failed)),
            finding("leaving: QUIT", Duty::Should, Outcome::Failed, Some("no line for 10 s")),
            finding("writes: one per delivery", Duty::Must, skipped, None),
        ];
        let write = || findings.iter().map(line_of).collect::<String>() + &end_of(&findings);
        let at = |width| at_width(width, || fitted(&write(), Some(width)));
        insta::assert_snapshot!(klatch_testing::at_widths(at));
    }
}
