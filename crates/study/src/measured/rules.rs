//! The table `[rules]` of a study file.

use std::ops::RangeInclusive;
use std::time::Duration;

use klatch_record::{METRICS, Metric, StudyAxis, TIME_FORMS, range_in_words, seconds_of};
use klatch_stats::Sequential;
use serde::Deserialize;
use toml::Spanned;

use crate::file::{Scalar, StudyFile, StudyFileError};
use crate::series::{DuetTimes, Preset, Rules, StopRule};

/// With fewer first trials some series converge by chance: docs/reference/method.md.
const FIRST_MIN: u32 = Sequential::FIRST_MIN as u32;

/// Run rules: a preset, and the values that differ from it.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesTable {
    /// Name of the rules to start from; docs/reference/method.md gives the source of each.
    #[serde(default)]
    preset: Preset,
    /// Warm-up runs after each start of the server, which do not count.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    warmups: Option<Spanned<u32>>,
    /// Trials before the first check, at least 8. Every interval takes its scatter from them.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    trials_min: Option<Spanned<u32>>,
    /// Most trials. Up to 8, and under a preset with a fixed number, exactly this number is made.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    trials_max: Option<Spanned<u32>>,
    /// Under the preset `ibm-2000`: starts of the server, 1 to 100, each with its warm-ups and all trials; one by default. With more
    /// than one, every interval is that of the starts' means.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u32>"))]
    starts: Option<Spanned<u32>>,
    /// Half-width of the interval, or the difference between agreeing trials, at which a cell has enough, percent.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    within_percent: Option<Spanned<f64>>,
    /// Confidence level of every interval, percent.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    confidence_percent: Option<Spanned<f64>>,
    /// The metric that decides when a cell has enough trials: by default the throughput.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::measured::MetricSchema>"))]
    metric: Option<Spanned<String>>,
    /// Under the presets `duet` and `quick`: the axis whose first value is the reference of the others; `platform` by default.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    compare: Option<Spanned<String>>,
    /// Time after each start of the server that does not count, up to 10 minutes: `12s`. Under the presets `duet` and `quick` 1 s by
    /// default, or 6 s if one side runs on Java; under others one run of this length, in place of `warmups`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::file::AnyScalar>"))]
    warmup: Option<Spanned<Scalar>>,
    /// Under the presets `duet` and `quick`: time of each start that counts, 2 s to 1 h. By default 5 s, or 14 s if one side runs on
    /// Java; 3 s under `quick`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::file::AnyScalar>"))]
    duration: Option<Spanned<Scalar>>,
}

impl RulesTable {
    /// Checks the table, and applies it to its preset.
    pub(crate) fn rules(&self, source: &StudyFile) -> Result<Rules, StudyFileError> {
        let mut rules = self.preset.rules();
        if let Some(name) = &self.metric {
            rules.metric = metric(source, name)?;
        }
        let many_trials_per_start = rules.trials_per_visit > 1;
        if let Some(warmups) = within(source, "warm-up count", &self.warmups, 0, 1000)? {
            rules.warmups = warmups;
        }
        rules.stop = self.stop_rule(rules.stop, source)?;
        let starts = within(source, "starts", &self.starts, 1, 100)?;
        match (rules.stop, &self.starts) {
            (StopRule::Trials(trials), _) if many_trials_per_start => {
                rules.trials_per_visit = trials;
                rules.stop = StopRule::Trials(trials * starts.unwrap_or(1));
            }
            (_, Some(starts)) => {
                let message =
                    "starts belongs to the preset ibm-2000; under others trials_max is their number";
                return Err(source.error_at(starts.span(), message.to_owned()));
            }
            (_, None) => {}
        }
        if let Some(confidence) = percent(source, "confidence_percent", &self.confidence_percent)? {
            rules.confidence = confidence;
        }
        rules.duet = DuetTimes {
            warmup: time(source, "warmup", &self.warmup, 0.0..=600.0)?.or(rules.duet.warmup),
            counted: self.duet_time(source, "duration", &self.duration, 2.0..=3600.0)?.or(rules.duet.counted),
        };
        if let (Some(warmup), false) = (&self.warmup, self.is_duet()) {
            if self.warmups.is_some() {
                let message = "a start has warmups, which is a number of runs, or a warmup, which is a time";
                return Err(source.error_at(warmup.span(), message.to_owned()));
            }
            rules.duet.warmup = rules.duet.warmup.filter(|time| !time.is_zero());
            rules.warmups = u32::from(rules.duet.warmup.is_some());
        }
        Ok(rules)
    }

