//! `klatch crowd`: the native crowd as a process, which `klatch run` also starts.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use klatch_crowd::{ControlSender, Options, ReadModel, Reading, Threads, control_channel, read_files, run};
use klatch_record::{
    CrowdEvent, CrowdJob, CrowdResult, CrowdSelfReport, Endpoint, FailureKind, Gate, Load, ProtocolName,
    Status, Subprotocol, Transport, Workload, error_chain, own_arguments,
};
use klatch_report::RunProgress;
use klatch_runner::{
    CrowdKind, SelfMonitor, ServerAddress, ServerAddressError, ShardPlan, now, shard_record,
};

use crate::output::{check_can_write, is_stdout, print, print_error, print_line, save_or_print};
use crate::quantity::{Time, port, whole};
use crate::shard_option::ShardOption;
use crate::transport::{
    self, ConnectingArgs, TlsArgs, WebSocketOptions, check_tls, with_tls, with_transport,
};
use crate::version::build;
use crate::workload::{self, OfCrowd, WorkloadArgs};
use crate::{COULD_NOT_RUN, UNKNOWN};

/// Connect the native crowd to a running server, or read files
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct Crowd {
    /// Host name or IP address of the server [default: 127.0.0.1, or that of --server-file]
    #[arg(long)]
    host: Option<String>,
    /// TCP port of the server
    #[arg(long, default_value_t = 6667, conflicts_with = "server_file", value_parser = port)]
    port: u16,
    /// File with the address of the server, from `klatch serve --ready-file`
    #[arg(long, value_name = "FILE")]
    server_file: Option<PathBuf>,
    /// Protocol of the server: irc, redis, nats, mqtt; of rr: echo, redis, http, postgres; of web, trade and orders: http
    #[arg(long)]
    protocol: Option<ProtocolName>,
    /// What lies between the protocol and TCP: plain (nothing), ws (WebSocket), tls (TLS 1.3), wss (both)
    #[arg(long, default_value_t = Transport::Plain)]
    transport: Transport,
    /// ws, wss: path of the WebSocket
    #[arg(long, default_value = "/", value_name = "PATH")]
    path: String,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    connecting: ConnectingArgs,
    /// ws, wss: subprotocol that the server must agree to, or none [default: text.ircv3.net for IRC, else none]
    #[arg(long, value_name = "NAME")]
    subprotocol: Option<Subprotocol>,
    #[command(flatten)]
    workload: WorkloadArgs<OfCrowd>,
    /// Event loops, each with rooms of its own
    #[arg(long, default_value_t = 1)]
    loops: usize,
    /// Use two threads per user instead of event loops, as VolanoMark's crowd did
    #[arg(long, conflicts_with = "loops")]
    threads: bool,
    /// With --threads: yield the CPU after each packet received and each batch sent, as VolanoMark did
    #[arg(long = "yield")]
    yields: bool,
    /// files: way to read a block: pread, mmap, or uring (io_uring)
    #[arg(long, default_value = "pread")]
    model: ReadModel,
    /// files: reads of a reader in flight under model uring
    #[arg(long, default_value_t = 16, value_name = "READS", value_parser = whole::<1, 1024>)]
    read_depth: u32,
    /// files: folder of the files
    #[arg(long, value_name = "DIR", required_if_eq("workload", "files"))]
    folder: Option<PathBuf>,
    /// Longest time without a delivery
    #[arg(long, default_value = "60s", value_name = "TIME")]
    timeout: Time,
    /// Longest time to connect
    #[arg(long, default_value = "10s", value_name = "TIME")]
    connect_timeout: Time,
    /// Seed of the schedule under pacing `rate`
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Play the share I of N shards, from 0 to N - 1, and start together with the others at the gate N; env/N takes I from the variables
    /// of Kubernetes, Slurm, HyperQueue, Nomad and GNU parallel
    #[arg(long, value_name = "I/N")]
    shard: Option<ShardOption>,
    /// Wait until the server, or its file, is there and it accepts connections, for that time at most
    #[arg(long, value_name = "TIME")]
    wait_for_server: Option<Time>,
    /// Start together with other crowds: when all users have joined, wait at this gate for that many shards
    #[arg(long, value_name = "SHARDS[:NAME]")]
    gate: Option<Gate>,
    /// Longest time at the gate
    #[arg(long, default_value = "2m", value_name = "TIME")]
    gate_timeout: Time,
    /// Write a record, for `klatch merge`; - for standard output
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    out: Option<PathBuf>,
    /// trade, orders: file with the ledgers of earlier runs on the same database; it is replaced at the end
    #[arg(long, value_name = "FILE", conflicts_with = "threads")]
    ledger: Option<PathBuf>,
    /// Print events and the result as JSON, one object per line
    #[arg(long)]
    json: bool,
    /// Take what to do from a parent, as a line of JSON on standard input, and then its commands: `go`, after all users have joined, and
    /// `quit`, after the last delivery; `pause`, `resume` and `finish` between them. Print as with --json
    #[arg(long, conflicts_with_all = GIVEN_BY_JOB)]
    job: bool,
}

