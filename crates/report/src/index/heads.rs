//! The few fields of results that the index shows. A folder can have thousands of results, so the rest is skipped.

use klatch_record::{Role, Status};
use serde::Deserialize;

/// Head of a record.
#[derive(Deserialize)]
pub(super) struct RecordHead {
    pub(super) started_at: String,
    pub(super) role: Role,
    pub(super) platform: NameHead,
    pub(super) verdict: VerdictHead,
    score: ScoreHead,
    operations: Option<OperationsHead>,
    latency: Option<LatencyHead>,
}

impl RecordHead {
    pub(super) fn per_s(&self) -> f64 {
        self.operations.as_ref().map_or(self.score.messages_per_s, |operations| operations.per_s)
    }

    pub(super) fn unit(&self) -> &str {
        self.operations.as_ref().map_or("message", |operations| operations.name.as_str())
    }

    pub(super) fn cpu_us(&self) -> Option<f64> {
        match &self.operations {
            Some(operations) => operations.cpu_us_per_operation,
            None => self.score.cpu_us_per_message,
        }
    }

    pub(super) fn p99_us(&self) -> Option<f64> {
        self.latency.as_ref().map(|latency| latency.p99_us)
    }
}

#[derive(Deserialize)]
pub(super) struct NameHead {
    pub(super) name: String,
}

#[derive(Deserialize)]
pub(super) struct VerdictHead {
    pub(super) status: Status,
}

#[derive(Deserialize)]
struct ScoreHead {
    messages_per_s: f64,
    cpu_us_per_message: Option<f64>,
}

#[derive(Deserialize)]
struct OperationsHead {
    name: String,
    per_s: f64,
    cpu_us_per_operation: Option<f64>,
}

#[derive(Deserialize)]
struct LatencyHead {
    p99_us: f64,
}

/// The field that identifies the kind of a result.
#[derive(Deserialize)]
pub(super) struct SchemaHead<'a> {
    #[serde(borrow)]
    pub(super) schema: Option<std::borrow::Cow<'a, str>>,
}
