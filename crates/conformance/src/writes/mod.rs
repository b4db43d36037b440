//! Class `classic`: exactly one write call per delivery, counted by tracing the server's system calls.

mod count;
mod strace;

use std::rc::Rc;

use klatch_record::Class;

use crate::Subject;
use crate::finding::{Checked, not_checked, wrong};
use crate::irc::Net;
use strace::Strace;

const MEMBERS: usize = 10;
const MESSAGES: usize = 50;
const DELIVERIES: usize = MESSAGES * (MEMBERS - 1);

pub(crate) fn check(net: &Rc<Net>, subject: &Subject) -> Checked {
    let pid = match (subject.class, subject.pid) {
        (Some(Class::Open), _) => {
            return not_checked("class open may combine several deliveries in one write");
        }
        (Some(Class::Classic), Some(pid)) => pid,
        _ => {
            return not_checked(
                "the class and the process of a server that Klatch did not start are unknown",
            );
        }
    };
    let room = net.room();
    let users = net.users_in(&room, MEMBERS)?;
    let (speaker, listeners) = users.split_first().expect("10 users");
    for user in &users {
        user.fence()?;
    }
    let strace = Strace::attach(pid, net.until())?;
    // All in one segment gives the server the best opportunity to combine deliveries.
    let lines: String = (0..MESSAGES).map(|number| format!("PRIVMSG {room} :number {number}\r\n")).collect();
    speaker.send(lines.as_bytes());
    let mut streams = Vec::new();
    for listener in listeners {
        let mut stream = Vec::new();
        for _ in 0..MESSAGES {
            stream.extend_from_slice(&listener.next_message()?.0);
            stream.extend_from_slice(b"\r\n");
        }
        if !streams.contains(&stream) {
            streams.push(stream);
        }
    }
    // The PONG is written after the deliveries, so strace has logged all their calls.
    for user in &users {
        user.fence()?;
    }
    let calls = count::carrying(&strace.stop(net.until())?, &streams);
    let seen = format!("{calls} write calls for {DELIVERIES} deliveries");
    if calls == DELIVERIES { Ok(seen) } else { wrong(seen) }
}