    pub(crate) fn is_duet(&self) -> bool {
        self.preset.is_of_duets()
    }

    /// The rules of another preset, with the metric and the compared axis of this table.
    pub(crate) fn of_preset(&self, preset: Preset) -> RulesTable {
        let compare = self.compare.clone().filter(|_| preset.is_of_duets());
        RulesTable { preset, metric: self.metric.clone(), compare, ..RulesTable::default() }
    }

    /// The axis along which duets compare; `None` under another preset.
    pub(crate) fn compared_axis(
        &self,
        axes: &[StudyAxis],
        source: &StudyFile,
    ) -> Result<Option<String>, StudyFileError> {
        match (&self.compare, self.is_duet()) {
            (Some(axis), false) => {
                Err(source.error_at(axis.span(), "compare belongs to the presets duet and quick".to_owned()))
            }
            (_, false) => Ok(None),
            (compare, true) => {
                let name = compare.as_ref().map_or("platform", |axis| axis.get_ref());
                let span = compare.as_ref().map_or(0..0, Spanned::span);
                let known = axes.iter().find(|axis| axis.name == name);
                if known.is_some_and(|axis| axis.values.len() > 1) {
                    return Ok(Some(name.to_owned()));
                }
                let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
                let message = format!(
                    "a duet compares the values of an axis with its first one, and {name} does not have two values; \
                     name an axis with compare: {}",
                    names.join(", ")
                );
                Err(source.error_at(span, message))
            }
        }
    }

    /// A time of a duet's starts.
    fn duet_time(
        &self,
        source: &StudyFile,
        key: &str,
        value: &Option<Spanned<Scalar>>,
        range: RangeInclusive<f64>,
    ) -> Result<Option<Duration>, StudyFileError> {
        match value.as_ref().filter(|_| !self.is_duet()) {
            Some(value) => {
                Err(source.error_at(value.span(), format!("{key} belongs to the presets duet and quick")))
            }
            None => time(source, key, value, range),
        }
    }

    /// The stop rule of the preset with the values of the table.
    fn stop_rule(&self, preset: StopRule, source: &StudyFile) -> Result<StopRule, StudyFileError> {
        let name = self.preset.name();
        let least = within(source, "trials_min", &self.trials_min, 2, 1000)?;
        let most = within(source, "trials_max", &self.trials_max, 2, 1000)?;
        let share = percent(source, "within_percent", &self.within_percent)?;
        if let (Some(trials_min), false) = (&self.trials_min, matches!(preset, StopRule::Converged { .. })) {
            let message = format!("{name} has no trials_min; it has trials_max");
            return Err(source.error_at(trials_min.span(), message));
        }
        match preset {
            StopRule::Trials(trials) => {
                let message =
                    || format!("{name} makes a fixed number of trials, so it has no within_percent");
                self.refuse_within_percent(message, source)?;
                Ok(StopRule::Trials(most.unwrap_or(trials)))
            }
            StopRule::Agree { within, trials_max } => Ok(StopRule::Agree {
                within: share.unwrap_or(within),
                trials_max: most.unwrap_or(trials_max).max(3),
            }),
            StopRule::Converged { within, trials_min, trials_max } => {
                let (first, last) = (least.unwrap_or(trials_min), most.unwrap_or(trials_max));
                // So few trials are checked only once, at the end.
                if last <= first && (least.is_none() || least == most) {
                    let message =
                        || format!("{last} trials are a fixed number, so there is no within_percent");
                    self.refuse_within_percent(message, source)?;
                    return Ok(StopRule::Trials(last));
                }
                self.check_convergence(first, last, source)?;
                let within = share.unwrap_or(within);
                Ok(StopRule::Converged { within, trials_min: first, trials_max: last })
            }
        }
    }

