//! What waits for a page. It is bounded: a page that is slower than the room misses messages and learns how many.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use klatch_protocol::websocket::{Opcode, write_frame};

/// Messages of the room are left out while more than this waits.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;
/// If more than this waits, the page is too slow even for what cannot be left out, and its conversation ends.
const WAITING_BYTES_MAX: usize = 512 * 1024;

/// Frames for a page.
pub(super) struct Outbox {
    /// Of the messages, by the subprotocol.
    opcode: Opcode,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    frames: Vec<u8>,
    /// Messages that were left out since the last notice.
    left_out: u64,
    ended: bool,
}

impl Outbox {
    pub(super) fn new(opcode: Opcode) -> Outbox {
        Outbox { opcode, state: Mutex::new(State::default()), changed: Condvar::new() }
    }

    /// Adds a line of the server. A message of the room can be left out; what the page must answer cannot.
    pub(super) fn add_line(&self, line: &str) {
        let mut state = self.lock();
        if state.ended {
            return;
        }
        let is_message = line.split(' ').nth(1) == Some("PRIVMSG");
        if is_message && state.frames.len() > MESSAGE_BYTES_MAX {
            state.left_out += 1;
            return;
        }
        write_frame(&mut state.frames, self.opcode, None, line.as_bytes());
        self.limit(state);
    }

    /// Ends a conversation for which too much waits. What waits is dropped, as it may never be written.
    fn limit(&self, mut state: MutexGuard<'_, State>) {
        if state.frames.len() > WAITING_BYTES_MAX {
            state.frames = Vec::new();
            state.ended = true;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Adds a control frame.
    pub(super) fn add_control(&self, frame: &[u8]) {
        let mut state = self.lock();
        if !state.ended {
            state.frames.extend_from_slice(frame);
            self.limit(state);
        }
    }

    /// Adds the last frame. Only the first end counts.
    pub(super) fn end(&self, frame: &[u8]) {
        self.add_control(frame);
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// Waits for frames and takes all of them; `None` after the last.
    pub(super) fn take(&self) -> Option<Vec<u8>> {
        let nothing = |state: &mut State| state.frames.is_empty() && !state.ended;
        let mut state = self.changed.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        if state.frames.is_empty() {
            return None;
        }
        let mut frames = Vec::new();
        let left_out = std::mem::take(&mut state.left_out);
        if left_out > 0 {
            let notice = format!(
                ":klatch NOTICE * :{left_out} messages are not shown, as this page was slower than the room"
            );
            write_frame(&mut frames, self.opcode, None, notice.as_bytes());
        }
        frames.append(&mut state.frames);
        Some(frames)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_page_misses_messages_but_no_ping_and_learns_how_many() {
        let outbox = Outbox::new(Opcode::Text);
        let message = format!(":r1u2!u@h PRIVMSG #klatch-1 :{}", "x".repeat(80));
        for _ in 0..10_000 {
            outbox.add_line(&message);
        }
        outbox.add_line("PING :server");
        let frames = outbox.take().unwrap();
        assert!(frames.len() < MESSAGE_BYTES_MAX + 1_000, "{} bytes", frames.len());
        let text = String::from_utf8_lossy(&frames).into_owned();
        let shown = text.matches("PRIVMSG").count();
        assert!(text.contains(&format!("{} messages are not shown", 10_000 - shown)), "{}", &text[..200]);
        assert!(text.ends_with("PING :server"));
        outbox.end(b"end");
        outbox.add_line("nothing follows");
        assert_eq!(outbox.take().as_deref(), Some(&b"end"[..]));
        assert_eq!(outbox.take(), None);
    }
}
