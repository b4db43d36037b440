//! Class `classic` over WebSocket: each delivery is a frame in a write call of its own.

use std::time::Instant;

use klatch_protocol::websocket::{Opcode, write_frame};

use super::Server;
use super::client::{Client, masked};
use crate::finding::Checked;
use crate::writes::{MEMBERS, MESSAGES, Strace, one_call_per_delivery, pid_of_classic};

pub(super) fn one_write_per_delivery(server: &Server) -> Checked {
    let pid = pid_of_classic(server.subject.class, server.subject.pid)?;
    let mut users = (0..MEMBERS as u32).map(|number| server.user(number)).collect::<Checked<Vec<_>>>()?;
    users.iter_mut().try_for_each(fence)?;
    let until = || Instant::now() + server.subject.answer_timeout;
    let strace = Strace::attach(pid, until())?;
    let message = |number| format!("PRIVMSG {} :number {number}", server.room());
    let frames = (0..MESSAGES).flat_map(|number| masked(Opcode::Text, message(number).as_bytes()));
    users[0].write(&frames.collect::<Vec<u8>>())?;
    let mut streams = Vec::new();
    for listener in &mut users[1..] {
        let mut stream = Vec::new();
        for _ in 0..MESSAGES {
            let (is_text, line) = listener.until(" PRIVMSG ")?;
            let opcode = if is_text { Opcode::Text } else { Opcode::Binary };
            write_frame(&mut stream, opcode, None, line.as_bytes());
        }
        streams.push(stream);
    }
    // The PONG is written after the deliveries, so strace has logged all their calls.
    users.iter_mut().try_for_each(fence)?;
    one_call_per_delivery(&strace.stop(until())?, streams)
}

/// Waits until the server has handled all that it received from this user before.
fn fence(user: &mut Client) -> Checked<()> {
    user.say("PING :fence")?;
    user.until("fence").map(drop)
}
