//! The workloads of a server, and the service of each. Each model has its own outbox, so a service is a family of types.

use std::fmt;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::str::FromStr;
use std::sync::Arc;

use klatch_exchange::Echo;
use klatch_exchange::web::{Site, SiteOptions};
use klatch_protocol::chat::{Identity, ServerState};
use klatch_protocol::service::{Outbox, Service};
use klatch_protocol::tls::{ServerTls, Tls, TlsOutbox};
use klatch_protocol::websocket::{FramedOutbox, WebSocket};

use crate::{ServeError, ServeOptions, TlsFiles, serve_workload};

/// What a server does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workload {
    /// Chat in rooms, by IRC.
    #[default]
    Chat,
    /// Request/response: every byte goes back (RFC 862).
    Rr,
    /// A web site, after SPECweb99, over HTTP/1.1.
    Web,
}

impl Workload {
    /// All workloads, in the order of help and lists.
    pub const ALL: [Workload; 3] = [Workload::Chat, Workload::Rr, Workload::Web];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Chat => "chat",
            Workload::Rr => "rr",
            Workload::Web => "web",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(name: &str) -> Result<Workload, String> {
        let workload = Workload::ALL.into_iter().find(|workload| workload.name() == name);
        workload.ok_or_else(|| {
            format!("workload must be one of {}, got {name}", Workload::ALL.map(Workload::name).join(", "))
        })
    }
}

/// Serves the workload of `options` over its transport.
pub(crate) fn serve(
    options: &ServeOptions,
    stop: BorrowedFd<'_>,
    ready: &mut dyn FnMut(SocketAddr) -> Result<(), ServeError>,
) -> Result<(), ServeError> {
    match (options.workload, options.websocket, &options.tls) {
        (Workload::Chat, false, None) => serve_workload::<Chat>(options, stop, ready),
        (Workload::Chat, true, None) => serve_workload::<OverWebSocket<Chat>>(options, stop, ready),
        (Workload::Chat, false, Some(_)) => serve_workload::<OverTls<Chat>>(options, stop, ready),
        (Workload::Chat, true, Some(_)) => {
            serve_workload::<OverTls<OverWebSocket<Chat>>>(options, stop, ready)
        }
        (Workload::Rr, _, None) => serve_workload::<RequestResponse>(options, stop, ready),
        (Workload::Rr, _, Some(_)) => serve_workload::<OverTls<RequestResponse>>(options, stop, ready),
        (Workload::Web, _, None) => serve_workload::<Web>(options, stop, ready),
        (Workload::Web, _, Some(_)) => serve_workload::<OverTls<Web>>(options, stop, ready),
    }
}

/// The server side of a workload, for any outbox.
pub(crate) trait Served {
    type Service<O: Outbox + Send + Sync + 'static>: Service<O>;

    /// The service at the start of a server.
    ///
    /// # Errors
    /// A file that it needs cannot be used.
    fn start<O: Outbox + Send + Sync + 'static>(
        options: &ServeOptions,
    ) -> Result<Arc<Self::Service<O>>, ServeError>;
}

pub(crate) struct Chat;

impl Served for Chat {
    type Service<O: Outbox + Send + Sync + 'static> = ServerState<O>;

    /// A server without rooms and users.
    fn start<O: Outbox + Send + Sync + 'static>(_: &ServeOptions) -> Result<Arc<ServerState<O>>, ServeError> {
        Ok(ServerState::new(Identity {
            name: "klatch.localhost".into(),
            version: concat!("klatch-", env!("CARGO_PKG_VERSION")).into(),
            created: concat!("with klatch ", env!("CARGO_PKG_VERSION")).to_owned(),
            network: "Klatch".into(),
            motd: vec!["Come in and talk.".into()],
        }))
    }
}

pub(crate) struct RequestResponse;

impl Served for RequestResponse {
    type Service<O: Outbox + Send + Sync + 'static> = Echo;

    fn start<O: Outbox + Send + Sync + 'static>(_: &ServeOptions) -> Result<Arc<Echo>, ServeError> {
        Ok(Arc::new(Echo))
    }
}

pub(crate) struct Web;

impl Served for Web {
    type Service<O: Outbox + Send + Sync + 'static> = Site;

    fn start<O: Outbox + Send + Sync + 'static>(options: &ServeOptions) -> Result<Arc<Site>, ServeError> {
        Ok(Arc::new(Site::new(&SiteOptions {
            seed: options.content_seed,
            directories: options.directories,
            ..SiteOptions::default()
        })))
    }
}

/// A workload whose clients connect by WebSocket.
pub(crate) struct OverWebSocket<W>(PhantomData<W>);

impl<W: Served> Served for OverWebSocket<W> {
    type Service<O: Outbox + Send + Sync + 'static> = WebSocket<W::Service<FramedOutbox<O>>>;

    fn start<O: Outbox + Send + Sync + 'static>(
        options: &ServeOptions,
    ) -> Result<Arc<Self::Service<O>>, ServeError> {
        Ok(Arc::new(WebSocket::new(W::start(options)?)))
    }
}

/// A workload whose clients connect by TLS.
pub(crate) struct OverTls<W>(PhantomData<W>);

impl<W: Served> Served for OverTls<W> {
    type Service<O: Outbox + Send + Sync + 'static> = Tls<W::Service<TlsOutbox<O>>>;

    fn start<O: Outbox + Send + Sync + 'static>(
        options: &ServeOptions,
    ) -> Result<Arc<Self::Service<O>>, ServeError> {
        let TlsFiles { certificate, key, tickets, in_kernel } =
            options.tls.as_ref().expect("a server over TLS has its files");
        let mut tls = ServerTls::from_files(certificate, key)?;
        if *tickets {
            tls = tls.with_tickets().map_err(ServeError::Tickets)?;
        }
        if *in_kernel {
            tls = tls.in_kernel()?;
        }
        Ok(Arc::new(Tls::new(W::start(options)?, tls)))
    }
}
