//! Requests: how they may be cut, and what is none.

use klatch_exchange::web::Operation;

use super::client::{request, step};
use super::{Site, SiteCheck, file};
use crate::finding::{Checked, wrong};

pub(super) const CHECKS: [SiteCheck; 4] = [
    ("requests: byte by byte", "a request that arrives byte by byte is answered", byte_by_byte),
    ("requests: pipeline", "requests that arrive together are answered in their order", pipeline),
    (
        "requests: malformed",
        "a head that is no HTTP has a status from 400 to 599, or the connection closes",
        malformed,
    ),
    (
        "requests: long head",
        "a head of 256 KiB is answered, or its connection closes; others are served",
        long_head,
    ),
];

fn byte_by_byte(site: &Site) -> Checked {
    let mut connection = site.connect()?;
    let step = step(Operation::Static, file(0, 3));
    // Without Nagle's algorithm each byte is a segment.
    for byte in request(&step) {
        connection.http.send(&[byte])?;
    }
    Ok(format!("{} bytes", connection.check_reply(&step)?))
}

fn pipeline(site: &Site) -> Checked {
    let mut connection = site.connect()?;
    let steps: Vec<_> = (0..8).map(|number| step(Operation::Static, file(number % 3, number))).collect();
    connection.http.send(&steps.iter().flat_map(request).collect::<Vec<u8>>())?;
    for step in &steps {
        connection.check_reply(step)?;
    }
    Ok("8 replies in order".to_owned())
}

fn malformed(site: &Site) -> Checked {
    let mut connection = site.connect()?;
    connection.http.send(b"NO HTTP AT ALL\r\n\r\n")?;
    refused(&mut connection)
}

fn long_head(site: &Site) -> Checked {
    let mut connection = site.connect()?;
    let head = format!(
        "GET /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: klatch\r\nX: {}\r\n\r\n",
        "x".repeat(256 * 1024)
    );
    // A server may close before it has read all of it.
    let refusal = match connection.http.send(head.as_bytes()) {
        Ok(()) => match connection.http.reply() {
            Ok(reply) => format!("status {}", reply.status),
            Err(_) => connection.http.expect_close().map(|()| "closed".to_owned())?,
        },
        Err(_) => "closed".to_owned(),
    };
    site.connect()?.exchange(&step(Operation::Static, file(0, 0)))?;
    Ok(refusal)
}

/// What a refusal was: a status, or a connection that closed.
fn refused(connection: &mut super::client::Connection<'_>) -> Checked {
    match connection.http.reply() {
        Ok(reply) if (400..600).contains(&reply.status) => Ok(format!("status {}", reply.status)),
        Ok(reply) => wrong(format!("status {}", reply.status)),
        // Closed without a reply.
        Err(_) => connection.http.expect_close().map(|()| "closed".to_owned()),
    }
}
