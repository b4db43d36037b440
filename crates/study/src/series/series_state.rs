//! Whether a cell has enough trials, and its verdict.

use klatch_record::CellStatus;
use klatch_stats::{Interval, Sequential, StopDecision, mean_interval, summary};

use super::rules::{Preset, Rules, StopRule};

/// A cell has failed after this many failed visits; a single failure can be an accident.
const FAILED_VISITS_MAX: usize = 2;

/// The trials of one visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Visit {
    /// The metric of every valid trial, in order.
    pub(crate) trials: Vec<f64>,
    /// Why the visit ended early, if it did.
    pub(crate) failure: Option<String>,
}

/// The state of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SeriesState {
    /// The cell needs another visit.
    Open,
    /// The cell needs no more visits.
    Settled(Settled),
}

/// The outcome of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settled {
    pub(crate) status: CellStatus,
    /// The status with its reason and precision, for people.
    pub(crate) verdict: String,
    /// Indices of the trials that count, among the trials of visits that neither failed nor were discarded.
    pub(crate) counted: Vec<usize>,
    /// The interval of the rules' metric, where the stop rule computes it.
    pub(crate) interval: Option<Interval>,
}

/// The state of a cell after these visits, in order and including the discarded ones.
pub(crate) fn series_state(rules: &Rules, visits: &[Visit]) -> SeriesState {
    let failures: Vec<&String> = visits.iter().filter_map(|visit| visit.failure.as_ref()).collect();
    if failures.len() >= FAILED_VISITS_MAX {
        let verdict = format!("failed: {}", failures[failures.len() - 1]);
        return settled(CellStatus::Failed, verdict, Vec::new());
    }
    let discarded = rules.visits_discarded as usize;
    let succeeded: Vec<&Visit> = visits.iter().filter(|visit| visit.failure.is_none()).collect();
    let values: Vec<f64> =
        succeeded.iter().skip(discarded).flat_map(|visit| visit.trials.iter().copied()).collect();
    match rules.stop {
        StopRule::Trials(trials) => fixed(rules, &values, trials as usize),
        StopRule::Agree { within, trials_max } => agree(&values, within, trials_max as usize),
        StopRule::Converged { within, trials_min, trials_max } => {
            let (first, most) = (trials_min as usize, trials_max as usize);
            let rule = Sequential::new(first, most, within, rules.confidence);
            converge(&rule.expect("run rules are checked when a study file is parsed"), &values, most)
        }
    }
}

fn settled(status: CellStatus, verdict: String, counted: Vec<usize>) -> SeriesState {
    SeriesState::Settled(Settled { status, verdict, counted, interval: None })
}

fn fixed(rules: &Rules, values: &[f64], trials: usize) -> SeriesState {
    if values.len() < trials {
        return SeriesState::Open;
    }
    if rules.preset == Preset::Volano1999 {
        let verdict = format!("complete: the best two of {trials}");
        return settled(CellStatus::Complete, verdict, best_two(values));
    }
    // As in the study of 2000, the width is reported after a fixed number of trials.
    let independent = rules.independent(values);
    let width = mean_interval(&independent, rules.confidence).map(|interval| interval.relative_half_width());
    let width =
        width.map_or_else(|_| String::new(), |width| format!(", {}", reached(width, rules.confidence)));
    let starts = match independent.len() {
        starts if starts < trials => format!(" in {starts} starts"),
        _ => String::new(),
    };
    let verdict = format!("complete: {trials} trials{starts}{width}");
    settled(CellStatus::Complete, verdict, (0..values.len()).collect())
}

fn best_two(values: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    places.truncate(2);
    places.sort_unstable();
    places
}

fn agree(values: &[f64], within: f64, trials_max: usize) -> SeriesState {
    let Some(first) = values.len().checked_sub(3) else { return SeriesState::Open };
    let spread = summary(&values[first..]).map_or(f64::INFINITY, |of| (of.max - of.min) / of.mean);
    let counted = (first..values.len()).collect();
    let agreement = format!("three trials within {:.1} %", spread * 100.0);
    if spread <= within {
        settled(CellStatus::Converged, format!("converged: {agreement}"), counted)
    } else if values.len() >= trials_max {
        settled(
            CellStatus::NotConverged,
            format!("not converged after {} trials: {agreement}", values.len()),
            counted,
        )
    } else {
        SeriesState::Open
    }
}

fn converge(rule: &Sequential, values: &[f64], most: usize) -> SeriesState {
    let with_interval = |status, words: &str, interval: Interval| {
        let (reached, trials) = (reached(interval.relative_half_width(), interval.confidence), values.len());
        let verdict = format!("{words}: {reached} after {trials} trials");
        let counted = (0..trials).collect();
        SeriesState::Settled(Settled { status, verdict, counted, interval: Some(interval) })
    };
    match rule.evaluate(values) {
        Ok(StopDecision::Open) => SeriesState::Open,
        Ok(StopDecision::Converged(interval)) => with_interval(CellStatus::Converged, "converged", interval),
        Ok(StopDecision::Exhausted(interval)) => {
            // An interval can be narrow enough and still not count as converged; then the verdict gives the reason.
            let words = match interval.is_within(rule.within()) {
                true => "not converged, as the scatter may be underestimated",
                false => "not converged",
            };
            with_interval(CellStatus::NotConverged, words, interval)
        }
        Err(_) if values.len() < most => SeriesState::Open,
        Err(error) => {
            let verdict = format!("not converged after {} trials: {error}", values.len());
            settled(CellStatus::NotConverged, verdict, (0..values.len()).collect())
        }
    }
}

