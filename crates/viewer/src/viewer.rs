//! A page about a run, for as long as the run is made.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use klatch_report::{LiveState, watch_page, watch_policy};
use tiny_http::{Request, Response};

use crate::announcement::Announcement;
use crate::error::ViewerError;
use crate::gateway::{Gateway, Upstream};
use crate::loopback::{Loopback, html};
use crate::stream::Stream;

/// Longest time that viewers have to receive the last state. No run waits for them, and the end of the program only this long.
const LAST_STATE: Duration = Duration::from_millis(300);

/// Serves the page. Dropping it gives viewers a moment to receive the last state.
pub struct Viewer {
    url: String,
    stream: Arc<Stream>,
    gateway: Gateway,
    _announcement: Announcement,
}

impl Viewer {
    /// Serves a page on this port of 127.0.0.1 (0 selects a free one), and announces it in the results folder.
    ///
    /// # Errors
    /// See [`ViewerError`].
    pub fn start(port: u16, folder: &Path, watch: LiveState) -> Result<Viewer, ViewerError> {
        let loopback = Loopback::bind(port)?;
        let announcement = Announcement::write(folder, loopback.port())
            .map_err(|cause| ViewerError::Announce { folder: folder.display().to_string(), cause })?;
        let gateway = Gateway::start(loopback.port())?;
        let (page, policy) = (watch_page()?, watch_policy());
        let (url, stream) = (loopback.url(), Arc::new(Stream::new(watch)));
        let served = Arc::clone(&stream);
        let serve = move || {
            while let Some(request) = loopback.next() {
                answer(request, &page, &policy, &served);
            }
        };
        std::thread::Builder::new().name("viewer".to_owned()).spawn(serve).map_err(ViewerError::Thread)?;
        Ok(Viewer { url, stream, gateway, _announcement: announcement })
    }

    /// The address of the page.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Changes what the page shows; `change` returns whether it did. It never waits for a viewer.
    pub fn update(&self, change: impl FnOnce(&mut LiveState) -> bool) {
        self.stream.update(change);
    }

    /// Offers these servers through the gateway; returns the address for each.
    pub fn set_upstreams(&self, upstreams: Vec<Upstream>) -> Vec<String> {
        self.gateway.set_upstreams(upstreams)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.stream.drain(LAST_STATE);
    }
}

fn answer(request: Request, page: &str, policy: &str, stream: &Arc<Stream>) {
    // A client may have disconnected; nobody is left to tell.
    let _ = match request.url() {
        "/" => request.respond(html(page.to_owned(), policy)),
        "/events" => {
            let stream = Arc::clone(stream);
            let watch = move || {
                let mut viewer = request.into_writer();
                if !stream.serve(&mut viewer) {
                    let _ = viewer.write_all(
                        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                    );
                }
            };
            std::thread::Builder::new().name("watcher".to_owned()).spawn(watch).map(drop)
        }
        _ => request.respond(Response::from_string("no such page; start at /").with_status_code(404)),
    };
}
