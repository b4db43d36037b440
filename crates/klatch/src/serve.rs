//! `klatch serve`: a native server as a process, which `klatch run` also starts.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgAction, Args};
use klatch_record::{CONTENT_SEED, Transport};
use klatch_runner::ReadyFile;
use klatch_server::{Model, ServeOptions, TlsFiles, Workload, ready_json, serve_announced};

use crate::quantity::Time;
use crate::use_file::UseFile;

/// Start one of Klatch's native servers
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct Serve {
    /// What the server does: chat (IRC), rr (request/response: every byte goes back, RFC 862), web (a site after SPECweb99)
    #[arg(long, default_value_t = Workload::Chat)]
    workload: Workload,
    /// What lies between the protocol and TCP: plain (nothing), tls (TLS 1.3); of chat also ws (WebSocket, one line a message), wss (both)
    #[arg(long, default_value_t = Transport::Plain)]
    transport: Transport,
    #[command(flatten)]
    tls: TlsArgs,
    /// I/O model: threads, epoll, uring, tokio
    #[arg(long, default_value_t = Model::Epoll)]
    model: Model,
    /// Address to listen on; port 0 selects a free one
    #[arg(long, default_value = "127.0.0.1:6667", value_name = "HOST:PORT")]
    listen: String,
    /// Combine waiting deliveries in one write (class open) instead of one write each (class classic)
    #[arg(long)]
    coalesce: bool,
    /// Event loops or worker threads that share the connections [default: 1; tokio: one per CPU]
    #[arg(long, value_name = "THREADS")]
    loops: Option<usize>,
    /// Yield the CPU after each packet received and each batch sent, as VolanoMark did (model threads)
    #[arg(long = "yield")]
    yields: bool,
    /// Set TCP_NODELAY on every connection
    #[arg(long, default_value_t = true, action = ArgAction::Set, value_name = "true|false")]
    nodelay: bool,
    /// Capacity of a connection's send queue; a slower reader is closed [default: 1 MiB, of workload web 16 MiB]
    #[arg(long, value_name = "BYTES")]
    sendq: Option<usize>,
    /// Longest time for a client to register, to complete a request, and to take any of what waits for it
    #[arg(long, default_value = "30s", value_name = "TIME")]
    registration_timeout: Time,
    /// Limit of unregistered connections
    #[arg(long, default_value_t = 4096, value_name = "CONNECTIONS")]
    half_open_max: usize,
    /// Workload web: directories of the site, of 5 MB each [default: 25]
    #[arg(long, value_name = "N")]
    directories: Option<u32>,
    /// Workload web: seed of the site's contents [default: 1]
    #[arg(long, value_name = "SEED")]
    content_seed: Option<u64>,
    /// Write the ready line as JSON to this file, for `klatch crowd --server-file`; it is removed at the end
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// At the end, write what the server used since the last gate opened, for `klatch merge`; - for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the ready line as JSON
    #[arg(long)]
    json: bool,
}

impl Serve {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let is_web = self.workload == Workload::Web;
        anyhow::ensure!(
            is_web || (self.directories.is_none() && self.content_seed.is_none()),
            "--directories and --content-seed belong to --workload web, not to {}",
            self.workload
        );
        anyhow::ensure!(
            self.out.is_none() || self.workload == Workload::Chat,
            "--out is the use since a gate opened, and only --workload chat has gates"
        );
        anyhow::ensure!(
            self.out.is_none() || self.transport == Transport::Plain,
            "--out observes the gates by a connection of its own, which speaks --transport plain only"
        );
        let options = ServeOptions {
            workload: self.workload,
            websocket: self.transport.has_websocket(),
            tls: self.tls.files(self.transport)?,
            model: self.model,
            listen: self.listen,
            coalesce: self.coalesce,
            loops: self.loops,
            yields: self.yields,
            nodelay: self.nodelay,
            sendq_bytes: self.sendq.unwrap_or(if is_web { 16 << 20 } else { 1 << 20 }),
            // The server has a clock of seconds for it.
            registration_timeout_s: self.registration_timeout.0.as_secs_f64().ceil() as u32,
            half_open_max: self.half_open_max,
            directories: self.directories.unwrap_or(25),
            content_seed: self.content_seed.unwrap_or(CONTENT_SEED),
            json: self.json,
        };
        let ready_file = self.ready_file.map(ReadyFile::new);
        self.out.as_deref().map_or(Ok(()), crate::output::check_can_write)?;
        let use_file = self.out.map(UseFile::new);
        serve_announced(&options, &mut |address| {
            use_file.iter().try_for_each(|file| file.observe(address))?;
            ready_file.as_ref().map_or(Ok(()), |file| file.write(&ready_json(&options, address)))
        })?;
        drop(ready_file);
        use_file.map_or(Ok(()), |file| file.save(options.class()))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What a server sets about TLS.
#[derive(Args)]
struct TlsArgs {
    /// tls, wss: file with the certificate chain, in PEM
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// tls, wss: file with the key of the certificate, in PEM
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// tls, wss: give each client a ticket, by which its next connection can resume the session
    #[arg(long)]
    tickets: bool,
    /// tls, wss, model epoll: leave the records to the kernel after each handshake (kTLS)
    #[arg(long)]
    ktls: bool,
}

impl TlsArgs {
    /// The files of a transport with TLS. Other transports have none.
    fn files(self, transport: Transport) -> anyhow::Result<Option<TlsFiles>> {
        let TlsArgs { certificate, key, tickets, ktls } = self;
        match (transport.has_tls(), certificate, key) {
            (true, Some(certificate), Some(key)) => {
                Ok(Some(TlsFiles { certificate, key, tickets, in_kernel: ktls }))
            }
            (true, ..) => {
                anyhow::bail!("--transport tls and wss need --certificate FILE and --key FILE, in PEM")
            }
            (false, None, None) if !tickets && !ktls => Ok(None),
            (false, ..) => anyhow::bail!(
                "--certificate, --key, --tickets and --ktls belong to --transport tls and wss, not to {transport}"
            ),
        }
    }
}
