//! The endpoint of a server, from options.

use std::path::PathBuf;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use klatch_crowd::ClientEndpoint;
use klatch_protocol::tls::{ClientOffer, ClientTls, TlsFileError};
use klatch_record::{
    Authorities, CONNECTING, Connecting, ConnectingSetting, Endpoint, Subprotocol, TlsVersion, Transport,
    WebSocket,
};

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
    check_tls(transport, tls)?;
    let websocket = WebSocket { path, subprotocol: subprotocol.unwrap_or_default() };
    Ok(Endpoint {
        websocket: transport.has_websocket().then_some(websocket),
        tls: transport.has_tls().then(|| Authorities::of(tls.ca.clone())),
        ..server
    })
}

/// Rejects options of TLS that nothing would use.
pub(crate) fn check_tls(transport: Transport, tls: &TlsArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        transport.has_tls() || (tls.ca.is_none() && !tls.resume && !tls.ktls),
        "--ca, --resume and --ktls belong to --transport tls and wss, not to {transport}"
    );
    Ok(())
}

/// What is said of authorities that cannot be read.
const AUTHORITIES: &str = "--ca FILE, SSL_CERT_FILE or SSL_CERT_DIR names the authorities that may have signed the server's certificate";

/// What a client sets about TLS.
#[derive(Args, Default)]
pub(crate) struct TlsArgs {
    /// tls, wss: file with the authorities that may have signed the certificate, in PEM [default: those of SSL_CERT_FILE and SSL_CERT_DIR, or of the system]
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// tls, wss: resume the TLS sessions of earlier connections, where the server gives tickets
    #[arg(long)]
    pub(crate) resume: bool,
    /// tls, wss: leave the records to the kernel after each handshake (kTLS)
    #[arg(long, conflicts_with_all = ["threads", "resume"])]
    pub(crate) ktls: bool,
}

/// The group of all options of connections.
pub(crate) const GROUP: &str = "connecting";

/// What a client sets about its connections.
#[derive(Default)]
pub(crate) struct ConnectingArgs(pub(crate) Connecting);

impl Args for ConnectingArgs {
    fn augment_args(command: Command) -> Command {
        let group = ArgGroup::new(GROUP).args(CONNECTING.iter().map(|setting| setting.name)).multiple(true);
        command.args(CONNECTING.iter().map(argument)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ConnectingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut connecting = Connecting::default();
        for setting in CONNECTING {
            if let Some(text) = matches.get_one::<String>(setting.name) {
                let invalid = |error| clap::Error::raw(ErrorKind::ValueValidation, error);
                setting.set(&mut connecting, text).map_err(invalid)?;
            }
        }
        Ok(ConnectingArgs(connecting))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The option of a setting.
fn argument(setting: &'static ConnectingSetting) -> Arg {
    let default = match setting.default {
        "" => String::new(),
        default => format!(" [default: {default}]"),
    };
    let argument = Arg::new(setting.name)
        .long(setting.option())
        .value_name(setting.unit)
        .help(format!("{}{default}", setting.help))
        .value_parser(move |text: &str| {
            setting.set(&mut Connecting::default(), text).map(|()| text.to_owned())
        });
    setting.needs.into_iter().fold(argument, Arg::requires)
}

/// What clients offer in TLS.
fn client_offer(connecting: &Connecting) -> ClientOffer {
    ClientOffer {
        minor_version: connecting.tls_version.map(|version| match version {
            TlsVersion::V1_2 => 2,
            TlsVersion::V1_3 => 3,
        }),
        ciphers: connecting.ciphers.clone(),
        certificate: connecting.certificate.clone().zip(connecting.key.clone()),
    }
}

/// The endpoint with the settings of TLS that its authorities and the options make.
///
/// # Errors
/// The file of the authorities cannot be used, or the kernel has no TLS.
pub(crate) fn with_tls(server: Endpoint, args: &TlsArgs) -> anyhow::Result<ClientEndpoint> {
    let (host, offer) = (server.host.clone(), client_offer(&server.connecting));
    server.try_with_tls(|authorities| {
        let tls = ClientTls::offering(authorities.file().map(PathBuf::as_path), &host, &offer);
        let tls = tls.map_err(|error| {
            let is_of_authorities = match &error {
                TlsFileError::NoAuthorities(_) => true,
                TlsFileError::Read { path, .. } | TlsFileError::NoCertificate { path } => {
                    Some(path) == authorities.file()
                }
                _ => false,
            };
            let error = anyhow::Error::new(error);
            if is_of_authorities { error.context(AUTHORITIES) } else { error }
        })?;
        let tls = if args.resume { tls.with_resumption() } else { tls };
        if args.ktls { tls.in_kernel().context("cannot use --ktls") } else { Ok(tls) }
    })
}