/// The options in whose place a job stands.
const GIVEN_BY_JOB: [&str; 22] = [
    "host",
    "port",
    "server_file",
    "protocol",
    "transport",
    "path",
    "ca",
    transport::GROUP,
    "subprotocol",
    workload::GROUP,
    "loops",
    "threads",
    "folder",
    "timeout",
    "connect_timeout",
    "seed",
    "shard",
    "wait_for_server",
    "gate",
    "gate_timeout",
    "out",
    "ledger",
];

impl Crowd {
    pub(crate) fn execute(mut self) -> anyhow::Result<ExitCode> {
        self.out.as_deref().map_or(Ok(()), check_can_write)?;
        let (job, gate) = match self.job {
            true => (read_job()?, None),
            false => self.by_hand()?,
        };
        let threads = match job.loops {
            Some(loops) => Threads::Loops(loops),
            None => Threads::TwoPerUser { yields: self.yields },
        };
        let is_two_per_user = threads.is_two_per_user();
        anyhow::ensure!(!self.yields || is_two_per_user, "--yield needs two threads per user: --threads");
        anyhow::ensure!(
            !self.tls.ktls || !is_two_per_user,
            "--ktls needs event loops, not two threads per user"
        );
        let CrowdJob { workload, load, timeout_s, connect_timeout_s, seed, ledger, login, request, .. } = job;
        let options = Options {
            workload,
            threads,
            timeout: positive(timeout_s)?,
            connect_timeout: positive(connect_timeout_s)?,
            seed,
            gate,
            gate_timeout: self.gate_timeout.0,
            ledger,
            login: login.map(Arc::new),
            request,
            steered: self.job,
        };
        let (control, inbox) = control_channel();
        let stopper = control.clone();
        crate::interrupt::on_interrupt(move || stopper.stop("stopped by a signal"))?;
        if self.job {
            std::thread::spawn(move || obey_stdin(&control));
        }
        let prints_json = self.json || self.job;
        let mut progress = (!prints_json).then(|| RunProgress::new("crowd", &options.workload));
        let started_at = now();
        let mut monitor = SelfMonitor::new();
        let mut on_event = |event: &CrowdEvent| {
            monitor.on_event(event);
            match &mut progress {
                Some(progress) => progress.update(event),
                None => print_event(event),
            }
        };
        let result = match &load {
            Load::Folder(folder) => {
                let reading = Reading { model: self.model, folder: folder.clone(), depth: self.read_depth };
                read_files(&options, &reading, inbox, &mut on_event)
            }
            Load::Server(server) => {
                check_tls(server.transport(), &self.tls)?;
                run(&with_tls(server.clone(), &self.tls)?, &options, inbox, &mut on_event)
            }
        }?;
        let report = monitor.report(build(), result.sent + result.received);
        if let (Some(out), Load::Server(server)) = (&self.out, &load) {
            let plan = ShardPlan {
                crowd: if is_two_per_user { CrowdKind::NativeThreads } else { CrowdKind::Native },
                server: server.clone(),
                workload: options.workload,
                gate: options.gate,
                started_at,
                command: own_arguments(),
                build: build(),
            };
            save_or_print(&shard_record(plan, result.clone(), report.clone())?, out)?;
        }
        self.finish(result, report, &load)
    }

    /// What the options ask for, and the gate at which it waits for the others. A server accepts connections if the user wants to wait for
    /// that.
    pub(crate) fn by_hand(&mut self) -> anyhow::Result<(CrowdJob, Option<Gate>)> {
        let (workload, gate) = self.part()?;
        let load = match self.folder.take() {
            Some(folder) => Load::Folder(folder),
            None => Load::Server(self.endpoint(&workload)?),
        };
        let server = match &load {
            Load::Server(server) => Some(server),
            Load::Folder(_) => None,
        };
        let request = workload.request_parts(&self.workload.header_values(), server)?;
        let job = CrowdJob {
            workload,
            load,
            login: None,
            request,
            loops: (!self.threads).then_some(self.loops),
            timeout_s: self.timeout.0.as_secs_f64(),
            connect_timeout_s: self.connect_timeout.0.as_secs_f64(),
            seed: self.seed,
            ledger: self.ledger.take(),
        };
        Ok((job, gate))
    }

