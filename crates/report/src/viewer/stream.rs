//! The state of the run as server-sent events: each is the whole state, so a viewer that is slow misses some, but never the last.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::LiveState;

/// Most pages that watch at a time.
const VIEWERS_MAX: usize = 16;
/// After this time without a change, a comment shows whether the viewer is still there.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The state, and those who look at it.
pub(crate) struct Stream {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    watch: LiveState,
    version: u64,
    /// The JSON of a version, made for the first viewer that needs it.
    json: Option<(u64, Arc<str>)>,
    /// The version that each viewer has received; `None` for free places.
    viewers: [Option<u64>; VIEWERS_MAX],
}

impl Stream {
    pub(crate) fn new(watch: LiveState) -> Stream {
        let state = State { watch, version: 1, json: None, viewers: [None; VIEWERS_MAX] };
        Stream { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Changes what the viewers see.
    pub(crate) fn update(&self, change: impl FnOnce(&mut LiveState)) {
        let mut state = self.lock();
        change(&mut state.watch);
        state.version += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// The state in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        self.lock().watch.metrics()
    }

    /// Reserves a place for a viewer; `None` if there are too many.
    pub(crate) fn take_place(self: &Arc<Self>) -> Option<Place> {
        let mut state = self.lock();
        let number = state.viewers.iter().position(Option::is_none)?;
        state.viewers[number] = Some(0);
        Some(Place { stream: Arc::clone(self), number })
    }

    fn write_all(&self, place: usize, viewer: &mut dyn Write) -> std::io::Result<()> {
        let mut seen = 0;
        loop {
            let (version, json) = self.wait(seen);
            match json {
                // Nothing is written while the state is locked, so a slow viewer delays no one.
                Some(json) => write!(viewer, "data: {json}\n\n")?,
                None => viewer.write_all(b":\n\n")?,
            }
            viewer.flush()?;
            seen = version;
            self.lock().viewers[place] = Some(version);
            self.changed.notify_all();
        }
    }

    /// Waits for a version after `seen`; `None` in place of its JSON if there is none for a while.
    fn wait(&self, seen: u64) -> (u64, Option<Arc<str>>) {
        let waiting = |state: &mut State| state.version == seen;
        let (mut state, _) = self
            .changed
            .wait_timeout_while(self.lock(), HEARTBEAT, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        if state.version == seen {
            return (seen, None);
        }
        let version = state.version;
        let json = match &state.json {
            Some((made, json)) if *made == version => Arc::clone(json),
            _ => Arc::from(state.watch.json()),
        };
        state.json = Some((version, Arc::clone(&json)));
        (version, Some(json))
    }

    /// Waits until every viewer has the last version, at most for `patience`.
    pub(crate) fn drain(&self, patience: Duration) {
        let behind = |state: &mut State| state.viewers.iter().flatten().any(|&seen| seen < state.version);
        drop(self.changed.wait_timeout_while(self.lock(), patience, behind));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A viewer's place, which is free again when this is dropped.
pub(crate) struct Place {
    stream: Arc<Stream>,
    number: usize,
}

impl Place {
    /// Writes states to the viewer until it leaves.
    pub(crate) fn serve(self, viewer: &mut dyn Write) {
        // An error means that the viewer has left.
        let _ = self.stream.write_all(self.number, viewer);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.stream.lock().viewers[self.number] = None;
        self.stream.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Instant;

    /// A viewer that takes what is written only when the test allows it.
    struct Slow {
        allow: Receiver<()>,
        wrote: Sender<String>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.allow.recv().map_err(std::io::Error::other)?;
            self.wrote.send(String::from_utf8(bytes.to_vec()).unwrap()).map_err(std::io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_viewer_that_reads_nothing_holds_nobody_and_gets_the_last_state() {
        let stream = Arc::new(Stream::new(LiveState::new("before")));
        let place = stream.take_place().unwrap();
        let (allow, allowed) = channel();
        let (wrote, written) = channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                place.serve(&mut Slow { allow: allowed, wrote });
            });
            // The viewer does not read, and a thousand changes return at once.
            for _ in 0..1_000 {
                stream.update(|_| ());
            }
            stream.update(|watch| watch.end("all runs are made"));
            let began = Instant::now();
            stream.drain(Duration::from_millis(50));
            assert!(began.elapsed() >= Duration::from_millis(50), "the viewer is behind");
            let mut text = String::new();
            while !text.ends_with("\"end\":\"all runs are made\"}\n\n") {
                allow.send(()).unwrap();
                text += &written.recv().unwrap();
            }
            assert!(text.matches("data: ").count() <= 2, "it got states that were over: {text}");
            stream.drain(Duration::from_secs(60));
            drop((allow, written));
            stream.update(|_| ());
        });
        assert_eq!(stream.lock().viewers, [None; VIEWERS_MAX]);
    }
}
