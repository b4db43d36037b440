//! The steps of visits on the page of a viewer.

use std::time::Instant;

use klatch_crowd::ClientEndpoint;
use klatch_record::{Endpoint, ProtocolName, Workload};
use klatch_runner::{ShardServer, VisitEvent};

use crate::viewer::show::Viewer;
use crate::watch::{Talk, TalkRooms};

/// The client of an endpoint, by which the gateway reaches a server; else the reason why it cannot, in words.
pub type ClientOf = fn(&Endpoint) -> Result<ClientEndpoint, String>;

/// A page about the runs of visits, while it is served.
pub struct VisitPage {
    viewer: Viewer,
    client: ClientOf,
}

impl VisitPage {
    /// A page of this viewer, whose gateway uses these clients.
    pub fn new(viewer: Viewer, client: ClientOf) -> VisitPage {
        VisitPage { viewer, client }
    }

    /// Shows a step of a visit; `cell` is that of a study.
    pub fn update(&self, event: &VisitEvent<'_>, cell: Option<&str>) {
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
    pub fn end(&self, why: &str) {
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
        let gateways = match endpoints.map(self.client).collect() {
            Ok(upstreams) => self.viewer.set_upstreams(upstreams),
            Err(error) => return Talk::Nowhere(format!("The server cannot be reached from here: {error}.")),
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