    /// Its part of the workload, and the gate at which it waits for the others.
    fn part(&mut self) -> anyhow::Result<(Workload, Option<Gate>)> {
        let whole = self.workload.workload()?;
        anyhow::ensure!(
            (self.gate.is_none() && self.shard.is_none()) || whole.chat().is_some(),
            "the gate of shards is a room of the server, so it needs --workload chat"
        );
        let gate = self.gate.take();
        Ok(match self.shard {
            Some(shard) => (shard.share(&whole)?, Some(shard.gate(gate)?)),
            None => (whole, gate),
        })
    }

    fn endpoint(&self, workload: &Workload) -> anyhow::Result<Endpoint> {
        let limit = self.wait_for_server.map(|limit| limit.0);
        let (host, file) = (self.host.clone(), self.server_file.clone());
        let (host, port) = ServerAddress { host, port: self.port, file }.find(limit).map_err(with_option)?;
        let protocol = self.protocol.unwrap_or_else(|| workload.kind().usual_protocol());
        let websocket = WebSocketOptions { path: self.path.clone(), subprotocol: self.subprotocol.clone() };
        let connecting = self.connecting.0.clone();
        anyhow::ensure!(
            self.transport.has_tls() || !connecting.has_tls(),
            "--tls-version, --ciphers, --client-certificate and --client-key belong to --transport tls and wss, not to {}",
            self.transport
        );
        let server = Endpoint { connecting, ..Endpoint::plain(protocol, host, port) };
        with_transport(server, self.transport, websocket, &self.tls)
    }

    /// Prints the result.
    fn finish(&self, result: CrowdResult, report: CrowdSelfReport, load: &Load) -> anyhow::Result<ExitCode> {
        let verdict = klatch_runner::judge(&result);
        let status = exit_code(&result, verdict.status);
        if self.json || self.job {
            print_event(&CrowdEvent::SelfReport(report.into()));
            print_event(&CrowdEvent::Result(result.into()));
            return Ok(status);
        }
        // Without a connection there is nothing to count.
        if let Some(failure) = result.failure.as_ref().filter(|failure| failure.kind == FailureKind::Connect)
        {
            anyhow::bail!("no server at {load}: {}; klatch serve starts one", failure.detail);
        }
        let reasons = verdict.reasons.iter().map(|reason| format!("invalid: {reason}\n"));
        let valid = (verdict.status == Status::Valid).then(|| "valid\n".to_owned());
        let text = klatch_report::crowd(&result)? + &reasons.chain(valid).collect::<String>();
        match self.out.as_deref().is_some_and(is_stdout) {
            true => print_error(text.trim_end()),
            false => print(text),
        }
        Ok(status)
    }
}

/// The error with what makes or replaces the server's file.
fn with_option(error: ServerAddressError) -> anyhow::Error {
    let inner = match &error {
        ServerAddressError::Waited { source, .. } => source,
        other => other,
    };
    let advice = match inner {
        ServerAddressError::NoAddress { .. } => "`klatch serve --ready-file` writes one",
        ServerAddressError::AllAddresses { .. } => "give one with --host",
        _ => return error.into(),
    };
    anyhow!("{}; {advice}", error_chain(&error))
}

/// The job of a parent, the first line of standard input.
fn read_job() -> anyhow::Result<CrowdJob> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("cannot read the job from standard input")?;
    Ok(CrowdJob::from_line(&line)?)
}

/// A time limit of a job.
fn positive(limit_s: f64) -> anyhow::Result<Duration> {
    let limit = Duration::try_from_secs_f64(limit_s).ok().filter(|limit| !limit.is_zero());
    limit.with_context(|| format!("a time limit of the job must be above 0 s, got {limit_s}"))
}

/// Obeys the commands on standard input. End of input means stop.
fn obey_stdin(control: &ControlSender) {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        match line.as_str() {
            "go" => control.go(),
            "pause" => control.pause(),
            "resume" => control.resume(),
            "finish" => control.finish(),
            "quit" => return control.quit(),
            _ => {}
        }
    }
    control.stop("standard input ended");
}

fn print_event(event: &CrowdEvent) {
    print_line(serde_json::to_string(event).expect("an event is plain JSON"));
}

fn exit_code(result: &CrowdResult, status: Status) -> ExitCode {
    match (&result.failure, status) {
        (Some(failure), _) if failure.kind == FailureKind::Connect => ExitCode::from(COULD_NOT_RUN),
        (_, Status::Invalid) => ExitCode::FAILURE,
        (_, Status::Unknown) => ExitCode::from(UNKNOWN),
        (_, Status::Valid) => ExitCode::SUCCESS,
    }
}
