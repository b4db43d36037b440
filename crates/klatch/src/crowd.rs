//! `klatch crowd`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use klatch_crowd::{Options, Remote, remote_control, run};
use klatch_record::{CrowdEvent, CrowdResult, FailureKind, Status, WireName};
use klatch_report::Progress;

use crate::workload::WorkloadArgs;
use crate::{COULD_NOT_RUN, UNKNOWN};

/// Send the native crowd at a server that runs already.
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct Crowd {
    /// Host name or address of the server
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port of the server
    #[arg(long, default_value_t = 6667)]
    port: u16,
    /// The protocol that the server speaks: irc, redis, nats or mqtt
    #[arg(long, default_value = "irc")]
    wire: WireName,
    #[command(flatten)]
    workload: WorkloadArgs,
    /// Event loops, each with its own rooms
    #[arg(long, default_value_t = 1)]
    loops: usize,
    /// Give up after so long without a delivery
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    timeout: f64,
    /// Give up when a connection takes longer
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    connect_timeout: f64,
    /// Seed of the schedule under pacing `rate`
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print events and the result as JSON, one object a line
    #[arg(long)]
    json: bool,
    /// Wait on standard input for the lines `go` (when all have joined) and `quit` (when all is done)
    #[arg(long)]
    steered: bool,
}

impl Crowd {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let options = Options {
            host: self.host,
            port: self.port,
            wire: self.wire,
            workload: self.workload.workload()?,
            loops: self.loops,
            timeout: seconds("timeout", self.timeout)?,
            connect_timeout: seconds("connect timeout", self.connect_timeout)?,
            seed: self.seed,
            steered: self.steered,
        };
        let (remote, inbox) = remote_control();
        let stopper = remote.clone();
        ctrlc::set_handler(move || stopper.stop("stopped by a signal"))?;
        if self.steered {
            std::thread::spawn(move || steer(&remote));
        }
        let mut progress = (!self.json).then(|| Progress::new("crowd".to_owned()));
        let result = run(&options, inbox, |event| match &mut progress {
            Some(progress) => progress.tell(event),
            None => print(event),
        })?;
        let verdict = klatch_study::judge(&result, None);
        if self.json {
            print(&CrowdEvent::Result(result.clone()));
        } else {
            print!("{}", klatch_report::crowd(&result)?);
            let reasons = verdict.reasons.iter().map(|reason| format!("invalid: {reason}"));
            reasons.for_each(|reason| println!("{reason}"));
            if verdict.status == Status::Valid {
                println!("valid");
            }
        }
        Ok(exit_code(&result, verdict.status))
    }
}

/// A duration of more than nothing and at most a day.
pub(crate) fn seconds(what: &str, value: f64) -> anyhow::Result<Duration> {
    anyhow::ensure!(
        value > 0.0 && value <= 86_400.0,
        "{what} must be above 0 and at most 86400 seconds, got {value}"
    );
    Ok(Duration::from_secs_f64(value))
}

/// Passes on what is said on standard input; its end means stop.
fn steer(remote: &Remote) {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match line.as_str() {
            "go" => remote.go(),
            "quit" => return remote.quit(),
            _ => {}
        }
    }
    remote.stop("standard input ended");
}

fn print(event: &CrowdEvent) {
    println!("{}", serde_json::to_string(event).expect("an event is plain JSON"));
}

fn exit_code(result: &CrowdResult, status: Status) -> ExitCode {
    match (&result.failure, status) {
        (Some(failure), _) if failure.kind == FailureKind::Connect => ExitCode::from(COULD_NOT_RUN),
        (_, Status::Invalid) => ExitCode::FAILURE,
        (_, Status::Unknown) => ExitCode::from(UNKNOWN),
        (_, Status::Valid) => ExitCode::SUCCESS,
    }
}
