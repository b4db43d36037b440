//! The dynamic half: pages, ads, forms and the post log.

use klatch_exchange::web::{Operation, PostEntry, Target, check_post_log, unframe};

use super::client::step;
use super::{Site, SiteCheck, USERS, file};
use crate::finding::{Checked, wrong};

/// POSTs of each of these connections.
const POSTS: u32 = 25;
const CLIENTS: u32 = 4;

pub(super) const CHECKS: [SiteCheck; 6] = [
    ("dynamic: page", "a page has the file of its query within the frame", page),
    ("dynamic: CGI", "the same through the Common Gateway Interface", cgi),
    ("dynamic: Reset", "Reset makes the tables and empties the post log", reset),
    (
        "dynamic: ads",
        "each user gets the ad that the tables decide, in the cookie and in every tag of the file",
        ads,
    ),
    (
        "dynamic: POST",
        "the post log has each confirmed POST once, also of several connections at once",
        posts,
    ),
    ("dynamic: unknown", "a query that is no file and no command has a status from 400 to 499", unknown),
];

fn page(site: &Site) -> Checked {
    pages(site, Operation::Dynamic)
}

fn cgi(site: &Site) -> Checked {
    pages(site, Operation::Cgi)
}

fn pages(site: &Site, operation: Operation) -> Checked {
    let mut connection = site.connect()?;
    let mut bytes = 0;
    for class in 0..4 {
        bytes += connection.exchange(&step(operation, file(class, 4)))?;
    }
    Ok(format!("4 pages, {bytes} bytes"))
}

fn reset(site: &Site) -> Checked {
    site.command(&Target::Reset(site.tables))?;
    let findings = check_post_log(&log(site)?, &[]);
    match findings.first() {
        Some(finding) => wrong(format!("after Reset: {finding}")),
        None => Ok("an empty log".to_owned()),
    }
}

fn ads(site: &Site) -> Checked {
    site.command(&Target::Reset(site.tables))?;
    let mut connection = site.connect()?;
    let mut requests = 0;
    for user in 0..USERS {
        let operation = Operation::Ad { user, last_ad: (user * 7 % 360) as u16 };
        connection.exchange(&step(operation, file((user % 3) as u8, (user % 9) as u8)))?;
        requests += 1;
    }
    Ok(format!("{requests} choices"))
}

fn posts(site: &Site) -> Checked {
    site.command(&Target::Reset(site.tables))?;
    let post = |client| -> Checked<Vec<PostEntry>> {
        let mut connection = site.connect()?;
        let mut confirmed = Vec::new();
        for sequence in 0..POSTS {
            let step = step(Operation::Post { client, sequence }, file(1, (sequence % 9) as u8));
            connection.exchange(&step)?;
            confirmed.push(PostEntry { client, sequence, file: step.file });
        }
        Ok(confirmed)
    };
    let posted: Vec<Checked<Vec<PostEntry>>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (1..=CLIENTS).map(|client| scope.spawn(move || post(client))).collect();
        clients.into_iter().map(|client| client.join().expect("a check does not panic")).collect()
    });
    let mut confirmed = Vec::new();
    for entries in posted {
        confirmed.extend(entries?);
    }
    let findings = check_post_log(&log(site)?, &confirmed);
    match findings.first() {
        Some(finding) => wrong(format!("{} of {} records: {finding}", findings.len(), confirmed.len())),
        None => Ok(format!("{} records", confirmed.len())),
    }
}

fn unknown(site: &Site) -> Checked {
    let mut connection = site.connect()?;
    connection.http.send(b"GET /dynamic?command/Nothing HTTP/1.1\r\nHost: klatch\r\n\r\n")?;
    let status = connection.http.reply()?.status;
    if (400..500).contains(&status) {
        Ok(format!("status {status}"))
    } else {
        wrong(format!("status {status}"))
    }
}

/// The post log of the server.
fn log(site: &Site) -> Checked<Vec<u8>> {
    let page = site.command(&Target::Fetch)?;
    unframe(&page).map_or_else(|| wrong("the answer to Fetch is no page"), |log| Ok(log.to_vec()))
}
