//! The endpoint of a server, from options.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use klatch_crowd::ClientEndpoint;
use klatch_protocol::tls::ClientTls;
use klatch_record::{Authorities, Endpoint, Subprotocol, Transport, WebSocket};

/// The options of a WebSocket.
pub(crate) struct WebSocketOptions {
    pub(crate) path: String,
    pub(crate) subprotocol: Option<Subprotocol>,
}

/// A server with this transport.
///
/// # Errors
/// The transport has no WebSocket or TLS, and an option of it is set.
pub(crate) fn with_transport(
    server: Endpoint,
    transport: Transport,
    WebSocketOptions { path, subprotocol }: WebSocketOptions,
    tls: &TlsArgs,
) -> anyhow::Result<Endpoint> {
    anyhow::ensure!(
        transport.has_websocket() || (path == "/" && subprotocol.is_none()),
        "--path and --subprotocol belong to --transport ws and wss, not to {transport}"
    );
    anyhow::ensure!(
        path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic()),
        "--path must begin with / and have no spaces, got {path}"
    );
    anyhow::ensure!(
        transport.has_tls() || (tls.ca.is_none() && !tls.resume && !tls.ktls),
        "--ca, --resume and --ktls belong to --transport tls and wss, not to {transport}"
    );
    let websocket = WebSocket { path, subprotocol: subprotocol.unwrap_or_default() };
    Ok(Endpoint {
        websocket: transport.has_websocket().then_some(websocket),
        tls: transport.has_tls().then(|| Authorities::of(tls.ca.clone())),
        ..server
    })
}

/// The bundle of authorities of Debian and of most other systems.
const SYSTEM_AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// What a client sets about TLS.
#[derive(Args, Default)]
pub(crate) struct TlsArgs {
    /// tls, wss: file with the authorities that may have signed the certificate, in PEM [default: those of the system]
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// tls, wss: resume the TLS sessions of earlier connections, where the server gives tickets
    #[arg(long)]
    pub(crate) resume: bool,
    /// tls, wss: leave the records to the kernel after each handshake (kTLS)
    #[arg(long, conflicts_with_all = ["threads", "resume"])]
    pub(crate) ktls: bool,
}

/// The endpoint with the settings of TLS that its authorities and the options make.
///
/// # Errors
/// The file of the authorities cannot be used, or the kernel has no TLS.
pub(crate) fn with_tls(server: Endpoint, args: &TlsArgs) -> anyhow::Result<ClientEndpoint> {
    let host = server.host.clone();
    server.try_with_tls(|authorities| {
        let file = authorities.file().map_or(Path::new(SYSTEM_AUTHORITIES), PathBuf::as_path);
        let tls = ClientTls::from_file(file, &host);
        let tls =
            tls.context("--ca FILE names the authorities that may have signed the server's certificate")?;
        let tls = if args.resume { tls.with_resumption() } else { tls };
        if args.ktls { tls.in_kernel().context("cannot use --ktls") } else { Ok(tls) }
    })
}
