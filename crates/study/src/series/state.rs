//! Whether a cell has been measured enough, and what came of it.

use klatch_record::CellStatus;
use klatch_stats::{Interval, Look, Sequential, mean_interval, summary};

use super::rules::{Enough, Preset, Rules};

/// A cell is given up when so many of its visits have failed: once can be an accident.
const FAILED_VISITS_MAX: usize = 2;

/// What came of one visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Visit {
    /// The metric of every valid trial, in order.
    pub(crate) trials: Vec<f64>,
    /// Why it ended before all its trials were made.
    pub(crate) failure: Option<String>,
}

/// Where a cell stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// It needs another visit.
    Open,
    /// It needs no more.
    Done(Settled),
}

/// What came of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settled {
    /// The verdict.
    pub(crate) status: CellStatus,
    /// The same in words.
    pub(crate) verdict: String,
    /// The trials that count, as places in the row of all valid trials of visits that are not discarded.
    pub(crate) counted: Vec<usize>,
    /// The interval of the rules' metric, where the rule says which it is.
    pub(crate) interval: Option<Interval>,
}

/// Where a cell stands after these visits, in order, the discarded ones among them.
pub(crate) fn state(rules: &Rules, visits: &[Visit]) -> State {
    let failures: Vec<&String> = visits.iter().filter_map(|visit| visit.failure.as_ref()).collect();
    if failures.len() >= FAILED_VISITS_MAX {
        let verdict = format!("failed: {}", failures[failures.len() - 1]);
        return done(CellStatus::Failed, verdict, Vec::new());
    }
    let discarded = rules.visits_discarded as usize;
    let whole: Vec<&Visit> = visits.iter().filter(|visit| visit.failure.is_none()).collect();
    let values: Vec<f64> =
        whole.iter().skip(discarded).flat_map(|visit| visit.trials.iter().copied()).collect();
    match rules.enough {
        Enough::Trials(trials) => fixed(rules, &values, trials as usize),
        Enough::Agree { within, trials_max } => agree(&values, within, trials_max as usize),
        Enough::Converged { within, trials_min, trials_max } => {
            let (first, most) = (trials_min as usize, trials_max as usize);
            let rule = Sequential::new(first, most, within, rules.confidence);
            converge(&rule.expect("run rules are checked when they are read"), &values, most)
        }
    }
}

fn done(status: CellStatus, verdict: String, counted: Vec<usize>) -> State {
    State::Done(Settled { status, verdict, counted, interval: None })
}

fn fixed(rules: &Rules, values: &[f64], trials: usize) -> State {
    if values.len() < trials {
        return State::Open;
    }
    if rules.preset == Preset::Volano1999 {
        let verdict = format!("complete: the best two of {trials}");
        return done(CellStatus::Complete, verdict, best_two(values));
    }
    // As in 2000: convergence is looked at after a fixed number of trials.
    let width = mean_interval(values, rules.confidence).map(|interval| interval.relative_half_width());
    let width =
        width.map_or_else(|_| String::new(), |width| format!(", {}", reached(width, rules.confidence)));
    done(CellStatus::Complete, format!("complete: {trials} trials{width}"), (0..values.len()).collect())
}

fn best_two(values: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    places.truncate(2);
    places.sort_unstable();
    places
}

fn agree(values: &[f64], within: f64, trials_max: usize) -> State {
    let Some(first) = values.len().checked_sub(3) else { return State::Open };
    let spread = summary(&values[first..]).map_or(f64::INFINITY, |of| (of.max - of.min) / of.mean);
    let counted = (first..values.len()).collect();
    let told = format!("three trials within {:.1} %", spread * 100.0);
    if spread <= within {
        done(CellStatus::Converged, format!("converged: {told}"), counted)
    } else if values.len() >= trials_max {
        done(
            CellStatus::NotConverged,
            format!("not converged after {} trials: {told}", values.len()),
            counted,
        )
    } else {
        State::Open
    }
}

