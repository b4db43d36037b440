//! Connections: how long they stay open, and how many there may be.

use klatch_exchange::web::{Operation, Step};

use super::client::{Connection, request, step};
use super::{Site, SiteCheck, file};
use crate::finding::{Checked, wrong};

/// Connections that are open at once.
const MANY: usize = 200;
/// Connections that request the largest file and do not read it.
const SLOW: usize = 20;

pub(super) const CHECKS: [SiteCheck; 5] = [
    ("connections: keep-alive", "a connection over HTTP/1.1 stays open for 100 requests", keep_alive),
    ("connections: close", "a connection closes after the reply to a request with Connection: close", close),
    ("connections: HTTP/1.0", "a connection closes after the reply to a request over HTTP/1.0", one_request),
    ("connections: many", "200 open connections are all served", many),
    (
        "connections: slow readers",
        "20 connections that do not read their reply hold up no other",
        slow_readers,
    ),
];

fn keep_alive(site: &Site) -> Checked {
    let mut connection = site.connect()?;
    for _ in 0..100 {
        connection.exchange(&step(Operation::Static, file(0, 0)))?;
    }
    Ok("100 replies".to_owned())
}

fn close(site: &Site) -> Checked {
    ends_after(site, Step { last: true, ..step(Operation::Static, file(1, 0)) })
}

fn one_request(site: &Site) -> Checked {
    ends_after(site, Step { last: true, single: true, ..step(Operation::Static, file(1, 0)) })
}

fn ends_after(site: &Site, step: Step) -> Checked {
    let mut connection = site.connect()?;
    connection.http.send(&request(&step))?;
    let reply = connection.http.reply()?;
    if reply.status != 200 {
        return wrong(format!("status {}", reply.status));
    }
    connection.http.expect_close()?;
    Ok("closed after the reply".to_owned())
}

fn many(site: &Site) -> Checked {
    let mut connections: Vec<Connection<'_>> = (0..MANY).map(|_| site.connect()).collect::<Checked<_>>()?;
    for connection in &mut connections {
        connection.exchange(&step(Operation::Static, file(0, 8)))?;
    }
    Ok(format!("{MANY} connections"))
}

fn slow_readers(site: &Site) -> Checked {
    let largest = step(Operation::Static, file(3, 8));
    let mut slow: Vec<Connection<'_>> = (0..SLOW).map(|_| site.connect()).collect::<Checked<_>>()?;
    slow.iter_mut().try_for_each(|connection| connection.http.send(&request(&largest)))?;
    site.connect()?.exchange(&step(Operation::Static, file(0, 0)))?;
    for connection in &mut slow {
        connection.check_reply(&largest)?;
    }
    Ok(format!("{SLOW} replies of 921,600 bytes, and one before them"))
}
