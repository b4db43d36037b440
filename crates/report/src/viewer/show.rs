//! A page about a run, for as long as the run is made.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use klatch_crowd::ClientEndpoint;

use crate::{LiveState, watch_page};

use crate::viewer::announcement::Announcement;
use crate::viewer::error::ViewerError;
use crate::viewer::gateway::Gateway;
use crate::viewer::loopback::{Answer, Loopback, Request};
use crate::viewer::stream::Stream;

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
        let page = watch_page()?;
        let (url, stream) = (loopback.url(), Arc::new(Stream::new(watch)));
        let served = Arc::clone(&stream);
        let serve = move || loopback.serve(move |request| answer(&request, &page, &served));
        std::thread::Builder::new().name("viewer".to_owned()).spawn(serve).map_err(ViewerError::Thread)?;
        Ok(Viewer { url, stream, gateway, _announcement: announcement })
    }

    /// The address of the page.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Changes what the page shows. It never waits for a viewer.
    pub fn update(&self, change: impl FnOnce(&mut LiveState)) {
        self.stream.update(change);
    }

    /// Offers these servers through the gateway; returns the address for each.
    pub fn set_upstreams(&self, upstreams: Vec<ClientEndpoint>) -> Vec<String> {
        self.gateway.set_upstreams(upstreams)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.stream.drain(LAST_STATE);
    }
}

fn answer(request: &Request, page: &str, stream: &Arc<Stream>) -> Answer {
    match request.target.as_str() {
        "/" => Answer::html(page.to_owned()),
        "/events" => match stream.take_place() {
            Some(place) => Answer::events(move |viewer| place.serve(viewer)),
            None => Answer::text(503, "too many pages watch this run"),
        },
        "/metrics" => Answer::metrics(stream.metrics()),
        _ => Answer::text(404, "no such page; start at /"),
    }
}
