//! Class `classic`: exactly one write call per delivery, counted by tracing the server's system calls.

mod count;
mod strace;

use std::rc::Rc;

use klatch_record::Class;

use crate::Subject;
use crate::finding::{Checked, not_checked, wrong};
use crate::irc::Net;
pub(crate) use strace::Strace;

/// Users in the room of the check.
pub(crate) const MEMBERS: usize = 10;
/// Messages of one of them. All in one segment gives the server the best opportunity to combine deliveries.
pub(crate) const MESSAGES: usize = 50;
const DELIVERIES: usize = MESSAGES * (MEMBERS - 1);

pub(crate) fn check(net: &Rc<Net>, subject: &Subject) -> Checked {
    let pid = pid_of_classic(subject.class, subject.pid)?;
    let room = net.room();
    let users = net.users_in(&room, MEMBERS)?;
    let (speaker, listeners) = users.split_first().expect("10 users");
    for user in &users {
        user.fence()?;
    }
    let strace = Strace::attach(pid, net.until())?;
    let lines: String = (0..MESSAGES).map(|number| format!("PRIVMSG {room} :number {number}\r\n")).collect();
    speaker.send(lines.as_bytes());
    let mut streams = Vec::new();
    for listener in listeners {
        let mut stream = Vec::new();
        for _ in 0..MESSAGES {
            stream.extend_from_slice(&listener.next_message()?.0);
            stream.extend_from_slice(b"\r\n");
        }
        streams.push(stream);
    }
    // The PONG is written after the deliveries, so strace has logged all their calls.
    for user in &users {
        user.fence()?;
    }
    one_call_per_delivery(&strace.stop(net.until())?, streams)
}

/// The process of a server whose write calls are to be counted.
pub(crate) fn pid_of_classic(class: Option<Class>, pid: Option<u32>) -> Checked<u32> {
    match (class, pid) {
        (Some(Class::Open), _) => not_checked("class open may combine several deliveries in one write"),
        (Some(Class::Classic), Some(pid)) => Ok(pid),
        _ => not_checked("the class and the process of a server that Klatch did not start are unknown"),
    }
}

/// Whether a log of strace has one write call for each delivery. A stream has the bytes of all deliveries to one user.
pub(crate) fn one_call_per_delivery(log: &str, mut streams: Vec<Vec<u8>>) -> Checked {
    streams.sort();
    streams.dedup();
    let calls = count::carrying(log, &streams);
    let seen = format!("{calls} write calls for {DELIVERIES} deliveries");
    if calls == DELIVERIES { Ok(seen) } else { wrong(seen) }
}
