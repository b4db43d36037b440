//! The next reply on a connection that has one request in flight.

use klatch_exchange::web::{WholeResponse, parse_whole_response};

use crate::protocol::shown_up_to;

/// Most characters of the first line of something that is no HTTP that a message shows.
const SHOWN_MAX: usize = 80;

/// Parses the first reply of `input`; `None` if it is incomplete.
///
/// # Errors
/// What the server sent instead of HTTP.
pub(crate) fn next_reply(input: &[u8]) -> Result<Option<WholeResponse<'_>>, String> {
    parse_whole_response(input).map_err(|error| {
        let line = input.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let shown = shown_up_to(line, SHOWN_MAX);
        format!("the server answered no HTTP ({error}): {shown}")
    })
}
