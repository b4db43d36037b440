//! An HTTP server on 127.0.0.1 that answers only requests from its own pages.

use std::io::Cursor;
use std::net::Ipv4Addr;

use tiny_http::{Header, Request, Response, Server};

use crate::error::ViewerError;

/// The listening server with its port.
pub struct Loopback {
    server: Server,
    port: u16,
}

impl Loopback {
    /// Listens on this port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    /// The port is in use, or not permitted.
    pub fn bind(port: u16) -> Result<Loopback, ViewerError> {
        let server = Server::http((Ipv4Addr::LOCALHOST, port))
            .map_err(|error| ViewerError::Listen { port, cause: error.to_string() })?;
        let port = server.server_addr().to_ip().map_or(port, |address| address.port());
        Ok(Loopback { server, port })
    }

    /// The address of the start page.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next request; requests that are not from its own pages are refused before.
    pub fn next(&self) -> Option<Request> {
        loop {
            let request = self.server.recv().ok()?;
            if self.is_own(&request) {
                return Some(request);
            }
            let refusal = format!("use {} as klatch printed it", self.url());
            // The client may have disconnected.
            let _ = request.respond(Response::from_string(refusal).with_status_code(403));
        }
    }

    /// DNS rebinding: a foreign page under a host name that resolves to this machine must not read the results. Browsers send the origin of
    /// a foreign page under its own name.
    fn is_own(&self, request: &Request) -> bool {
        let value = |name: &'static str| {
            let named = request.headers().iter().find(|header| header.field.equiv(name));
            named.map(|header| header.value.as_str())
        };
        value("Host").is_some_and(|host| own_hosts(self.port).iter().any(|own| own == host))
            && value("Origin").is_none_or(|origin| is_own_origin(origin, self.port))
    }
}

/// A reply with a page of HTML. The page has a content security policy of its own; no other page may frame it.
pub fn html_reply(page: String) -> Response<Cursor<Vec<u8>>> {
    let mut response = Response::from_string(page);
    for (name, value) in [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
    ] {
        response.add_header(Header::from_bytes(name, value).expect("the names and values are plain text"));
    }
    response
}

/// The names under which a port of this machine is reached.
pub(crate) fn own_hosts(port: u16) -> [String; 2] {
    [format!("127.0.0.1:{port}"), format!("localhost:{port}")]
}

/// Whether a page is one that is served on this port.
pub(crate) fn is_own_origin(origin: &str, port: u16) -> bool {
    origin.strip_prefix("http://").is_some_and(|host| own_hosts(port).iter().any(|own| own == host))
}
