//! The result of a duet: two servers or crowds, compared in slices of time.

use serde::{Deserialize, Serialize};

use crate::{Build, ExactCount, Explanation, Judgement, RatioEstimate, Workload};

/// The schema name that every duet carries in [`Duet::schema`].
pub const DUET_SCHEMA_NAME: &str = "klatch-duet/1";

/// How B compares with A, slice by slice. Method: `docs/reference/method.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Duet {
    /// The schema of this JSON, always `klatch-duet/1`.
    pub schema: String,
    /// Version and commit of the Klatch that measured.
    pub klatch: Build,
    /// Start time, RFC 3339 in UTC.
    pub started_at: String,
    /// Base of the ratios.
    pub a: DuetSide,
    /// What is compared with it.
    pub b: DuetSide,
    /// Rooms, users and pacing of each side; its `count` is a limit that no run reaches.
    pub workload: Workload,
    /// Length of a slice without its margins, ms.
    pub slice_ms: f64,
    /// Both sides ran at the same time, each on its own CPUs.
    pub together: bool,
    /// Probability that an interval contains the true ratio, above 0 and below 1.
    pub confidence: f64,
    /// Seed of the order within pairs.
    pub seed: u64,
    /// The starts of both sides, in the order of time.
    pub starts: Vec<DuetStart>,
    /// The metrics, compared over all complete starts.
    pub metrics: Vec<DuetMetric>,
    /// Why the sides differ; `null` if that was not asked for, could not be observed, or has fewer than three starts.
    pub explanation: Option<Explanation>,
    /// Why there is no explanation although one was asked for; `null` if nothing failed.
    pub unexplained: Option<String>,
    /// What both sides execute, counted in the lab; `null` if that was not asked for, or failed.
    pub exact: Option<ExactCount>,
    /// Why there is no such count although one was asked for; `null` if nothing failed.
    pub uncounted: Option<String>,
    /// The requirements, judged by these metrics; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub requirements: Vec<Judgement>,
    /// How the duet ended.
    pub end: DuetEnd,
}

/// One side of a duet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DuetSide {
    /// Its name in texts: platform and knobs, or what else tells the two sides apart. The other side has another one.
    pub name: String,
    /// Platform with its knobs, as text.
    pub platform: String,
    /// Kind of the crowd with its knobs.
    pub crowd: String,
}

/// How a duet ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DuetEnd {
    /// All planned starts were made, or the interval was narrow enough.
    Complete,
    /// The interval cannot be as narrow as was asked for in the time that the duet had, so it ended early.
    Hopeless {
        /// How long it would have taken at this noise, s.
        needed_s: f64,
    },
    /// The user interrupted it; the starts until then are complete.
    Interrupted,
    /// A run was not valid.
    Failed {
        /// The side.
        side: WhichSide,
        /// What was wrong, one reason per line.
        reasons: String,
    },
}

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhichSide {
    /// The base of the ratios.
    A,
    /// What is compared with it.
    B,
}

impl WhichSide {
    /// Both, in the order of plans and folders.
    pub const BOTH: [WhichSide; 2] = [WhichSide::A, WhichSide::B];
}

impl Duet {
    /// One of the sides.
    pub fn side(&self, which: WhichSide) -> &DuetSide {
        match which {
            WhichSide::A => &self.a,
            WhichSide::B => &self.b,
        }
    }
}

/// One start of both servers and crowds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DuetStart {
    /// Number of the start, counted from 1.
    pub number: u32,
    /// The pairs of slices that count.
    pub pairs: Vec<SlicePair>,
    /// Pairs left out, because the paused side used CPU time during the slice of the other.
    pub disturbed: u32,
    /// Share of the machine's CPU time that other programs used, 0..=1; `null` if unknown.
    pub others_share: Option<f64>,
    /// Share of the machine's CPU time that the hypervisor gave to others, 0..=1; `null` if unknown.
    pub steal_share: Option<f64>,
}

/// One slice of each side, one after the other or at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlicePair {
    /// Beginning of the pair, s after the beginning of the duet.
    pub at_s: f64,
    /// Whether A's slice was the first.
    pub a_first: bool,
    /// What side A did.
    pub a: Slice,
    /// What side B did.
    pub b: Slice,
}

/// What one side did in one slice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slice {
    /// Messages sent and deliveries received; all that was sent in the slice was delivered in it.
    pub messages: u64,
    /// From the beginning to the last delivery, on the crowd's clock, s.
    pub elapsed_s: f64,
    /// CPU time of the servers, s; `null` for a server on another machine.
    pub server_cpu_s: Option<f64>,
    /// CPU time of the crowds, s; `null` for crowds on other machines.
    pub crowd_cpu_s: Option<f64>,
    /// Median of the latencies, µs; `null` if nothing was delivered.
    pub latency_p50_us: Option<f64>,
    /// 99th percentile of the latency, µs; `null` if nothing was delivered.
    pub latency_p99_us: Option<f64>,
    /// From the last delivery until server and crowd were idle, ms; their CPU time until then counts.
    pub end_margin_ms: f64,
}

/// One metric of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DuetMetric {
    /// Its name, as in records, with the unit last.
    pub metric: String,
    /// Geometric mean of A's slices; `null` if not observed.
    pub a: Option<f64>,
    /// Geometric mean of B's slices; `null` if not observed.
    pub b: Option<f64>,
    /// The ratio B / A with its interval; `null` if the data do not allow one.
    pub ratio: Option<RatioEstimate>,
    /// Why there is no ratio.
    pub absent: Option<String>,
    /// The ratio of each complete start: the geometric mean of the ratios of its pairs.
    pub starts: Vec<f64>,
    /// Standard error of the ratio within one start, as a share of the ratio; `null` without an estimate.
    pub within_start: Option<f64>,
    /// Standard deviation between starts beyond that, as a share of the ratio; `null` with fewer than three starts.
    pub between_starts: Option<f64>,
}

/// The JSON Schema of a [`Duet`], as pretty-printed JSON that ends with a newline.
#[cfg(feature = "schema")]
pub fn duet_schema() -> String {
    let schema = schemars::schema_for!(Duet);
    serde_json::to_string_pretty(&schema).expect("a schema is plain JSON") + "\n"
}