    fn refuse_within_percent(
        &self,
        message: impl Fn() -> String,
        source: &StudyFile,
    ) -> Result<(), StudyFileError> {
        match &self.within_percent {
            Some(value) => Err(source.error_at(value.span(), message())),
            None => Ok(()),
        }
    }

    /// Refuses numbers of trials that do not fit the sequential rule.
    fn check_convergence(&self, first: u32, last: u32, source: &StudyFile) -> Result<(), StudyFileError> {
        let span = |value: &Option<Spanned<u32>>| value.as_ref().map_or(0..0, Spanned::span);
        if first < FIRST_MIN {
            let message = format!(
                "trials_min must be at least {FIRST_MIN} unless the number of trials is fixed, got {first}; \
                 give trials_max alone for a fixed number"
            );
            return Err(source.error_at(span(&self.trials_min), message));
        }
        if last < 2 * first {
            let message = format!(
                "trials_max must be at least {}, twice trials_min, or at most {FIRST_MIN} for a fixed number, \
                 got {last}",
                2 * first
            );
            let at = if self.trials_max.is_some() { &self.trials_max } else { &self.trials_min };
            return Err(source.error_at(span(at), message));
        }
        Ok(())
    }
}

/// A time of a range, in seconds.
fn time(
    source: &StudyFile,
    key: &str,
    value: &Option<Spanned<Scalar>>,
    range: RangeInclusive<f64>,
) -> Result<Option<Duration>, StudyFileError> {
    let Some(value) = value else { return Ok(None) };
    let text = &value.get_ref().0;
    let not_a_time = || source.error_at(value.span(), format!("{key} must be {TIME_FORMS}, got {text}"));
    let seconds = seconds_of(text).ok_or_else(not_a_time)?;
    if !range.contains(&seconds) {
        let message = format!(
            "{key} must be {} seconds, got {text}",
            range_in_words(*range.start() as u64, *range.end() as u64)
        );
        return Err(source.error_at(value.span(), message));
    }
    Ok(Some(Duration::from_secs_f64(seconds)))
}

fn within(
    source: &StudyFile,
    what: &str,
    value: &Option<Spanned<u32>>,
    least: u32,
    most: u32,
) -> Result<Option<u32>, StudyFileError> {
    let Some(value) = value else { return Ok(None) };
    let number = *value.get_ref();
    let inside = (least..=most).contains(&number);
    let error = || {
        source.error_at(value.span(), format!("{what} must be {}, got {number}", range_in_words(least, most)))
    };
    inside.then_some(Some(number)).ok_or_else(error)
}

/// A percentage above 0 and below 100, as a share.
fn percent(
    source: &StudyFile,
    what: &str,
    value: &Option<Spanned<f64>>,
) -> Result<Option<f64>, StudyFileError> {
    let Some(value) = value else { return Ok(None) };
    let number = *value.get_ref();
    let inside = number > 0.0 && number < 100.0;
    let error =
        || source.error_at(value.span(), format!("{what} must be above 0 and below 100, got {number}"));
    inside.then_some(Some(number / 100.0)).ok_or_else(error)
}

/// The metric of this name, of those that measured trials have an estimate of.
fn metric(source: &StudyFile, name: &Spanned<String>) -> Result<&'static Metric, StudyFileError> {
    let known: Vec<&'static Metric> = METRICS.iter().filter(|metric| metric.is_estimated()).collect();
    known.iter().find(|metric| metric.name == name.get_ref()).copied().ok_or_else(|| {
        let instead = Metric::instead_of(name.get_ref(), &known);
        source.error_at(name.span(), format!("there is no metric {}; {instead}", name.get_ref()))
    })
}
