//! Checks of workload `web`: the site of `docs/reference/web.md` over HTTP/1.0 and 1.1.

mod client;
mod connections;
mod dynamic;
mod files;
mod requests;

use std::net::SocketAddr;
use std::time::Duration;

use klatch_exchange::web::{AdTables, Content, FileId, TableOptions};
use klatch_record::CONTENT_SEED;

use crate::finding::Finding;
use crate::{CheckOf, NoServer, reach, run_all};

/// Users of the tables that the checks make.
const USERS: u32 = 100;

/// The site under test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteSubject {
    /// It has static files only.
    pub static_only: bool,
    /// Longest time for one answer.
    pub answer_timeout: Duration,
}

/// What the checks know about the site.
struct Site {
    address: SocketAddr,
    answer_timeout: Duration,
    content: Content,
    tables: TableOptions,
    ads: AdTables,
}

/// A check of the site.
type SiteCheck = CheckOf<Site>;

/// Runs all checks against the site at `address` (`host:port`) in turn, and calls `on_finding` after each, with the number of all checks.
///
/// # Errors
/// The server accepts no connection at all.
pub(crate) fn check_site(
    address: &str,
    subject: &SiteSubject,
    on_finding: impl FnMut(&Finding, usize),
) -> Result<Vec<Finding>, NoServer> {
    let reached = reach(address, subject.answer_timeout)?;
    let tables = TableOptions { users: USERS, ..TableOptions::default() };
    let site = Site {
        address: reached,
        answer_timeout: subject.answer_timeout,
        content: Content::new(CONTENT_SEED),
        ads: AdTables::new(CONTENT_SEED, &tables),
        tables,
    };
    let mut checks: Vec<SiteCheck> = Vec::new();
    checks.extend(files::CHECKS);
    checks.extend(requests::CHECKS);
    checks.extend(connections::CHECKS);
    if !subject.static_only {
        checks.extend(dynamic::CHECKS);
    }
    Ok(run_all(checks, &site, on_finding))
}

/// A file of the first directory.
fn file(class: u8, number: u8) -> FileId {
    FileId::new(0, class, number).expect("a site has nine files of each of four classes")
}
