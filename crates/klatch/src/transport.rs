//! The transport of a connection, from options.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use klatch_crowd::TransportOptions;
use klatch_protocol::tls::ClientTls;
use klatch_protocol::websocket::TEXT_SUBPROTOCOL;
use klatch_record::{ProtocolName, Transport};
use klatch_runner::address;

/// How the connections to a server are carried.
pub(crate) fn transport(
    kind: Transport,
    path: String,
    subprotocol: Option<String>,
    protocol: ProtocolName,
    (host, port): (&str, u16),
) -> anyhow::Result<TransportOptions> {
    anyhow::ensure!(
        kind.has_websocket() || (path == "/" && subprotocol.is_none()),
        "--path and --subprotocol belong to --transport ws and wss, not to {kind}"
    );
    anyhow::ensure!(
        path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic()),
        "--path must begin with / and have no spaces, got {path}"
    );
    let lines = protocol == ProtocolName::Irc;
    let subprotocol = match subprotocol {
        None => lines.then(|| TEXT_SUBPROTOCOL.to_owned()),
        Some(name) if name == "none" => None,
        Some(name) => {
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            anyhow::ensure!(
                !name.is_empty() && name.bytes().all(is_token),
                "--subprotocol must be a name without spaces, got {name}"
            );
            Some(name)
        }
    };
    let greets_before_tls = protocol == ProtocolName::Nats && kind == Transport::Tls;
    let host = address(host, port);
    Ok(TransportOptions { kind, path, subprotocol, lines, greets_before_tls, host, tls: None })
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

/// The settings of TLS, for the transports with it.
pub(crate) fn tls(transport: Transport, args: &TlsArgs, host: &str) -> anyhow::Result<Option<ClientTls>> {
    if !transport.has_tls() {
        anyhow::ensure!(
            args.ca.is_none() && !args.resume && !args.ktls,
            "--ca, --resume and --ktls belong to --transport tls and wss, not to {transport}"
        );
        return Ok(None);
    }
    let authorities = args.ca.as_deref().unwrap_or(Path::new(SYSTEM_AUTHORITIES));
    let tls = ClientTls::from_file(authorities, host);
    let tls = tls.context("--ca FILE names the authorities that may have signed the server's certificate")?;
    let tls = if args.resume { tls.with_resumption() } else { tls };
    Ok(Some(if args.ktls { tls.in_kernel().context("cannot use --ktls")? } else { tls }))
}
