//! Schedules whose rate changes: stages of time, in each of which the rate ramps linearly.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::settings::{Access, Range, Scope, Setting};
use super::values::{Form, Value};
use super::{RATE_MAX, SECONDS_MAX, WorkloadError};
use crate::times::seconds_of;

/// Most stages of a schedule. A crowd has a histogram for each.
const STAGES_MAX: usize = 100;

/// Name of the setting.
pub(super) const STAGES: &str = "stages";

/// The setting of a workload.
pub(super) const fn stages_setting(help: &'static str, access: Access) -> Setting {
    Setting::new(STAGES, "TIME:RATE,…", help, access).following("none").scoped(Scope::End)
}

/// Part of a schedule: a time in which the rate goes linearly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Its begin, seconds after that of the first stage.
    pub begin_s: f64,
    /// Its length, seconds. 0 for a jump of the rate.
    pub time_s: f64,
    /// Rate at its begin, 1/s.
    pub from_per_s: f64,
    /// Rate at its end, 1/s.
    pub to_per_s: f64,
    /// Operations that are due before it: the integral of the rate up to its begin.
    pub before: f64,
}

impl Stage {
    /// Its end, seconds after the begin of the first stage.
    pub fn end_s(&self) -> f64 {
        self.begin_s + self.time_s
    }

    /// The integral of the rate up to its end.
    pub fn up_to_end(&self) -> f64 {
        self.before + (self.from_per_s + self.to_per_s) / 2.0 * self.time_s
    }

    /// The time at which the integral of the rate reaches `operations`, which it does within this stage; seconds after the begin of the
    /// first one. Definition: `docs/reference/protocol.md`.
    pub fn time_of(&self, operations: f64) -> f64 {
        let own = operations - self.before;
        if own <= 0.0 {
            return self.begin_s;
        }
        let slope = (self.to_per_s - self.from_per_s) / self.time_s;
        let rate_then = (self.from_per_s * self.from_per_s + 2.0 * slope * own).max(0.0).sqrt();
        (self.begin_s + 2.0 * own / (self.from_per_s + rate_then)).min(self.end_s())
    }
}

/// Times and rates, such as `60s:100,180s:500,30s:0`: within each time the rate goes linearly from that of the pair before, or from 0, to its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String", rename = "Stages"))]
#[serde(try_from = "String", into = "String")]
pub struct Stages(Arc<[Stage]>);

impl Stages {
    /// The stages, in order.
    pub fn all(&self) -> &[Stage] {
        &self.0
    }

    /// The time of all, seconds.
    pub fn time_s(&self) -> f64 {
        self.0.last().map_or(0.0, Stage::end_s)
    }

    /// The mean rate over their time, 1/s.
    pub fn mean_per_s(&self) -> f64 {
        self.0.last().map_or(0.0, Stage::up_to_end) / self.time_s()
    }
}

/// As [`Stages`] reads them: `60s:100,180s:500`.
impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, stage) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}s:{}", stage.time_s, stage.to_per_s)?;
        }
        Ok(())
    }
}

impl FromStr for Stages {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Stages, WorkloadError> {
        let wrong = |range: &str| WorkloadError::out_of(STAGES, range, text);
        let pairs: Vec<&str> = text.split(',').map(str::trim).collect();
        if pairs.len() > STAGES_MAX {
            let range = format!("at most {STAGES_MAX} pairs of a time and a rate");
            return Err(WorkloadError::out_of(STAGES, range, pairs.len()));
        }
        let rates = Range::FromZero(RATE_MAX, "1/s");
        let mut stages: Vec<Stage> = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let pair =
                pair.split_once(':').and_then(|(time, rate)| Some((seconds_of(time)?, rate.parse().ok()?)));
            let (time_s, to_per_s): (f64, f64) =
                pair.ok_or_else(|| wrong("pairs of a time and a rate, as in 1m:100,3m:500,30s:0"))?;
            if !rates.contains(to_per_s) {
                return Err(wrong(&format!("pairs of a time and a rate of {rates}")));
            }
            if !Range::FromZero(SECONDS_MAX, "seconds").contains(time_s) {
                return Err(wrong("pairs of a time from 0 to a day and a rate"));
            }
            let (begin_s, from_per_s, before) = match stages.last() {
                Some(last) => (last.end_s(), last.to_per_s, last.up_to_end()),
                None => (0.0, 0.0, 0.0),
            };
            stages.push(Stage { begin_s, time_s, from_per_s, to_per_s, before });
        }
        let stages = Stages(stages.into());
        let times = Range::AboveZero(SECONDS_MAX, "seconds");
        if !times.contains(stages.time_s()) {
            return Err(wrong(&format!("pairs of a time and a rate, of times that are together {times}")));
        }
        if stages.mean_per_s() == 0.0 {
            return Err(wrong("pairs of a time and a rate, of which one is not 0"));
        }
        Ok(stages)
    }
}

impl TryFrom<String> for Stages {
    type Error = WorkloadError;

    fn try_from(text: String) -> Result<Stages, WorkloadError> {
        text.parse()
    }
}

impl From<Stages> for String {
    fn from(stages: Stages) -> String {
        stages.to_string()
    }
}

impl Value for &mut Option<Stages> {
    fn form(&self) -> Form {
        Form::Text
    }

    fn print(&self) -> Option<String> {
        self.as_ref().map(Stages::to_string)
    }

    fn parse(&mut self, _: &'static str, text: &str) -> Result<(), WorkloadError> {
        **self = Some(text.parse()?);
        Ok(())
    }
}

