//! The post log of a web server: it is emptied before a run, and checked after it.

use klatch_exchange::web::{
    Finding, POST_RECORD_BYTES, PostEntry, Target, check_post_log, unframe, write_get,
};
use klatch_record::{CrowdResult, EXAMPLES_MAX, Fault, FaultKind, WebWorkload};
use thiserror::Error;

use crate::http_command::{HttpError, HttpServer};
use crate::site::{HOST, tables};

/// Most bytes of an answer without a log.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// A log may have so many bytes, and those of [`SHARDS_MAX`] crowds with as many POSTs as this one.
const LOG_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Crowds that may share a log.
const SHARDS_MAX: usize = 64;

/// Why a command to the server failed.
#[derive(Debug, Error)]
pub enum PostLogError {
    /// There is no answer.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The server refused the command.
    #[error("the server answered with status {0}")]
    Status(u16),
    /// The answer is no page with a log.
    #[error("the answer has no log")]
    NoLog,
}

/// Makes the server's tables anew and empties its post log.
pub(crate) fn reset(server: &HttpServer) -> Result<(), PostLogError> {
    command(&Target::Reset(tables()), server, ANSWER_BYTES_MAX).map(|_| ())
}

/// Compares the server's post log with the POSTs that it confirmed, and adds the findings to the result. Records of the lines of
/// other crowds are left to them.
pub(crate) fn audit(
    server: &HttpServer,
    web: &WebWorkload,
    confirmed: &[PostEntry],
    result: &mut CrowdResult,
) {
    // A failed run has no complete account.
    if result.failure.is_some() {
        return;
    }
    let bytes_max = LOG_BYTES_MAX + SHARDS_MAX * confirmed.len() * POST_RECORD_BYTES;
    let fetched = command(&Target::Fetch, server, bytes_max)
        .and_then(|page| unframe(&page).map(<[u8]>::to_vec).ok_or(PostLogError::NoLog));
    let findings: Vec<String> = match fetched {
        Ok(log) => {
            let own = web.start..web.start + web.lines;
            let is_foreign = |finding: &Finding| matches!(finding, Finding::Unconfirmed(entry) if !own.contains(&entry.client));
            let findings = check_post_log(&log, confirmed).into_iter();
            findings.filter(|finding| !is_foreign(finding)).map(|finding| finding.to_string()).collect()
        }
        Err(error) => vec![format!("the log cannot be fetched: {error}")],
    };
    result.wrong += findings.len() as u64;
    let room = EXAMPLES_MAX.saturating_sub(result.faults.len());
    result.faults.extend(findings.into_iter().take(room).map(|finding| Fault {
        kind: FaultKind::Wrong,
        connection: Some(web.start),
        reader: None,
        room: 0,
        user: None,
        speaker: None,
        sequence: None,
        count: 1,
        detail: Some(format!("post log: {finding}")),
    }));
}

/// Sends a command. Returns the body of the answer.
fn command(target: &Target, server: &HttpServer, bytes_max: usize) -> Result<Vec<u8>, PostLogError> {
    let mut request = Vec::new();
    write_get(target, HOST, &mut request);
    match server.answer(&request, bytes_max)? {
        (200, body) => Ok(body),
        (status, _) => Err(PostLogError::Status(status)),
    }
}
