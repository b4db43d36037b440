//! Merges the files of shards, and of their server.

use std::path::{Path, PathBuf};

use crate::merge::{MergeError, merge};
use crate::{Record, Score, ServerPart, Usage, UsageOfBoth};

/// One file of a run.
enum Part {
    Record(Box<Record>),
    Server(Box<ServerPart>),
}

/// Reads records from files, and merges them. One file may be that of the server, which adds its use.
///
/// # Errors
/// They are not of one run; see [`MergeError`].
pub fn merge_files(paths: &[PathBuf]) -> Result<Record, MergeError> {
    let (mut records, mut servers) = (Vec::new(), Vec::new());
    for path in paths {
        match read(path)? {
            Part::Record(record) => records.push(*record),
            Part::Server(server) => servers.push(*server),
        }
    }
    let record = merge(records)?;
    match <[ServerPart; 1]>::try_from(servers) {
        Ok([server]) => with_server(record, server),
        Err(none) if none.is_empty() => Ok(record),
        Err(several) => Err(MergeError::SeveralServers(several.len())),
    }
}

fn read(path: &Path) -> Result<Part, MergeError> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|source| MergeError::Read { path: path.to_owned(), source })?;
    let no_record = |source| MergeError::NoRecord { path: path.to_owned(), source };
    serde_json::from_str(&text)
        .map(|record| Part::Record(Box::new(record)))
        .or_else(|error| serde_json::from_str(&text).map(Part::Server).map_err(|_| no_record(error)))
}

/// Adds the server's part to the merged record of its crowds.
fn with_server(record: Record, server: ServerPart) -> Result<Record, MergeError> {
    let of_crowds = record.shards.first().and_then(|shard| shard.gate_run.clone());
    if of_crowds.as_ref() != Some(&server.gate_run) {
        let one = of_crowds.unwrap_or_else(|| "unknown".to_owned());
        return Err(MergeError::Different { what: "the run at the gate", one, other: server.gate_run });
    }
    if record.klatch != server.klatch {
        let (one, other) = (record.klatch.to_string(), server.klatch.to_string());
        return Err(MergeError::Different { what: "the build of klatch", one, other });
    }
    let usage = UsageOfBoth {
        server: Some(Usage::together(&[&server.usage], record.score.total)?),
        ..record.usage.clone()
    };
    let Score { sent, received, elapsed_s, join_s, .. } = record.score;
    let mut shards = record.shards;
    if server.environment != record.environment {
        for shard in &mut shards {
            shard.environment.get_or_insert_with(|| record.environment.clone());
        }
    }
    let platform =
        crate::Platform { class: server.class, command: Some(server.command), ..record.platform.clone() };
    Ok(Record {
        platform,
        score: Score::new(record.workload.kind(), sent, received, elapsed_s, join_s, &usage),
        usage,
        environment: server.environment,
        shards,
        ..record
    })
}
