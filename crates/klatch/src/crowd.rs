//! `klatch crowd`: the native crowd as a process, which `klatch run` also starts.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_crowd::{ControlSender, Options, ReadModel, Reading, Threads, control_channel, read_files, run};
use klatch_record::{
    CrowdEvent, CrowdResult, CrowdSelfReport, Endpoint, FailureKind, Gate, ProtocolName, Status, Subprotocol,
    Transport, Workload, WorkloadKind,
};
use klatch_report::RunProgress;
use klatch_runner::{CrowdKind, SelfMonitor, ShardPlan, now, shard_record};

use crate::output::{check_can_write, is_stdout, print, print_error, print_line, save_or_print};
use crate::quantity::{Time, port, whole};
use crate::shard_option::ShardOption;
use crate::transport::{TlsArgs, WebSocketOptions, with_tls, with_transport};
use crate::version::build;
use crate::wait_for_server::ServerAddress;
use crate::workload::{OfCrowd, WorkloadArgs};
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
    #[arg(long = "yield", requires = "threads")]
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
    #[arg(long, value_name = "I/N", conflicts_with = "steered")]
    shard: Option<ShardOption>,
    /// Wait until the server, or its file, is there and it accepts connections, for that time at most
    #[arg(long, value_name = "TIME")]
    wait_for_server: Option<Time>,
    /// Start together with other crowds: when all users have joined, wait at this gate for that many shards
    #[arg(long, value_name = "SHARDS[:NAME]", conflicts_with = "steered")]
    gate: Option<Gate>,
    /// Longest time at the gate
    #[arg(long, default_value = "2m", value_name = "TIME")]
    gate_timeout: Time,
    /// Write a record, for `klatch merge`; - for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// trade, orders: file with the ledgers of earlier runs on the same database; it is replaced at the end
    #[arg(long, value_name = "FILE", conflicts_with = "threads")]
    ledger: Option<PathBuf>,
    /// Print events and the result as JSON, one object per line
    #[arg(long)]
    json: bool,
    /// Wait on standard input for the commands `go`, after all users have joined, and `quit`, after the last delivery; obey
    /// `pause`, `resume` and `finish` between them
    #[arg(long)]
    steered: bool,
}

impl Crowd {
    pub(crate) fn execute(mut self) -> anyhow::Result<ExitCode> {
        self.out.as_deref().map_or(Ok(()), check_can_write)?;
        let (workload, gate) = self.part()?;
        let endpoint = self.endpoint(&workload)?;
        let server = with_tls(endpoint.clone(), &self.tls)?;
        let address = endpoint.to_string();
        let options = Options {
            workload,
            threads: match self.threads {
                true => Threads::TwoPerUser { yields: self.yields },
                false => Threads::Loops(self.loops),
            },
            timeout: self.timeout.0,
            connect_timeout: self.connect_timeout.0,
            seed: self.seed,
            gate,
            gate_timeout: self.gate_timeout.0,
            ledger: self.ledger.take(),
            steered: self.steered,
        };
        let folder = self.folder.take();
        let reading = folder.map(|folder| Reading { model: self.model, folder, depth: self.read_depth });
        let (control, inbox) = control_channel();
        let stopper = control.clone();
        crate::interrupt::on_interrupt(move || stopper.stop("stopped by a signal"))?;
        if self.steered {
            std::thread::spawn(move || obey_stdin(&control));
        }
        let mut progress = (!self.json).then(|| RunProgress::new("crowd", &options.workload));
        let started_at = now();
        let mut monitor = SelfMonitor::new();
        let mut on_event = |event: &CrowdEvent| {
            monitor.on_event(event);
            match &mut progress {
                Some(progress) => progress.update(event),
                None => print_event(event),
            }
        };
        let result = match reading {
            Some(reading) => read_files(&options, &reading, inbox, &mut on_event),
            None => run(&server, &options, inbox, &mut on_event),
        }?;
        let report = monitor.report(build(), result.sent + result.received);
        if let Some(out) = &self.out {
            let threads = options.threads.is_two_per_user();
            let plan = ShardPlan {
                crowd: if threads { CrowdKind::NativeThreads } else { CrowdKind::Native },
                server: endpoint,
                workload: options.workload,
                gate: options.gate,
                started_at,
                command: std::env::args().collect(),
                build: build(),
            };
            save_or_print(&shard_record(plan, result.clone(), report.clone())?, out)?;
        }
        self.finish(result, report, &address)
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

    /// The server, which accepts connections if the user wants to wait for that.
    fn endpoint(&self, workload: &Workload) -> anyhow::Result<Endpoint> {
        let limit = self.wait_for_server.map(|limit| limit.0);
        let (host, file) = (self.host.clone(), self.server_file.clone());
        let (host, port) = ServerAddress { host, port: self.port, file }.find(limit)?;
        let protocol = self.protocol.unwrap_or_else(|| usual_protocol(workload));
        let websocket = WebSocketOptions { path: self.path.clone(), subprotocol: self.subprotocol.clone() };
        with_transport(Endpoint::plain(protocol, host, port), self.transport, websocket, &self.tls)
    }

    /// Prints the result.
    fn finish(
        &self,
        result: CrowdResult,
        report: CrowdSelfReport,
        address: &str,
    ) -> anyhow::Result<ExitCode> {
        let verdict = klatch_runner::judge(&result);
        let status = exit_code(&result, verdict.status);
        if self.json {
            print_event(&CrowdEvent::SelfReport(report.into()));
            print_event(&CrowdEvent::Result(result.into()));
            return Ok(status);
        }
        // Without a connection there is nothing to count.
        if let Some(failure) = result.failure.as_ref().filter(|failure| failure.kind == FailureKind::Connect)
        {
            anyhow::bail!("no server at {address}: {}; klatch serve starts one", failure.detail);
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

fn usual_protocol(workload: &Workload) -> ProtocolName {
    match workload.kind() {
        WorkloadKind::Chat => ProtocolName::Irc,
        WorkloadKind::Rr => ProtocolName::Echo,
        WorkloadKind::Web | WorkloadKind::Trade | WorkloadKind::Orders => ProtocolName::Http,
        WorkloadKind::Files => ProtocolName::File,
    }
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