/// Checks that stages are in place of a rate, and that the duration is theirs.
pub(super) fn check_stages(
    stages: Option<&Stages>,
    rate: Option<f64>,
    duration_s: Option<f64>,
) -> Result<(), WorkloadError> {
    let Some(stages) = stages else { return Ok(()) };
    let conflict = |setting| Err(WorkloadError::Conflict { setting, other: STAGES });
    match rate {
        Some(_) => conflict("rate"),
        // JSON may have changed the last digit.
        None if duration_s.is_none_or(|time_s| (time_s / stages.time_s() - 1.0).abs() > 1e-9) => {
            conflict("duration")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(text: &str) -> Stages {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn each_stage_ramps_from_the_rate_before_it_within_its_time() {
        let stages = stages("1m:100, 3m:500,0s:20,30s:0");
        let ramps: Vec<_> = stages
            .all()
            .iter()
            .map(|stage| (stage.begin_s, stage.end_s(), stage.from_per_s, stage.to_per_s, stage.before))
            .collect();
        assert_eq!(
            ramps,
            [
                (0.0, 60.0, 0.0, 100.0, 0.0),
                (60.0, 240.0, 100.0, 500.0, 3_000.0),
                (240.0, 240.0, 500.0, 20.0, 57_000.0),
                (240.0, 270.0, 20.0, 0.0, 57_000.0),
            ]
        );
        assert_eq!(stages.time_s(), 270.0);
        assert!((stages.mean_per_s() - 57_300.0 / 270.0).abs() < 1e-9);
        assert_eq!(stages.to_string(), "60s:100,180s:500,0s:20,30s:0");
        assert_eq!(stages.to_string().parse(), Ok(stages));
    }

    /// The integral of the rate by hand, up to a time within the stage.
    fn integral(stage: &Stage, time_s: f64) -> f64 {
        let own_s = time_s - stage.begin_s;
        let rate_then = stage.from_per_s + (stage.to_per_s - stage.from_per_s) * own_s / stage.time_s;
        stage.before + (stage.from_per_s + rate_then) / 2.0 * own_s
    }

    #[test]
    fn times_are_the_inverse_of_the_integral_of_the_rate() {
        for text in ["10s:100", "10s:100,10s:100", "0s:50,10s:0", "1h:0.001,250ms:1000000,1s:3,7s:900"] {
            for stage in stages(text).all().iter().filter(|stage| stage.time_s > 0.0) {
                for part in 0..=1_000 {
                    let operations =
                        stage.before + (stage.up_to_end() - stage.before) * f64::from(part) / 1e3;
                    let time_s = stage.time_of(operations);
                    assert!((stage.begin_s..=stage.end_s()).contains(&time_s), "{text}: {time_s}");
                    let error = integral(stage, time_s) - operations;
                    assert!(error.abs() <= 1e-7 * stage.up_to_end().max(1e-3), "{text}: {time_s} s, {error}");
                }
            }
        }
        let steady = stages("10s:100,10s:100").all()[1];
        assert_eq!(
            (steady.time_of(500.0), steady.time_of(501.0), steady.time_of(1_000.0)),
            (10.0, 10.01, 15.0)
        );
    }

    #[test]
    fn what_is_no_schedule_is_refused_in_a_line() {
        let pairs = "stages must be pairs of a time and a rate";
        for (text, error) in [
            ("", format!("{pairs}, as in 1m:100,3m:500,30s:0, got ")),
            ("1m", format!("{pairs}, as in 1m:100,3m:500,30s:0, got 1m")),
            ("1m:5,", format!("{pairs}, as in 1m:100,3m:500,30s:0, got 1m:5,")),
            ("1 week:5", format!("{pairs}, as in 1m:100,3m:500,30s:0, got 1 week:5")),
            ("1m:fast", format!("{pairs}, as in 1m:100,3m:500,30s:0, got 1m:fast")),
            ("1m:5:6", format!("{pairs}, as in 1m:100,3m:500,30s:0, got 1m:5:6")),
            ("1m:-5", format!("{pairs} of 0 to 1,000,000 1/s, got 1m:-5")),
            ("1m:NaN", format!("{pairs} of 0 to 1,000,000 1/s, got 1m:NaN")),
            ("1m:1000001", format!("{pairs} of 0 to 1,000,000 1/s, got 1m:1000001")),
            ("-1:5", "stages must be pairs of a time from 0 to a day and a rate, got -1:5".to_owned()),
            ("inf:5", "stages must be pairs of a time from 0 to a day and a rate, got inf:5".to_owned()),
            (
                "0s:0",
                format!("{pairs}, of times that are together above 0 and at most 86,400 seconds, got 0s:0"),
            ),
            (
                "0s:200",
                format!("{pairs}, of times that are together above 0 and at most 86,400 seconds, got 0s:200"),
            ),
            (
                "24h:1,1s:1",
                format!(
                    "{pairs}, of times that are together above 0 and at most 86,400 seconds, got 24h:1,1s:1"
                ),
            ),
            ("1m:0,2m:0", format!("{pairs}, of which one is not 0, got 1m:0,2m:0")),
            ("1m:0,0s:7", format!("{pairs}, of which one is not 0, got 1m:0,0s:7")),
        ] {
            assert_eq!(text.parse::<Stages>().unwrap_err().to_string(), error, "{text}");
        }
        let many = vec!["1s:1"; 101].join(",");
        let error = many.parse::<Stages>().unwrap_err().to_string();
        assert_eq!(error, "stages must be at most 100 pairs of a time and a rate, got 101");
        assert_eq!(stages(&many[5..]).all().len(), 100);
    }
}
