//! Requirements: limits that a result must keep, such as `p99 <= 5ms` or `B/A server_cpu_us <= 1.02`, and their judgement by intervals.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{DuetMetric, Estimate, METRICS, Metric, Quantity, WorkloadKind, seconds_of};

/// A limit of a metric, or of the ratio of a metric between the sides of a duet.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The requirement as it was written, with single spaces.
    pub text: String,
    /// The sides of the ratio as they were written: `B/A`, `A/B` or the names of both sides. `None` for a limit of the metric itself.
    pub sides: Option<String>,
    /// Name or other name of the metric.
    pub metric: String,
    /// How the value must relate to the limit.
    pub relation: Relation,
    /// The limit, in the unit of the metric.
    pub limit: f64,
}

/// How a value must relate to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `==`, for counts.
    Equal,
}

/// Longer words first, so that `<=` is not read as `<`.
const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("<", Relation::Below),
    (">", Relation::Above),
];

/// Whether a requirement is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JudgementStatus {
    /// The whole interval keeps the limit.
    Met,
    /// The whole interval is beyond the limit.
    NotMet,
    /// The limit is within the interval, or there is none: this data cannot decide it.
    Undecided,
}

impl JudgementStatus {
    /// Its words in texts.
    pub fn words(self) -> &'static str {
        match self {
            JudgementStatus::Met => "met",
            JudgementStatus::NotMet => "not met",
            JudgementStatus::Undecided => "cannot be decided",
        }
    }
}

/// A requirement with its judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judgement {
    /// The requirement as it was written.
    pub requirement: String,
    /// Whether it is kept.
    pub status: JudgementStatus,
    /// Name of its metric, with the unit last.
    pub metric: String,
    /// Whether the numbers are ratios of the sides of a duet, not values of the metric.
    pub is_ratio: bool,
    /// The estimate; `null` if there is none.
    pub value: Option<f64>,
    /// Lower end of the interval; `null` if there is none.
    pub low: Option<f64>,
    /// Upper end of the interval; `null` if there is none.
    pub high: Option<f64>,
    /// The limit, in the unit of the metric.
    pub limit: f64,
    /// Trials, or starts of a duet, behind the estimate.
    pub trials: u32,
    /// About as many would decide it if the estimate stays; `null` if it is decided, or if no number of them is likely to.
    pub trials_needed: Option<u32>,
    /// Why there is no estimate or no interval.
    pub reason: Option<String>,
}

/// Why a requirement is refused.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum RequirementError {
    /// It has no relation, or not two sides of it.
    #[error(
        "a requirement is METRIC RELATION LIMIT, as in 'p99 <= 5ms' or 'errors == 0', with one of <= < >= > ==, got {0:?}"
    )]
    Form(String),
    /// No metric has the name.
    #[error("there is no metric {name}; {instead}")]
    Unknown {
        /// The name.
        name: String,
        /// What was probably meant, or all metrics.
        instead: String,
    },
    /// The limit is no number with a unit of the metric.
    #[error("the limit of {metric} is {units}, got {got:?}")]
    Limit {
        /// Name of the metric as it was written.
        metric: String,
        /// Examples of limits.
        units: &'static str,
        /// The limit.
        got: String,
    },
    /// The relation does not suit the metric.
    #[error("{metric} is an estimate with an interval, which equals nothing: use <=, <, >= or >")]
    Equal {
        /// Name of the metric as it was written.
        metric: String,
    },
    /// The sides are none of the duet.
    #[error("{got} are not the sides of this duet; use B/A, or {names}")]
    Sides {
        /// The sides as they were written.
        got: String,
        /// The sides by name.
        names: String,
    },
    /// A limit of a metric itself, in a duet.
    #[error("a duet judges ratios of its sides: B/A {0} <= 1.02")]
    NoSides(String),
    /// A limit in a search.
    #[error("a search looks for the load at which a limit breaks, so it takes no requirements")]
    Search,
    /// A ratio of sides outside of a duet.
    #[error("{0} are sides, which only a duet has")]
    NoDuet(String),
}

