//! The job of a crowd process: what a parent hands to it on standard input.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Authorities, Endpoint, Login, RequestParts, WebSocket, Workload};

/// All that a crowd process needs to run, apart from the options of its program: the first line of its standard input, as JSON. The commands of
/// its parent follow. Definition: `docs/reference/protocol.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrowdJob {
    /// Its own share of the workload.
    pub workload: Workload,
    /// Its server, or the folder of its files.
    #[serde(flatten)]
    pub load: Load,
    /// What its users say of themselves; absent for a server that lets everybody in. No option has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
    /// What its requests for URLs are made of; absent without URLs. No option has the values of header fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestParts>,
    /// Event loops, at least 1; absent for two threads a user, and for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<usize>,
    /// Longest time without a delivery, s.
    pub timeout_s: f64,
    /// Longest time to establish one connection, s.
    pub connect_timeout_s: f64,
    /// Seed of schedules and random choices.
    pub seed: u64,
    /// File with the ledgers of earlier runs on the same database, which is replaced at the end; absent without a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<PathBuf>,
}

/// What a crowd process loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// A server.
    Server(Endpoint),
    /// The files of a folder. The process is the platform itself, so it is measured in place of a server.
    Folder(PathBuf),
}

/// The text is no job of this version of Klatch.
#[derive(Debug, Error)]
#[error(
    "the job on standard input is not one of this version of Klatch; parent and crowd must be of the same build"
)]
pub struct JobError(#[source] JobErrorKind);

#[derive(Debug, Error)]
enum JobErrorKind {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A crowd that ignored a setting would measure something else.
    #[error("it has fields that this version does not know")]
    Unknown,
}

impl CrowdJob {
    /// It as one line.
    ///
    /// # Errors
    /// A path is not in UTF-8.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads it from a line.
    ///
    /// # Errors
    /// The line is not JSON, lacks a field, or has one that is unknown.
    pub fn from_line(line: &str) -> Result<CrowdJob, JobError> {
        let read = || -> Result<CrowdJob, JobErrorKind> {
            let given: serde_json::Value = serde_json::from_str(line)?;
            let job: CrowdJob = serde_json::from_value(given.clone())?;
            // At any depth, whatever the types allow.
            if serde_json::to_value(&job)? == given { Ok(job) } else { Err(JobErrorKind::Unknown) }
        };
        read().map_err(JobError)
    }

    /// The options that describe the same to `klatch crowd`, for a person. Two threads a user is an option of the program.
    pub fn options(&self) -> Vec<String> {
        let (place, of_server) = match &self.load {
            Load::Server(server) => (
                server.options(&self.workload),
                [option("connect-timeout", self.connect_timeout_s), option("seed", self.seed)].concat(),
            ),
            Load::Folder(folder) => (option("folder", folder.display()).into(), Vec::new()),
        };
        let mut words =
            [place, self.workload.options(), option("timeout", self.timeout_s).into(), of_server].concat();
        words.extend(self.loops.iter().flat_map(|loops| option("loops", loops)));
        words.extend(self.ledger.iter().flat_map(|file| option("ledger", file.display())));
        words
    }
}

impl Endpoint {
    /// The options that describe it to `klatch crowd` with this workload.
    pub fn options(&self, workload: &Workload) -> Vec<String> {
        let mut words = [option("host", &self.host), option("port", self.port)].concat();
        if self.protocol != workload.kind().usual_protocol() {
            words.extend(option("protocol", self.protocol.name()));
        }
        let transport = self.transport();
        if !transport.is_plain() {
            words.extend(option("transport", transport));
        }
        if let Some(WebSocket { path, subprotocol }) = &self.websocket {
            if path != "/" {
                words.extend(option("path", path));
            }
            words.extend(subprotocol.word().into_iter().flat_map(|word| option("subprotocol", word)));
        }
        let authorities = self.tls.as_ref().and_then(Authorities::file);
        words.extend(authorities.into_iter().flat_map(|file| option("ca", file.display())));
        let connecting = self.connecting.settings();
        words.extend(connecting.into_iter().flat_map(|(setting, value)| option(&setting.option(), value)));
        words
    }
}

/// An option of a crowd with its value.
fn option(name: &str, value: impl ToString) -> [String; 2] {
    [format!("--{name}"), value.to_string()]
}

impl std::fmt::Display for Load {
    /// Host and port, or the folder.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Load::Server(server) => server.fmt(f),
            Load::Folder(folder) => folder.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProtocolName, Subprotocol};

    fn job() -> CrowdJob {
        CrowdJob {
            workload: Workload::default(),
            load: Load::Server(Endpoint {
                websocket: Some(WebSocket { path: "/chat".into(), subprotocol: Subprotocol::Absent }),
                tls: Some(Authorities::File("/etc/my ca.pem".into())),
                ..Endpoint::plain(ProtocolName::Irc, "::1", 6667)
            }),
            login: Some(Login { user: Some("alice".into()), password: Some("p".into()) }),
            request: Some(RequestParts {
                headers: vec![("Cookie".into(), "c".into())],
                ..RequestParts::default()
            }),
            loops: Some(2),
            timeout_s: 60.0,
            connect_timeout_s: 0.1,
            seed: u64::MAX,
            ledger: Some("/tmp/ledger".into()),
        }
    }

    #[test]
    fn a_job_is_one_line_that_reads_back() {
        let line = job().line().unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(CrowdJob::from_line(&line).unwrap(), job());
        let usual = WebSocket::root();
        let plain = Endpoint::plain(ProtocolName::Nats, "alpha", 1);
        for (websocket, tls) in [(None, None), (Some(usual), Some(Authorities::System))] {
            let load = Load::Server(Endpoint { websocket, tls, ..plain.clone() });
            let job = CrowdJob { load, loops: None, ledger: None, ..job() };
            assert_eq!(CrowdJob::from_line(&job.line().unwrap()).unwrap(), job);
        }
        let readers = CrowdJob { load: Load::Folder("/data".into()), ..job() };
        assert_eq!(CrowdJob::from_line(&readers.line().unwrap()).unwrap(), readers);
    }

    #[test]
    fn a_job_of_another_version_is_rejected() {
        let line = job().line().unwrap();
        let error = |line: &str| crate::error_chain(&CrowdJob::from_line(line).unwrap_err());
        for (known, other) in [
            ("\"rooms\":", "\"halls\":3,\"rooms\":"),
            ("\"seed\":", "\"speed\":3,\"seed\":"),
            ("\"port\":", "\"ports\":1,\"port\":"),
        ] {
            let text = error(&line.replace(known, other));
            assert!(text.contains("fields that this version does not know"), "{text}");
        }
        assert!(error(&line.replace("\"rooms\":10,", "")).contains("missing field `rooms`"));
        assert!(error("").contains("the same build"));
    }
}