fn reached(width: f64, confidence: f64) -> String {
    format!("±{:.1} % at {:.0} % confidence", width * 100.0, confidence * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(values: &[f64]) -> Vec<Visit> {
        values.iter().map(|&value| Visit { trials: vec![value], failure: None }).collect()
    }

    fn outcome(rules: &Rules, visits: &[Visit]) -> Settled {
        match series_state(rules, visits) {
            SeriesState::Settled(settled) => settled,
            SeriesState::Open => panic!("still open"),
        }
    }

    #[test]
    fn a_quiet_series_converges_at_the_first_check() {
        let rules = Preset::Converge.rules();
        let quiet = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.5, 99.5];
        assert_eq!(series_state(&rules, &visits(&quiet[..7])), SeriesState::Open);
        let settled = outcome(&rules, &visits(&quiet));
        assert_eq!(settled.status, CellStatus::Converged);
        assert_eq!(settled.verdict, "converged: ±0.7 % at 95 % confidence after 8 trials");
        assert_eq!(settled.counted.len(), 8);
        assert!(settled.interval.unwrap().contains(100.0));
    }

    #[test]
    fn a_wide_series_ends_as_not_converged_with_its_width() {
        let rules = Preset::Converge.rules();
        let wide: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 50.0 } else { 150.0 }).collect();
        assert_eq!(series_state(&rules, &visits(&wide[..19])), SeriesState::Open);
        let settled = outcome(&rules, &visits(&wide));
        assert_eq!(settled.status, CellStatus::NotConverged);
        assert_eq!(settled.verdict, "not converged: ±28.3 % at 95 % confidence after 20 trials");
    }

    #[test]
    fn a_narrow_interval_from_a_possibly_underestimated_scatter_is_not_converged() {
        let rules = Preset::Converge.rules();
        let nearly: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 91.6 } else { 108.4 }).collect();
        let settled = outcome(&rules, &visits(&nearly));
        assert_eq!(settled.status, CellStatus::NotConverged);
        let words = "not converged, as the scatter may be underestimated: ±4.7 %";
        assert!(settled.verdict.starts_with(words), "{}", settled.verdict);
    }

    #[test]
    fn a_metric_that_cannot_be_measured_ends_the_series_with_the_reason() {
        let rules = Preset::Converge.rules();
        let settled = outcome(&rules, &visits(&[f64::NAN; 20]));
        assert_eq!(settled.status, CellStatus::NotConverged);
        assert!(settled.verdict.contains("values must be finite"), "{}", settled.verdict);
    }

    #[test]
    fn volano_1999_discards_the_first_trial_and_counts_the_best_two_of_three() {
        let rules = Preset::Volano1999.rules();
        assert_eq!(rules.visits(), (4, 4));
        // The row of IBM JDK 1.1.7 on OS/2 in the report of 1999, after a slow first run.
        assert_eq!(series_state(&rules, &visits(&[900.0, 1832.0, 1867.0])), SeriesState::Open);
        assert_eq!(outcome(&rules, &visits(&[900.0, 1832.0, 1867.0, 1847.0])).counted, [1, 2]);
    }

    #[test]
    fn ibm_2000_needs_five_trials_of_one_start() {
        let rules = Preset::Ibm2000.rules();
        assert_eq!((rules.visits(), rules.runs_per_visit()), ((1, 1), 6));
        let visit = Visit { trials: vec![10.0, 10.1, 9.9, 10.0, 10.0], failure: None };
        let settled = outcome(&rules, &[visit]);
        assert_eq!(settled.verdict, "complete: 5 trials, ±0.9 % at 95 % confidence");
        assert_eq!(settled.counted.len(), 5);
    }

    #[test]
    fn the_interval_of_several_starts_is_that_of_their_means() {
        let starts = Rules { stop: StopRule::Trials(15), ..Preset::Ibm2000.rules() };
        assert_eq!(starts.visits(), (3, 3));
        let visit =
            |mean: f64| Visit { trials: vec![mean - 0.1, mean, mean, mean, mean + 0.1], failure: None };
        assert_eq!(series_state(&starts, &[visit(9.0), visit(11.0)]), SeriesState::Open);
        let settled = outcome(&starts, &[visit(9.0), visit(11.0), visit(10.0)]);
        // Student's t for two degrees of freedom, 4.303, times 1 / sqrt(3), of a mean of 10.
        assert_eq!(settled.verdict, "complete: 15 trials in 3 starts, ±24.8 % at 95 % confidence");
        assert_eq!(settled.counted.len(), 15);
        assert!(
            starts.to_string().ends_with("for 5 trials after one warm-up run; mean of 3 starts"),
            "{starts}"
        );
    }

    #[test]
    fn websphere_2005_needs_three_trials_in_a_row_that_agree() {
        let rules = Preset::Websphere2005.rules();
        assert_eq!(series_state(&rules, &visits(&[80.0, 100.0, 100.0])), SeriesState::Open);
        let settled = outcome(&rules, &visits(&[80.0, 100.0, 100.0, 101.0]));
        assert_eq!((settled.status, settled.counted), (CellStatus::Converged, vec![1, 2, 3]));
    }

    #[test]
    fn two_failed_visits_and_not_one_fail_a_cell() {
        let rules = Preset::Converge.rules();
        let failed = |cause: &str| Visit { trials: Vec::new(), failure: Some(cause.into()) };
        let mut all = vec![failed("the server died")];
        all.extend(visits(&[100.0, 100.0, 100.5, 100.0, 100.0, 100.0, 100.0, 100.0]));
        assert_eq!(outcome(&rules, &all).status, CellStatus::Converged);
        all.push(failed("no memory"));
        let settled = outcome(&rules, &all);
        assert_eq!((settled.status, settled.verdict.as_str()), (CellStatus::Failed, "failed: no memory"));
    }
}
