//! `--web`: a page that shows the runs as they happen.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use klatch_record::{Endpoint, ProtocolName, Workload};
use klatch_report::viewer::Viewer;
use klatch_report::{LiveState, Talk, TalkRooms};
use klatch_runner::{ShardServer, VisitEvent};

use crate::output::print_error;
use crate::transport::{TlsArgs, with_tls};

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
            VisitEvent::Ready { platform, workload, servers } => {
                let talk = self.talk(workload, servers);
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
    fn talk(&self, workload: &Workload, servers: &[ShardServer]) -> Talk {
        if workload.chat().is_none() {
            return Talk::Nowhere(format!("Workload {} has no rooms.", workload.kind().name()));
        }
        let endpoints = servers.iter().map(|server| &server.endpoint);
        if let Some(other) = endpoints.clone().find(|endpoint| endpoint.protocol != ProtocolName::Irc) {
            return Talk::Nowhere(format!(
                "This page speaks IRC, and the server speaks {}.",
                other.protocol.name()
            ));
        }
        let upstream = |endpoint: &Endpoint| with_tls(endpoint.clone(), &TlsArgs::default());
        let gateways = match endpoints.map(upstream).collect() {
            Ok(upstreams) => self.viewer.set_upstreams(upstreams),
            Err(error) => {
                return Talk::Nowhere(format!("The server cannot be reached from here: {error:#}."));
            }
        };
        let rooms = |(server, gateway): (&ShardServer, String)| TalkRooms {
            urls: own_listener(&server.endpoint).into_iter().chain([gateway]).collect(),
            first: server.start,
            count: server.parties,
        };
        Talk::Rooms(servers.iter().zip(gateways).map(rooms).collect())
    }
}

/// The server's own WebSocket, if a page may open it: on this machine, and without a certificate that browsers do not know.
fn own_listener(endpoint: &Endpoint) -> Option<String> {
    let websocket = endpoint.websocket.as_ref().filter(|_| endpoint.tls.is_none())?;
    (endpoint.host == "127.0.0.1").then(|| format!("ws://{endpoint}{}", websocket.path))
}
