//! The table `[rules]` of a study file.

use klatch_stats::Sequential;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::place::{Source, StudyFileError};
use crate::series::{Enough, Metric, Preset, Rules};

/// Fewer first trials let lucky series converge: docs/reference/method.md.
const FIRST_MIN: u32 = Sequential::FIRST_MIN as u32;

/// What is discarded, how many trials there are, when it is enough: a preset, and what differs from it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesTable {
    /// Rules by name; docs/reference/method.md tells where each comes from.
    #[serde(default)]
    preset: Preset,
    /// Runs after each start of the server that do not count.
    #[schemars(with = "Option<u32>")]
    warmups: Option<Spanned<u32>>,
    /// Trials before the first look; at least 8. Every interval takes its scatter from them.
    #[schemars(with = "Option<u32>")]
    trials_min: Option<Spanned<u32>>,
    /// Trials at most. Up to 8 of them are a fixed number, as are those of a preset that has one.
    #[schemars(with = "Option<u32>")]
    trials_max: Option<Spanned<u32>>,
    /// How narrow it must be, per cent.
    #[schemars(with = "Option<f64>")]
    within_percent: Option<Spanned<f64>>,
    /// Confidence of every interval, per cent.
    #[schemars(with = "Option<f64>")]
    confidence_percent: Option<Spanned<f64>>,
    /// What is looked at to see whether the trials are enough.
    #[serde(default)]
    metric: Metric,
}

impl RulesTable {
    /// The rules that this means.
    pub(crate) fn rules(&self, source: &Source<'_>) -> Result<Rules, StudyFileError> {
        let mut rules = Rules { metric: self.metric, ..self.preset.rules() };
        let one_start = rules.trials_per_visit > 1;
        if let Some(warmups) = within(source, "warm-up count", &self.warmups, 0, 1000)? {
            rules.warmups = warmups;
        }
        let least = within(source, "trials_min", &self.trials_min, 2, 1000)?;
        let most = within(source, "trials_max", &self.trials_max, 2, 1000)?;
        let share = percent(source, "within_percent", &self.within_percent)?;
        let alien = |what: &Option<Spanned<u32>>| {
            let span = what.as_ref().map_or(0..0, Spanned::span);
            Err(source.wrong(span, format!("{} has no trials_min; it has trials_max", self.preset.name())))
        };
        match &mut rules.enough {
            Enough::Trials(trials) => {
                if least.is_some() {
                    return alien(&self.trials_min);
                }
                if let Some(span) = self.within_percent.as_ref().map(Spanned::span) {
                    let message = format!(
                        "{} makes a fixed number of trials, so it has no within_percent",
                        self.preset.name()
                    );
                    return Err(source.wrong(span, message));
                }
                *trials = most.unwrap_or(*trials);
                if one_start {
                    rules.trials_per_visit = *trials;
                }
            }
            Enough::Agree { within, trials_max } => {
                if least.is_some() {
                    return alien(&self.trials_min);
                }
                *within = share.unwrap_or(*within);
                *trials_max = most.unwrap_or(*trials_max).max(3);
            }
            Enough::Converged { within, trials_min, trials_max } => {
                *within = share.unwrap_or(*within);
                let (first, last) = (least.unwrap_or(*trials_min), most.unwrap_or(*trials_max));
                let span = |value: &Option<Spanned<u32>>| value.as_ref().map_or(0..0, Spanned::span);
                // So few trials are looked at once, when all have been made.
                if last <= first && (least.is_none() || least == most) {
                    if let Some(span) = self.within_percent.as_ref().map(Spanned::span) {
                        let message =
                            format!("{last} trials are a fixed number, so there is no within_percent");
                        return Err(source.wrong(span, message));
                    }
                    rules.enough = Enough::Trials(last);
                } else if first < FIRST_MIN {
                    let message = format!(
                        "trials_min must be at least {FIRST_MIN} where the trials say when they are enough, got {first}; \
                         give trials_max alone for a fixed number"
                    );
                    return Err(source.wrong(span(&self.trials_min), message));
                } else if last < 2 * first {
                    let message = format!(
                        "trials_max must be at least {}, twice trials_min, where the trials say when they are enough, \
                         or at most {FIRST_MIN} for a fixed number, got {last}",
                        2 * first
                    );
                    let at = if self.trials_max.is_some() { &self.trials_max } else { &self.trials_min };
                    return Err(source.wrong(span(at), message));
                } else {
                    (*trials_min, *trials_max) = (first, last);
                }
            }
        }
        if let Some(confidence) = percent(source, "confidence_percent", &self.confidence_percent)? {
            rules.confidence = confidence;
        }
        Ok(rules)
    }
}

fn within(
    source: &Source<'_>,
    what: &str,
    value: &Option<Spanned<u32>>,
    least: u32,
    most: u32,
) -> Result<Option<u32>, StudyFileError> {
    let Some(value) = value else { return Ok(None) };
    let number = *value.get_ref();
    let inside = (least..=most).contains(&number);
    let wrong = || source.wrong(value.span(), format!("{what} must be {least}..={most}, got {number}"));
    inside.then_some(Some(number)).ok_or_else(wrong)
}

/// A share of more than nothing and less than all.
fn percent(
    source: &Source<'_>,
    what: &str,
    value: &Option<Spanned<f64>>,
) -> Result<Option<f64>, StudyFileError> {
    let Some(value) = value else { return Ok(None) };
    let number = *value.get_ref();
    let inside = number > 0.0 && number < 100.0;
    let wrong = || source.wrong(value.span(), format!("{what} must be above 0 and below 100, got {number}"));
    inside.then_some(Some(number / 100.0)).ok_or_else(wrong)
}
