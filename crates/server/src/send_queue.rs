//! The way out to one connection where somebody else than the speaker writes: a bounded queue of lines.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use klatch_protocol::service::Outbox;

/// The other end of the queue, as the model has it.
pub(crate) trait Writer {
    /// There is a line to write, or there will be none any more.
    fn wake(&self);
    /// Nobody may wait for input of this connection any more: the session has to end.
    fn stop_reading(&self);
}

/// The way out to one connection; clones are the same.
pub(crate) struct SendQueue<W>(Arc<Shared<W>>);

struct Shared<W> {
    sendq_bytes: usize,
    state: Mutex<State>,
    writer: W,
}

struct State {
    lines: VecDeque<Line>,
    /// Bytes of all lines.
    bytes: usize,
    condition: Condition,
}

struct Line {
    bytes: Arc<[u8]>,
    /// It delivers a message; all else is an answer.
    delivers: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Open,
    /// More waited than may wait.
    Overflowed,
    /// Nothing more is taken.
    Closed,
}

/// What its writer does next.
pub(crate) enum Next {
    Write(Arc<[u8]>),
    /// The queue is empty, but open.
    Wait,
    /// The queue is empty and closed.
    Stop,
}

impl<W> Clone for SendQueue<W> {
    fn clone(&self) -> Self {
        SendQueue(Arc::clone(&self.0))
    }
}

impl<W: Writer> Outbox for SendQueue<W> {
    fn send(&self, line: &Arc<[u8]>) {
        self.push(line, false);
    }

    fn deliver(&self, line: &Arc<[u8]>) {
        self.push(line, true);
    }

    fn is_open(&self) -> bool {
        self.state().condition == Condition::Open
    }
}

impl<W: Writer> SendQueue<W> {
    fn push(&self, line: &Arc<[u8]>, delivers: bool) {
        let mut state = self.state();
        if state.condition != Condition::Open {
            return;
        }
        if state.bytes + line.len() > self.0.sendq_bytes {
            state.condition = Condition::Overflowed;
            drop(state);
            return self.0.writer.stop_reading();
        }
        state.bytes += line.len();
        state.lines.push_back(Line { bytes: Arc::clone(line), delivers });
        let first = state.lines.len() == 1;
        drop(state);
        if first {
            self.0.writer.wake();
        }
    }

    pub(crate) fn new(sendq_bytes: usize, writer: W) -> SendQueue<W> {
        let state = State { lines: VecDeque::new(), bytes: 0, condition: Condition::Open };
        SendQueue(Arc::new(Shared { sendq_bytes, state: Mutex::new(state), writer }))
    }

    pub(crate) fn writer(&self) -> &W {
        &self.0.writer
    }

    pub(crate) fn next(&self) -> Next {
        let mut state = self.state();
        match state.lines.pop_front() {
            Some(Line { bytes, .. }) => {
                state.bytes -= bytes.len();
                Next::Write(bytes)
            }
            None if state.condition == Condition::Closed => Next::Stop,
            None => Next::Wait,
        }
    }

    /// Takes a batch of the next answers, and of deliveries too with `deliveries`, of at least `bytes_max` bytes if there are as many.
    pub(crate) fn pop_batch(&self, deliveries: bool, bytes_max: usize) -> Vec<u8> {
        let mut together = Vec::new();
        let mut state = self.state();
        while together.len() < bytes_max
            && state.lines.front().is_some_and(|line| deliveries || !line.delivers)
            && let Some(line) = state.lines.pop_front()
        {
            state.bytes -= line.bytes.len();
            together.extend_from_slice(&line.bytes);
        }
        together
    }

    /// The connection did not read, and more waits than may wait.
    pub(crate) fn overflowed(&self) -> bool {
        self.state().condition == Condition::Overflowed
    }

    /// Takes nothing more; what waits may still be written.
    pub(crate) fn close(&self) {
        self.state().condition = Condition::Closed;
        self.0.writer.wake();
    }

