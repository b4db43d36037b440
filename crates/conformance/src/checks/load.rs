//! Load that breaks servers: many joins and parts, a client that reads nothing, a connection that is reset during deliveries.

use std::rc::Rc;
use std::time::Instant;

use super::Check;
use super::messages::{DeliveryChecker, burst, expect_no_message};
use super::rooms::names;
use crate::finding::{Checked, wrong};
use crate::irc::Net;

const VISITORS: usize = 4;
const VISITS: usize = 250;

/// Less than a server reads at a time, so that only the slow reader's send queue grows.
const WINDOW: usize = 40;
const TO_SLOW_READER: usize = 20_000;

const MEMBERS: usize = 10;
const SPEAKERS: usize = 5;
const MESSAGES: usize = 200;
const BURST: usize = 20;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "load: 1,000 joins and parts",
            "4 users join and leave 250 times each, concurrently: each JOIN and PART is delivered, and no user is left over",
            joins_and_parts,
        ),
        Check::new(
            "load: slow reader",
            "a member that reads nothing does not delay the others while 20,000 messages (some MB) are burst",
            slow_reader,
        ),
        Check::new(
            "load: break in a storm",
            "a speaker and a listener disconnect during 1,000 messages: the others lose nothing and see both QUIT",
            break_in_a_storm,
        ),
    ]
}

fn joins_and_parts(net: &Rc<Net>) -> Checked {
    let started = Instant::now();
    let room = net.room();
    let observer = net.user()?;
    observer.join(&room)?;
    let visitors = (0..VISITORS).map(|_| net.user()).collect::<Checked<Vec<_>>>()?;
    let visits = format!("JOIN {room}\r\nPART {room}\r\n").repeat(VISITS);
    visitors.iter().for_each(|visitor| visitor.send(visits.as_bytes()));
    let mut steps = [0; VISITORS];
    while steps.iter().any(|&steps| steps < 2 * VISITS) {
        let line = observer.wait_for("JOIN or PART", |line| line.is("JOIN") || line.is("PART"))?;
        let visitor = visitors.iter().position(|visitor| line.nick() == Some(visitor.nick.as_bytes()));
        let Some(visitor) = visitor else {
            return wrong(format!("a stranger: {line}"));
        };
        let is_join = steps[visitor].is_multiple_of(2);
        if line.is("JOIN") != is_join || steps[visitor] == 2 * VISITS {
            return wrong(format!("{line} as number {} of this user", steps[visitor] + 1));
        }
        steps[visitor] += 1;
    }
    visitors.iter().try_for_each(expect_no_message)?;
    let members = names(&observer, &room)?;
    if members != [observer.nick.clone()] {
        return wrong(format!("NAMES lists {}", members.join(", ")));
    }
    let count = VISITORS * VISITS;
    Ok(format!("{count} joins and {count} parts in {:.1} s", started.elapsed().as_secs_f64()))
}

fn slow_reader(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let users = net.users_in(&room, 3)?;
    let mut slow = net.connect_narrow()?;
    slow.register(&net.nick())?;
    slow.join(&room)?;
    slow.stop_reading();
    let speaker = [users[0].nick.clone()];
    let mut checkers: Vec<DeliveryChecker> =
        users[1..].iter().map(|listener| DeliveryChecker::new(&room, &speaker, listener)).collect();
    let mut bytes = 0;
    for from in (0..TO_SLOW_READER).step_by(WINDOW) {
        let burst = burst(&room, 0, from, from + WINDOW);
        bytes += burst.len();
        users[0].send(&burst);
        // The others keep up, so only the slow reader's send queue fills.
        checkers.iter_mut().try_for_each(|checker| checker.check_until(from + WINDOW))?;
    }
    checkers.into_iter().try_for_each(DeliveryChecker::finish)?;
    let end = if users[0].fence()?.iter().any(|line| line.is_from(&slow.nick, "QUIT")) {
        "was closed"
    } else {
        "is still there"
    };
    Ok(format!("{:.1} MB received by each of the others; the slow reader {end}", bytes as f64 / 1e6))
}

fn break_in_a_storm(net: &Rc<Net>) -> Checked {
    let room = net.room();
    let mut users = net.users_in(&room, MEMBERS)?;
    let speakers: Vec<String> = users[..SPEAKERS].iter().map(|user| user.nick.clone()).collect();
    let mut gone = Vec::new();
    for from in (0..MESSAGES).step_by(BURST) {
        for (speaker, user) in users[..SPEAKERS - gone.len() / 2].iter().enumerate() {
            user.send(&burst(&room, speaker, from, from + BURST));
        }
        if from == MESSAGES / 2 {
            for member in [MEMBERS - 1, SPEAKERS - 1] {
                let user = users.remove(member);
                gone.push(user.nick.clone());
                user.reset()?;
            }
        }
    }
    for listener in &users {
        let mut checker = DeliveryChecker::new(&room, &speakers, listener);
        let mut quits = 0;
        let steady = |speaker: &usize| speakers[*speaker] != listener.nick;
        let waits = |checker: &DeliveryChecker| {
            (0..SPEAKERS - 1).filter(steady).any(|speaker| checker.received(speaker) < MESSAGES)
        };
        while quits < gone.len() || waits(&checker) {
            let line = listener
                .wait_for("rest of the messages or QUIT", |line| line.is("PRIVMSG") || line.is("QUIT"))?;
            checker.check(&line)?;
            quits += usize::from(gone.iter().any(|nick| line.is_from(nick, "QUIT")));
        }
        checker.finish()?;
    }
    Ok(format!("{} members received everything from {} speakers, and 2 QUITs", users.len(), SPEAKERS - 1))
}
