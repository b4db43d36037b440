//! The results of Klatch as plain data: what a crowd reports, and the record of a run. Their JSON Schema is committed
//! as `docs/record.schema.json` and generated from these types.

mod audit;
mod comparison;
mod conditions;
mod conforming;
mod connecting;
mod cpu_list;
mod crowd_result;
mod documents;
mod duet;
mod endpoint;
mod environment;
mod error_chain;
mod exact;
mod explanation;
mod floor;
mod history;
mod job;
mod joining;
pub mod lab;
mod latency;
mod login;
mod merge;
mod merge_files;
mod metric;
mod named;
mod observation;
pub mod observed;
mod operations;
mod orders;
mod own_arguments;
mod packed;
mod part;
mod percentiles;
mod printable;
mod protocol;
mod record;
mod replay;
mod request_parts;
mod requirement;
mod results;
mod run_options;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod save;
mod sensitivity;
mod server_part;
mod shard;
mod similar;
mod stage_score;
mod study;
mod sums;
mod timeline;
mod times;
mod transport;
mod usage;
mod verdict;
mod window;
mod words;
mod workload;

pub use audit::{Audit, BrokenRule, Database, DatabaseCounts};
pub use comparison::{
    COMPARISON_SCHEMA_NAME, Comparison, Estimator, MetricComparison, RatioEstimate, Side, Unit,
};
pub use conditions::{Condition, conditions, conditions_in};
pub use conforming::{CONFORMING_SHARE_MIN, Conforming};
pub use connecting::{AddressChoice, CONNECTING, Connecting, ConnectingSetting, TlsVersion};
pub use cpu_list::{parse_cpu_list, write_cpu_list};
pub use crowd_result::{
    CROWD_FROZEN_MIN_S, CROWD_GAP_MIN_S, CrowdEvent, CrowdGap, CrowdResult, CrowdSelfReport, EXAMPLES_MAX,
    Failure, FailureKind, Fault, FaultKind, PausedCounts, Stranger,
};
pub use documents::{
    BEGUN, BOOT, COUNTERS, Document, Documents, FAILURE, FOLDED, NO_RESULT, SCHEDULER, SENSITIVITY,
    STACKS_OF_SIDES, STANDARD_INPUT, START_OF_PAIR, Skipped, same_record,
};
#[cfg(feature = "schema")]
pub use duet::duet_schema;
pub use duet::{
    DUET_SCHEMA_NAME, Duet, DuetEnd, DuetMetric, DuetSide, DuetStart, Slice, SlicePair, WhichSide,
};
pub use endpoint::{Authorities, Endpoint, Subprotocol, WebSocket};
pub use environment::{CORE_CLASSES, Environment, Limits, Noise, SchedulerInForce};
pub use error_chain::error_chain;
pub use exact::{ExactCount, ExactRow};
pub use explanation::{
    ExplainedCount, ExplainedProcess, ExplainedRow, ExplainedTime, Explanation, purpose_of_call,
};
pub use floor::{ExchangeCost, FLOOR_SCHEMA_NAME, FloorLoad, FloorResult, FloorRow, LoopbackCost};
#[cfg(feature = "schema")]
pub use history::history_schema;
pub use history::{HISTORY_SCHEMA_NAME, History, HistoryChange, HistoryPoint, HistorySeries, SeriesKind};
pub use job::{CrowdJob, JobError, Load};
pub use joining::Joining;
pub use latency::{Latency, LatencyError};
pub use login::{Login, without_logins, without_passwords};
pub use merge::{MergeError, merge};
pub use merge_files::merge_files;
pub use metric::{
    Better, CPU_PER_MESSAGE, ERRORS, LATENCY_P99, MESSAGES_PER_S, METRICS, Metric, MetricCharts, Quantity,
    SERVER_CPU, WorkloadsOfMetric,
};
pub use named::variants;
pub use observation::{Availability, Cost, Observation, Support};
pub use observed::{InstrumentName, InstrumentNameError, ObservationData};
pub use operations::{OperationKindScore, Operations, PartyCounts};
pub use orders::{OrdersCounts, OrdersLimit, OrdersScore, OrdersShare};
pub use own_arguments::own_arguments;
pub use part::Part;
pub use percentiles::{Percentiles, latencies_at, samples_needed};
pub use printable::{printable, printable_line};
pub use protocol::{MqttVersion, ProtocolName};
pub use record::{
    Build, Checks, Class, CrowdInfo, CrowdProgram, Platform, Record, Role, Runtime, SCHEMA_NAME, Score,
    UsageOfBoth, VmInForce,
};
pub use replay::{Replay, ReplayError, ReplayStep, ReplayTask};
pub use request_parts::{Body, HeaderValues, RequestDigest, RequestError, RequestParts, UrlChoice};
pub use requirement::{Judgement, JudgementStatus, Relation, Requirement, RequirementError};
pub use results::Results;
pub use run_options::{RemoteOptions, RunOptions};
pub use save::{
    SaveError, check_can_save, create_folder, save, save_bytes, save_json, save_text, sync_folder,
};
pub use sensitivity::{Claim, Sensitivity};
pub use server_part::{SERVER_SCHEMA_NAME, ServerPart};
pub use shard::{Gate, GateError, Moment, Shard, shard_name};
pub use similar::{instead_of, similar_to, with_suggestion};
pub use stage_score::{STAGE_GRACE_S, STAGE_KEEPS_UP_SHARE, StageCounts, StageScore, StageScores};
pub use study::{
    CellResult, CellStatus, Estimate, PairResult, ResultKind, STUDY_SCHEMA_NAME, SearchResult, SearchStep,
    StudyAxis, StudyResult,
};
pub use sums::{SumError, saturating_sum, sum};
pub use timeline::{Interval, IntervalCounts, Timeline};
pub use times::{TIME_FORMS, seconds_of, time_with_units};
pub use transport::{TlsSession, Transport};
pub use usage::Usage;
pub use verdict::{Cause, Reason, Status, Verdict, Warning, WarningKind};
pub use words::{grouped, range_in_words};
pub use workload::{
    Arrivals, CONNECTIONS_PER_SOURCE, CONTENT_SEED, ChatWorkload, DatabaseChoice, FILE_PAGE_BYTES,
    FilesWorkload, HEADER, HeaderField, HeaderValue, HttpVersion, JsonValue, MqttSettings, OrdersWorkload,
    Pacing, ReadOrder, RrWorkload, Stage, Stages, TradeMix, TradeWorkload, WebWorkload, Workload,
    WorkloadError, WorkloadKind, settings,
};

/// The JSON Schema of a [`Record`], as pretty-printed JSON that ends with a newline.
#[cfg(feature = "schema")]
pub fn schema() -> String {
    let schema = schemars::schema_for!(Record);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text + "\n"
}

/// The JSON Schema of a [`StudyResult`], as pretty-printed JSON that ends with a newline.
#[cfg(feature = "schema")]
pub fn study_result_schema() -> String {
    let schema = schemars::schema_for!(StudyResult);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text + "\n"
}