    /// Drops the queue, and leaves only a last message.
    pub(crate) fn close_with(&self, last: Arc<[u8]>) {
        let mut state = self.state();
        state.lines.clear();
        state.bytes = last.len();
        state.lines.push_back(Line { bytes: last, delivers: false });
        drop(state);
        self.close();
    }

    /// Forgets what waits, and takes nothing more.
    pub(crate) fn shutdown(&self) {
        let mut state = self.state();
        state.lines.clear();
        state.bytes = 0;
        drop(state);
        self.close();
    }

    /// Nobody panics with this lock held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[derive(Default)]
    struct Counts {
        wakes: AtomicUsize,
        stops: AtomicUsize,
    }

    impl Writer for Counts {
        fn wake(&self) {
            self.wakes.fetch_add(1, Relaxed);
        }

        fn stop_reading(&self) {
            self.stops.fetch_add(1, Relaxed);
        }
    }

    fn sent(out: &SendQueue<Counts>, lines: &[&str]) {
        lines.iter().for_each(|line| out.send(&line.as_bytes().into()));
    }

    /// What its writer would write until it waits (`…`) or stops (`.`).
    fn written(out: &SendQueue<Counts>) -> String {
        let mut written = String::new();
        loop {
            match out.next() {
                Next::Write(line) => written.push_str(std::str::from_utf8(&line).unwrap()),
                Next::Wait => return written + "…",
                Next::Stop => return written + ".",
            }
        }
    }

    #[test]
    fn lines_leave_in_order_and_the_writer_is_woken_once() {
        let out = SendQueue::new(100, Counts::default());
        assert_eq!(written(&out), "…");
        sent(&out, &["one ", "two ", "three"]);
        assert_eq!(out.writer().wakes.load(Relaxed), 1);
        assert_eq!(written(&out), "one two three…");
        sent(&out, &["four"]);
        assert_eq!(out.writer().wakes.load(Relaxed), 2);
        out.close();
        sent(&out, &["five"]);
        assert_eq!(written(&out), "four.");
    }

    #[test]
    fn answers_go_together_and_deliveries_where_they_may() {
        let together = |deliveries| {
            let out = SendQueue::new(100, Counts::default());
            sent(&out, &["one ", "two "]);
            ["three ", "four "].iter().for_each(|line| out.deliver(&line.as_bytes().into()));
            sent(&out, &["five "]);
            let first = String::from_utf8(out.pop_batch(deliveries, 100)).unwrap();
            let none = out.pop_batch(deliveries, 100).is_empty();
            (first, none, written(&out))
        };
        assert_eq!(together(false), ("one two ".into(), true, "three four five …".into()));
        assert_eq!(together(true), ("one two three four five ".into(), true, "…".into()));
        let out = SendQueue::new(100, Counts::default());
        sent(&out, &["one ", "two ", "three "]);
        assert_eq!(out.pop_batch(false, 5), b"one two ");
        assert_eq!(written(&out), "three …");
    }

    #[test]
    fn overflow_ends_the_session_with_the_reason_as_its_last_line() {
        let out = SendQueue::new(10, Counts::default());
        sent(&out, &["12345", "12345"]);
        assert!(!out.overflowed());
        sent(&out, &["1", "1"]);
        assert!(out.overflowed());
        assert_eq!(out.writer().stops.load(Relaxed), 1);
        out.close_with(Arc::from(&b"the end\r\n"[..]));
        assert_eq!(written(&out), "the end\r\n.");
    }

    #[test]
    fn what_was_written_makes_room() {
        let out = SendQueue::new(10, Counts::default());
        for _ in 0..100 {
            sent(&out, &["12345", "12345"]);
            assert_eq!(written(&out), "1234512345…");
        }
        assert!(!out.overflowed());
        sent(&out, &["12345"]);
        out.shutdown();
        assert_eq!(written(&out), ".");
    }
}
