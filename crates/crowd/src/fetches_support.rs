//! What tests of both versions of HTTP look at.

use std::sync::mpsc::Receiver;

use klatch_record::CrowdResult;

use super::Fetches;
use crate::http_connection::HttpConnection;
use crate::parties::Parties;
use crate::shared::ControlMessage;

/// Why a crowd gave up, if it did.
pub(super) fn failure(control: &Receiver<ControlMessage>) -> Option<String> {
    control.try_iter().find_map(|message| match message {
        ControlMessage::Failed(failure) => Some(failure.to_string()),
        _ => None,
    })
}

pub(super) fn result<H: HttpConnection>(mut fetches: Fetches<H>) -> CrowdResult {
    fetches.settle();
    fetches.worker_mut().take_stats().into_result()
}

pub(super) fn details(result: &CrowdResult) -> Vec<&str> {
    result.faults.iter().filter_map(|fault| fault.detail.as_deref()).collect()
}
