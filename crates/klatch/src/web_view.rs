//! `--web`: a page that shows the runs as they happen.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use klatch_record::{ProtocolName, Transport, Workload};
use klatch_report::viewer::{Upstream, Viewer};
use klatch_report::{LiveState, Talk, TalkRooms};
use klatch_runner::{Endpoint, VisitEvent};

use crate::output::print_error;
use crate::transport::{TlsArgs, tls, transport};

#[derive(Args, Clone, Copy)]
pub(crate) struct WebArgs {
    /// Serve a page on 127.0.0.1 that shows the runs as they happen and joins their rooms; PORT 0 is a free one
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    web: Option<u16>,
}

impl WebArgs {
    /// Whether the page is to be served.
    pub(crate) fn is_wanted(self) -> bool {
        self.web.is_some()
    }

    /// Starts to serve the page, if it is wanted, and prints its address.
    ///
    /// # Errors
    /// The port cannot be listened on, or the results folder cannot be written.
    pub(crate) fn start(self, title: &str, folder: &Path) -> anyhow::Result<Option<WebView>> {
        let Some(port) = self.web else { return Ok(None) };
        let viewer = Viewer::start(port, folder, LiveState::new(title))?;
        // Standard output is for results.
        print_error(format_args!("watch     {}", viewer.url()));
        Ok(Some(WebView { viewer }))
    }
}

/// The page while it is served.
pub(crate) struct WebView {
    viewer: Viewer,
}

impl WebView {
    /// Shows a step of a visit; `cell` is that of a study.
    pub(crate) fn update(&self, event: &VisitEvent<'_>, cell: Option<&str>) {
        match event {
            VisitEvent::Ready { platform, workload, endpoints } => {
                let talk = self.talk(workload, endpoints);
                self.viewer.update(|watch| watch.ready(platform, workload, cell, talk));
            }
            VisitEvent::RunStarted(role, number) => {
                self.viewer.update(|watch| watch.begin_run(*role, *number));
            }
            VisitEvent::Crowd(event) => self.viewer.update(|watch| watch.crowd(event, Instant::now())),
            VisitEvent::RunEnded(record) => self.viewer.update(|watch| watch.end_run(record)),
        }
    }

    /// Shows that no run follows, and the reason.
    pub(crate) fn end(&self, why: &str) {
        self.viewer.update(|watch| watch.end(why));
    }

    /// Where people can talk, if the server has rooms that a browser can join.
    fn talk(&self, workload: &Workload, endpoints: &[Endpoint]) -> Talk {
        if workload.chat().is_none() {
            return Talk::Nowhere(format!("Workload {} has no rooms.", workload.kind().name()));
        }
        if let Some(other) = endpoints.iter().find(|endpoint| endpoint.protocol != ProtocolName::Irc) {
            return Talk::Nowhere(format!(
                "This page speaks IRC, and the server speaks {}.",
                other.protocol.name()
            ));
        }
        let upstreams: anyhow::Result<Vec<Upstream>> = endpoints.iter().map(upstream).collect();
        let gateways = match upstreams {
            Ok(upstreams) => self.viewer.set_upstreams(upstreams),
            Err(error) => {
                return Talk::Nowhere(format!("The server cannot be reached from here: {error:#}."));
            }
        };
        let rooms = |(endpoint, gateway): (&Endpoint, String)| TalkRooms {
            urls: own_listener(endpoint).into_iter().chain([gateway]).collect(),
            first: endpoint.start,
            count: endpoint.parties,
        };
        Talk::Rooms(endpoints.iter().zip(gateways).map(rooms).collect())
    }
}

/// The server's own WebSocket, if a page may open it: on this machine, and without a certificate that browsers do not know.
fn own_listener(endpoint: &Endpoint) -> Option<String> {
    let Endpoint { host, port, path, .. } = endpoint;
    let is_open = endpoint.transport == Transport::Ws && host == "127.0.0.1";
    is_open.then(|| format!("ws://{host}:{port}{path}"))
}

fn upstream(endpoint: &Endpoint) -> anyhow::Result<Upstream> {
    let Endpoint { host, port, protocol, path, subprotocol, ca, .. } = endpoint.clone();
    let mut options = transport(endpoint.transport, path, subprotocol, protocol, (&host, port))?;
    options.tls = tls(endpoint.transport, &TlsArgs { ca, ..TlsArgs::default() }, &host)?;
    Ok(Upstream { host, port, transport: options })
}