/// Number of trials beyond which more of them are no advice.
const NEEDED_MAX: f64 = 1e4;

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Requirement, RequirementError> {
        let form = || RequirementError::Form(text.trim().to_owned());
        // Names of sides may have a single `=`, as in `x:loops=2`.
        let found = text.char_indices().find_map(|(at, _)| {
            RELATIONS.into_iter().find(|(word, _)| text[at..].starts_with(word)).map(|found| (at, found))
        });
        let (at, (word, relation)) = found.ok_or_else(form)?;
        let (left, limit) = (text[..at].trim(), text[at + word.len()..].trim());
        let (sides, metric) = match left.rsplit_once(char::is_whitespace) {
            Some((sides, metric)) => (Some(sides.trim().to_owned()), metric),
            None => (None, left),
        };
        if metric.is_empty() || limit.is_empty() || sides.as_ref().is_some_and(|sides| !sides.contains('/')) {
            return Err(form());
        }
        let one = candidates(metric).next().ok_or_else(|| unknown(metric, METRICS.iter().collect()))?;
        if relation == Relation::Equal && (one.has_interval || sides.is_some()) {
            return Err(RequirementError::Equal { metric: metric.to_owned() });
        }
        let parsed = match sides {
            Some(_) => number(limit).filter(|factor| factor.is_finite()).ok_or("a factor such as 1.02"),
            None => limit_in_unit(one, metric, limit),
        };
        let limit_in_unit = parsed.map_err(|units| RequirementError::Limit {
            metric: metric.to_owned(),
            units,
            got: limit.to_owned(),
        })?;
        let words: Vec<&str> = [sides.as_deref().unwrap_or_default(), metric, word, limit]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        Ok(Requirement {
            text: words.join(" "),
            sides,
            metric: metric.to_owned(),
            relation,
            limit: limit_in_unit,
        })
    }
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The metrics of results that a name or another name means.
fn candidates(word: &str) -> impl Iterator<Item = &'static Metric> {
    let is_meant = move |metric: &&Metric| metric.name == word || metric.aliases.contains(&word);
    METRICS.iter().filter(|metric| metric.value.is_some()).filter(is_meant)
}

fn unknown(name: &str, known: Vec<&'static Metric>) -> RequirementError {
    let known: Vec<&'static Metric> = known.into_iter().filter(|metric| metric.value.is_some()).collect();
    RequirementError::Unknown { name: name.to_owned(), instead: Metric::instead_of(name, &known) }
}

/// A limit in the unit of a metric, or examples of limits. A number without a unit needs a name that has the unit.
fn limit_in_unit(metric: &Metric, word: &str, limit: &str) -> Result<f64, &'static str> {
    let (value, examples) = match metric.quantity {
        Quantity::CpuTime | Quantity::Latency | Quantity::QueueTime => {
            match (number(limit), word.contains("_us")) {
                (Some(number), true) => (Some(number), ""),
                (None, true) => (time_us(limit), "a time such as 6, 6us or 5ms, in µs if it has no unit"),
                (number, false) => (
                    time_us(limit).filter(|_| number.is_none()),
                    "a time with its unit, such as 300us, 5ms or 1s",
                ),
            }
        }
        Quantity::Seconds => (seconds_of(limit), "a time such as 5, 5s or 200ms, in s if it has no unit"),
        Quantity::Bytes => (with_unit(limit, BYTES), "a size such as 200MB or 64KiB"),
        Quantity::Share => (with_unit(limit, &[("%", 0.01), ("", 1.0)]), "a share such as 5%"),
        Quantity::Rate => (with_unit(limit, &[("/s", 1.0), ("", 1.0)]), "a number such as 50000"),
        Quantity::Number => (number(limit), "a number"),
    };
    value.filter(|value| value.is_finite() && *value >= 0.0).ok_or(examples)
}

/// Units of memory in bytes.
const BYTES: &[(&str, f64)] = &[
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("B", 1.0),
    ("", 1.0),
];

/// A time in µs, to the nanosecond.
fn time_us(text: &str) -> Option<f64> {
    seconds_of(text).map(|seconds| (seconds * 1e9).round() / 1e3)
}

fn number(text: &str) -> Option<f64> {
    with_unit(text, &[("", 1.0)])
}

fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim(), factor)))?;
    let is_plain = number.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    number.parse::<f64>().ok().filter(|_| is_plain).map(|number| number * factor)
}

impl Relation {
    /// Whether an interval keeps the limit.
    fn judge(self, low: f64, high: f64, limit: f64) -> JudgementStatus {
        let (is_kept, is_broken) = match self {
            Relation::AtMost => (high <= limit, low > limit),
            Relation::Below => (high < limit, low >= limit),
            Relation::AtLeast => (low >= limit, high < limit),
            Relation::Above => (low > limit, high <= limit),
            Relation::Equal => (low == limit && high == limit, limit < low || high < limit),
        };
        match (is_kept, is_broken) {
            (true, _) => JudgementStatus::Met,
            (_, true) => JudgementStatus::NotMet,
            (false, false) => JudgementStatus::Undecided,
        }
    }
}

