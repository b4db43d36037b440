//! Delivery of messages within a room.

use std::rc::Rc;

use super::Check;
use super::messages::{DeliveryChecker, burst, expect_message, expect_no_message};
use crate::finding::Checked;
use crate::irc::Net;

const MEMBERS: usize = 10;
const SPEAKERS: usize = 5;
const MESSAGES: usize = 200;
const BURST: usize = 20;

/// Texts that a server might change by mistake.
const TEXTS: [&str; 5] = [
    "0000 00000000 000000000000 a644805e daJZfJ0XzJO_pd5CW3I-Tawu",
    ":-) begins with a colon",
    "two  blanks,   three, and a tab\tin it",
    "Grüße an alle ☕",
    "\u{1}ACTION waves\u{1}",
];

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "talk: others only",
            "a message goes once to each other member, byte for byte, and not to its speaker",
            others_only,
        ),
        Check::new(
            "talk: order under load",
            "5 speakers send 200 messages each in bursts of 20: every member receives each once, in each speaker's order",
            order_under_load,
        ),
    ]
}

fn others_only(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, MEMBERS)?;
    let mut deliveries = 0;
    for (speaker, text) in users.iter().zip(TEXTS.iter().cycle()) {
        speaker.send_line(&format!("PRIVMSG {room} :{text}"));
        for listener in users.iter().filter(|listener| listener.nick != speaker.nick) {
            expect_message(listener, speaker, &room, text)?;
            deliveries += 1;
        }
    }
    // The last speaker's own copy might still be on its way. The next message of the room arrives after it.
    let [first, .., last] = &users[..] else { unreachable!("there are {MEMBERS}") };
    first.send_line(&format!("PRIVMSG {room} :the last"));
    expect_message(last, first, &room, "the last")?;
    users[..MEMBERS - 1]
        .iter()
        .skip(1)
        .try_for_each(|user| expect_message(user, first, &room, "the last"))?;
    users.iter().try_for_each(expect_no_message)?;
    Ok(format!("{MEMBERS} messages, {deliveries} deliveries, none to a speaker"))
}

fn order_under_load(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, MEMBERS)?;
    let speakers: Vec<String> = users[..SPEAKERS].iter().map(|user| user.nick.clone()).collect();
    for from in (0..MESSAGES).step_by(BURST) {
        for (speaker, user) in users[..SPEAKERS].iter().enumerate() {
            user.send(&burst(&room, speaker, from, from + BURST));
        }
    }
    for listener in &users {
        let mut checker = DeliveryChecker::new(&room, &speakers, listener);
        checker.check_until(MESSAGES)?;
        checker.finish()?;
    }
    let deliveries = SPEAKERS * MESSAGES * (MEMBERS - 1);
    Ok(format!("{} messages, {deliveries} deliveries, all in order", SPEAKERS * MESSAGES))
}