fn converge(rule: &Sequential, values: &[f64], most: usize) -> State {
    let settled = |status, words: &str, interval: Interval| {
        let (reached, trials) = (reached(interval.relative_half_width(), interval.confidence), values.len());
        let verdict = format!("{words}: {reached} after {trials} trials");
        let counted = (0..trials).collect();
        State::Done(Settled { status, verdict, counted, interval: Some(interval) })
    };
    match rule.look(values) {
        Ok(Look::Open) => State::Open,
        Ok(Look::Converged(interval)) => settled(CellStatus::Converged, "converged", interval),
        Ok(Look::Exhausted(interval)) => {
            // A narrow interval that is not taken for converged needs the reason.
            let words = match interval.is_within(rule.within()) {
                true => "not converged, as the scatter may have come out too small",
                false => "not converged",
            };
            settled(CellStatus::NotConverged, words, interval)
        }
        Err(_) if values.len() < most => State::Open,
        Err(error) => {
            let verdict = format!("not converged after {} trials: {error}", values.len());
            done(CellStatus::NotConverged, verdict, (0..values.len()).collect())
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

    fn settled(rules: &Rules, visits: &[Visit]) -> Settled {
        match state(rules, visits) {
            State::Done(settled) => settled,
            State::Open => panic!("still open"),
        }
    }

    #[test]
    fn a_quiet_series_converges_at_the_first_look() {
        let rules = Preset::Converge.rules();
        let quiet = [100.0, 101.0, 99.0, 100.0, 101.0, 99.0, 100.5, 99.5];
        assert_eq!(state(&rules, &visits(&quiet[..7])), State::Open);
        let settled = settled(&rules, &visits(&quiet));
        assert_eq!(settled.status, CellStatus::Converged);
        assert_eq!(settled.verdict, "converged: ±0.7 % at 95 % confidence after 8 trials");
        assert_eq!(settled.counted.len(), 8);
        assert!(settled.interval.unwrap().contains(100.0));
    }

    #[test]
    fn a_wide_series_is_given_up_with_the_width_it_reached() {
        let rules = Preset::Converge.rules();
        let wide: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 50.0 } else { 150.0 }).collect();
        assert_eq!(state(&rules, &visits(&wide[..19])), State::Open);
        let settled = settled(&rules, &visits(&wide));
        assert_eq!(settled.status, CellStatus::NotConverged);
        assert_eq!(settled.verdict, "not converged: ±28.3 % at 95 % confidence after 20 trials");
    }

    #[test]
    fn a_narrow_interval_of_a_scatter_that_may_be_luck_is_not_taken_for_converged() {
        let rules = Preset::Converge.rules();
        let nearly: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 91.6 } else { 108.4 }).collect();
        let settled = settled(&rules, &visits(&nearly));
        assert_eq!(settled.status, CellStatus::NotConverged);
        let words = "not converged, as the scatter may have come out too small: ±4.7 %";
        assert!(settled.verdict.starts_with(words), "{}", settled.verdict);
    }

    #[test]
    fn a_metric_that_cannot_be_observed_ends_with_the_reason() {
        let rules = Preset::Converge.rules();
        let settled = settled(&rules, &visits(&[f64::NAN; 20]));
        assert_eq!(settled.status, CellStatus::NotConverged);
        assert!(settled.verdict.contains("values must be finite"), "{}", settled.verdict);
    }

    #[test]
    fn the_volano_report_discards_the_first_and_takes_the_best_two_of_three() {
        let rules = Preset::Volano1999.rules();
        assert_eq!(rules.visits(), (4, 4));
        // The 1999 report's row of IBM JDK 1.1.7 on OS/2, after a slow first run.
        assert_eq!(state(&rules, &visits(&[900.0, 1832.0, 1867.0])), State::Open);
        assert_eq!(settled(&rules, &visits(&[900.0, 1832.0, 1867.0, 1847.0])).counted, [1, 2]);
    }

    #[test]
    fn five_of_one_start_are_enough_for_2000() {
        let rules = Preset::Ibm2000.rules();
        assert_eq!((rules.visits(), rules.runs_per_visit()), ((1, 1), 6));
        let visit = Visit { trials: vec![10.0, 10.1, 9.9, 10.0, 10.0], failure: None };
        let settled = settled(&rules, &[visit]);
        assert_eq!(settled.verdict, "complete: 5 trials, ±0.9 % at 95 % confidence");
        assert_eq!(settled.counted.len(), 5);
    }

    #[test]
    fn the_last_three_must_agree_for_2005() {
        let rules = Preset::Websphere2005.rules();
        assert_eq!(state(&rules, &visits(&[80.0, 100.0, 100.0])), State::Open);
        let settled = settled(&rules, &visits(&[80.0, 100.0, 100.0, 101.0]));
        assert_eq!((settled.status, settled.counted), (CellStatus::Converged, vec![1, 2, 3]));
    }

    #[test]
    fn one_failure_is_an_accident_and_two_are_a_failed_cell() {
        let rules = Preset::Converge.rules();
        let failed = |why: &str| Visit { trials: Vec::new(), failure: Some(why.into()) };
        let mut all = vec![failed("the server died")];
        all.extend(visits(&[100.0, 100.0, 100.5, 100.0, 100.0, 100.0, 100.0, 100.0]));
        assert_eq!(settled(&rules, &all).status, CellStatus::Converged);
        all.push(failed("no memory"));
        let settled = settled(&rules, &all);
        assert_eq!((settled.status, settled.verdict.as_str()), (CellStatus::Failed, "failed: no memory"));
    }
}