/// An estimate with its interval, and the number of trials behind it.
struct Evidence {
    value: f64,
    interval: Option<(f64, f64)>,
    trials: u32,
}

impl Requirement {
    /// A limit of the ratio B / A.
    pub fn of_ratio(metric: &Metric, relation: Relation, limit: f64) -> Requirement {
        let word = RELATIONS.into_iter().find(|(_, one)| *one == relation).map_or("<=", |(word, _)| word);
        Requirement {
            text: format!("B/A {} {word} {limit}", metric.name),
            sides: Some("B/A".to_owned()),
            metric: metric.name.to_owned(),
            relation,
            limit,
        }
    }

    /// The metric of this requirement in results of a kind of workload.
    ///
    /// # Errors
    /// The requirement is about the sides of a duet, or the workload does not have the metric.
    pub fn metric_of(&self, kind: WorkloadKind) -> Result<&'static Metric, RequirementError> {
        if let Some(sides) = &self.sides {
            return Err(RequirementError::NoDuet(sides.clone()));
        }
        let fitting = candidates(&self.metric).filter(|metric| metric.workloads.contains(kind));
        // Of the throughputs, that of the workload's unit of work.
        fitting.last().ok_or_else(|| {
            unknown(&self.metric, METRICS.iter().filter(|metric| metric.workloads.contains(kind)).collect())
        })
    }

    /// The metric of this requirement in duets.
    ///
    /// # Errors
    /// The requirement has no sides, or duets do not have the metric.
    pub fn metric_of_duet(&self) -> Result<&'static Metric, RequirementError> {
        if self.sides.is_none() {
            return Err(RequirementError::NoSides(self.metric.clone()));
        }
        let of_slices = candidates(&self.metric).find(|metric| metric.slice.is_some());
        of_slices.ok_or_else(|| {
            unknown(&self.metric, METRICS.iter().filter(|metric| metric.slice.is_some()).collect())
        })
    }

    /// Whether the ratio is that of A to B, not of B to A. The sides have these names; `B/A` and `A/B` always mean the sides.
    ///
    /// # Errors
    /// The sides are none of the duet.
    pub fn is_inverse(&self, [a, b]: [&str; 2]) -> Result<bool, RequirementError> {
        let sides = self.sides.as_deref().unwrap_or_default();
        match sides {
            "B/A" => Ok(false),
            "A/B" => Ok(true),
            sides if sides == format!("{b}/{a}") => Ok(false),
            sides if sides == format!("{a}/{b}") => Ok(true),
            sides => Err(RequirementError::Sides { got: sides.to_owned(), names: format!("{b}/{a}") }),
        }
    }

    /// Judges trials of one cell by their estimates. `sum` has the sum of a metric without an interval over all trials, or why there is none.
    pub fn judge(
        &self,
        kind: WorkloadKind,
        estimates: &BTreeMap<String, Estimate>,
        sum: impl Fn(&Metric) -> Result<f64, String>,
    ) -> Judgement {
        let metric = match self.metric_of(kind) {
            Ok(metric) => metric,
            Err(error) => return self.judged(&self.metric, Err(error.to_string())),
        };
        if !metric.has_interval {
            let exact =
                sum(metric).map(|value| Evidence { value, interval: Some((value, value)), trials: 0 });
            return self.judged(metric.name, exact);
        }
        let evidence = estimates.get(metric.name).map(|estimate| Evidence {
            value: estimate.mean,
            interval: estimate.low.zip(estimate.high),
            trials: estimate.values.len() as u32,
        });
        self.judged(metric.name, evidence.ok_or_else(|| "no trial that counts has it".to_owned()))
    }

    /// Judges a duet whose sides have these names.
    pub fn judge_duet(&self, metrics: &[DuetMetric], names: [&str; 2]) -> Judgement {
        let found = self.metric_of_duet().and_then(|metric| Ok((metric.name, self.is_inverse(names)?)));
        let (name, is_inverse) = match found {
            Ok(found) => found,
            Err(error) => return self.judged(&self.metric, Err(error.to_string())),
        };
        let metric = metrics.iter().find(|metric| metric.metric == name);
        let evidence = metric.and_then(|metric| {
            let ratio = metric.ratio?;
            let (value, low, high) = match is_inverse {
                false => (ratio.estimate, ratio.low, ratio.high),
                true => (1.0 / ratio.estimate, 1.0 / ratio.high, 1.0 / ratio.low),
            };
            Some(Evidence { value, interval: Some((low, high)), trials: metric.starts.len() as u32 })
        });
        let absent = || {
            let why = metric.and_then(|metric| metric.absent.clone());
            format!("it was not compared: {}", why.unwrap_or_else(|| "not observed".to_owned()))
        };
        self.judged(name, evidence.ok_or_else(absent))
    }

    fn judged(&self, metric: &str, evidence: Result<Evidence, String>) -> Judgement {
        let mut judgement = Judgement {
            requirement: self.text.clone(),
            status: JudgementStatus::Undecided,
            metric: metric.to_owned(),
            is_ratio: self.sides.is_some(),
            value: None,
            low: None,
            high: None,
            limit: self.limit,
            trials: 0,
            trials_needed: None,
            reason: None,
        };
        let Evidence { value, interval, trials } = match evidence {
            Ok(evidence) => evidence,
            Err(reason) => return Judgement { reason: Some(reason), ..judgement },
        };
        (judgement.value, judgement.trials) = (Some(value), trials);
        let Some((low, high)) = interval else {
            judgement.trials_needed = (trials < 3).then_some(3);
            judgement.reason = Some("these trials give no interval".to_owned());
            return judgement;
        };
        (judgement.low, judgement.high) = (Some(low), Some(high));
        judgement.status = self.relation.judge(low, high, self.limit);
        if judgement.status == JudgementStatus::Undecided {
            // The width of an interval falls with the square root of the number of trials.
            let (half_width, distance) = if value < self.limit {
                (high - value, self.limit - value)
            } else {
                (value - low, value - self.limit)
            };
            let needed = f64::from(trials.max(1)) * (half_width / distance).powi(2);
            judgement.trials_needed =
                (needed < NEEDED_MAX).then(|| (needed.ceil() as u32).max(trials.saturating_add(1)));
        }
        judgement
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RatioEstimate;

    fn parsed(text: &str) -> Requirement {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn limits_are_in_the_unit_of_the_metric() {
        for (text, limit) in [
            ("p99 <= 5ms", 5_000.0),
            ("p99.9<=20ms", 20_000.0),
            ("p50 <= 300us", 300.0),
            ("p50 <= 0.3 ms", 300.0),
            ("max < 1s", 1e6),
            ("latency_p99_us < 700", 700.0),
            ("server_cpu_us_per_message < 6", 6.0),
            ("server_cpu_us <= 6 µs", 6.0),
            ("throughput >= 50000", 50_000.0),
            ("errors == 0", 0.0),
            ("server_memory_peak_bytes <= 200MB", 2e8),
            ("join_s < 1.5s", 1.5),
            ("B/A server_cpu_us <= 1.02", 1.02),
            ("x:loops=2/x:loops=1 p99 < 1", 1.0),
        ] {
            assert_eq!(parsed(text).limit, limit, "{text}");
        }
        assert_eq!(parsed("  p99   <=  5ms ").text, "p99 <= 5ms");
        assert_eq!(parsed("x:loops=2/x:loops=1 p99 < 1").sides.as_deref(), Some("x:loops=2/x:loops=1"));
    }

    #[test]
    fn a_wrong_requirement_is_answered_with_what_is_right() {
        let error = |text: &str| text.parse::<Requirement>().unwrap_err().to_string();
        assert!(
            error("p99 = 5ms").starts_with("a requirement is METRIC RELATION LIMIT"),
            "{}",
            error("p99 = 5ms")
        );
        assert!(error("p99 <=").contains("'p99 <= 5ms'"));
        assert_eq!(error("thruput > 5"), "there is no metric thruput; did you mean throughput?");
        let all = error("speed > 5");
        assert!(all.contains("there are throughput, ") && all.contains("p99.9"), "{all}");
        assert!(!all.contains("run_queue"), "no result of a run has it: {all}");
        assert_eq!(
            error("p99 <= 5"),
            "the limit of p99 is a time with its unit, such as 300us, 5ms or 1s, got \"5\""
        );
        assert!(error("p99 == 5ms").contains("which equals nothing"));
        assert!(error("B/A server_cpu_us <= 2%").contains("a factor such as 1.02"));
        assert!(error("throughput >= -5").contains("a number such as 50000"));
        assert!(error("throughput >= inf").contains("a number such as 50000"));
    }

    #[test]
    fn a_name_means_the_metric_of_the_workload() {
        let name = |text: &str, kind| {
            parsed(text).metric_of(kind).map(|metric| metric.name).map_err(|error| error.to_string())
        };
        assert_eq!(name("throughput > 1", WorkloadKind::Chat), Ok("messages_per_s"));
        assert_eq!(name("throughput > 1", WorkloadKind::Rr), Ok("operations_per_s"));
        assert_eq!(name("server_cpu_us < 1", WorkloadKind::Web), Ok("server_cpu_us_per_operation"));
        let error = name("tops > 1", WorkloadKind::Chat).unwrap_err();
        assert!(error.starts_with("there is no metric tops; "), "{error}");
        assert!(!error.contains("transactions_per_s"), "{error}");
        assert_eq!(
            name("B/A p99 < 1", WorkloadKind::Chat).unwrap_err(),
            "B/A are sides, which only a duet has"
        );
        assert_eq!(parsed("B/A throughput > 1").metric_of_duet().unwrap().name, "messages_per_s");
        assert!(parsed("p99 < 1ms").metric_of_duet().unwrap_err().to_string().contains("B/A p99 <= 1.02"));
    }

    fn status(text: &str, low: f64, high: f64) -> (JudgementStatus, Option<u32>) {
        let estimate =
            Estimate { mean: (low + high) / 2.0, low: Some(low), high: Some(high), values: vec![0.0; 4] };
        let estimates = [("latency_p99_us".to_owned(), estimate)].into();
        let judgement = parsed(text).judge(WorkloadKind::Chat, &estimates, |_| Err(String::new()));
        (judgement.status, judgement.trials_needed)
    }

    #[test]
    fn the_whole_interval_must_keep_the_limit() {
        use JudgementStatus::{Met, NotMet, Undecided};
        assert_eq!(status("p99 <= 5ms", 4_000.0, 5_000.0), (Met, None));
        assert_eq!(status("p99 < 5ms", 4_000.0, 5_000.0).0, Undecided);
        assert_eq!(status("p99 <= 5ms", 5_001.0, 6_000.0), (NotMet, None));
        assert_eq!(status("p99 >= 5ms", 5_000.0, 6_000.0).0, Met);
        assert_eq!(status("p99 > 5ms", 4_000.0, 5_000.0).0, NotMet);
        // Half the width of an interval twice as wide as the distance: four times the trials.
        assert_eq!(status("p99 <= 5ms", 2_000.0, 6_000.0), (Undecided, Some(16)));
        assert_eq!(status("p99 <= 5ms", 4_000.0, 6_000.0), (Undecided, None), "the estimate is the limit");
    }

    #[test]
    fn counts_are_exact_and_what_is_missing_is_undecided() {
        let none = BTreeMap::new();
        let errors =
            |count: f64| parsed("errors == 0").judge(WorkloadKind::Chat, &none, |_| Ok(count)).status;
        assert_eq!((errors(0.0), errors(3.0)), (JudgementStatus::Met, JudgementStatus::NotMet));
        let judgement = parsed("p99 <= 5ms").judge(WorkloadKind::Chat, &none, |_| Ok(0.0));
        assert_eq!(judgement.status, JudgementStatus::Undecided);
        assert_eq!(judgement.reason.as_deref(), Some("no trial that counts has it"));
        let one = Estimate { mean: 9.0, low: None, high: None, values: vec![9.0] };
        let estimates = [("latency_p99_us".to_owned(), one)].into();
        let judgement = parsed("p99 <= 5ms").judge(WorkloadKind::Chat, &estimates, |_| Ok(0.0));
        assert_eq!((judgement.status, judgement.trials_needed), (JudgementStatus::Undecided, Some(3)));
    }

    #[test]
    fn sides_of_a_duet_have_letters_and_names() {
        let ratio = RatioEstimate { estimate: 1.25, low: 1.2, high: 1.3, smallest_difference: 0.1 };
        let metric = DuetMetric {
            metric: "server_cpu_us_per_message".to_owned(),
            a: None,
            b: None,
            ratio: Some(ratio),
            absent: None,
            starts: vec![1.25; 5],
            within_start: None,
            between_starts: None,
        };
        let judge = |text: &str| parsed(text).judge_duet(std::slice::from_ref(&metric), ["base", "change"]);
        assert_eq!(judge("B/A server_cpu_us <= 1.02").status, JudgementStatus::NotMet);
        assert_eq!(judge("change/base server_cpu_us <= 1.35").status, JudgementStatus::Met);
        let inverse = judge("A/B server_cpu_us <= 0.85");
        assert_eq!((inverse.status, inverse.value), (JudgementStatus::Met, Some(0.8)));
        assert_eq!(judge("base/change server_cpu_us <= 0.85").status, JudgementStatus::Met);
        let foreign = judge("new/old server_cpu_us <= 1").reason.unwrap();
        assert_eq!(foreign, "new/old are not the sides of this duet; use B/A, or change/base");
        assert!(judge("B/A p99 <= 1").reason.unwrap().starts_with("it was not compared"));
    }
}
