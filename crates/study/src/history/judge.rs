//! Finds the changes of series.

use klatch_record::{HistoryChange, HistorySeries, SeriesKind};
use klatch_stats::{Design, Row, StatsError, changes, differences, ratio_of_geometric_means};

use crate::history::HistoryTerms;
use crate::history::series::Draft;

/// Seed of the permutations. It is fixed, so that the same results have the same changes.
const SEED: u64 = 1;
/// Confidence of the intervals of changes.
const CONFIDENCE: f64 = 0.95;
/// Fewest points in which a change can be found: fewer have too few permutations.
pub(super) const POINTS_MIN: usize = 6;
/// Fewest starts of a duet that tell a change from chance.
const STARTS_MIN: usize = 3;

/// The series with their changes, judged by all CPUs.
pub(super) fn judged(mut drafts: Vec<Draft>, terms: &HistoryTerms) -> Vec<HistorySeries> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Neighbours are about equally long.
    let next = std::sync::Mutex::new(drafts.iter_mut());
    let take = || next.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(draft) = take() {
                    judge(draft, terms.significance);
                }
            });
        }
    });
    drafts.into_iter().map(|draft| draft.series).collect()
}

fn judge(draft: &mut Draft, significance: f64) {
    let series = &draft.series;
    let found = match &series.kind {
        SeriesKind::Chained { .. } => steps(series, &draft.ratios, significance),
        SeriesKind::Values | SeriesKind::AgainstBase { .. } | SeriesKind::Ratios => {
            levels(series, significance)
        }
    };
    match found {
        Ok(changes) => draft.series.changes = changes,
        Err(why) => draft.series.unjudged = Some(why),
    }
}

/// The changes of level of values that are independent of each other.
fn levels(series: &HistorySeries, significance: f64) -> Result<Vec<HistoryChange>, String> {
    let points = &series.points;
    if points.len() < POINTS_MIN {
        return Err(format!("changes need at least {POINTS_MIN} points"));
    }
    if let Some(point) = points.iter().find(|point| !(point.value > 0.0 && point.value.is_finite())) {
        return Err(format!("ratios need values above 0, and that of {} is {}", point.label, point.value));
    }
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let found = changes(&logs, significance, SEED).map_err(|error| error.to_string())?;
    let places: Vec<usize> = found.iter().map(|change| change.at).collect();
    let ends: Vec<usize> = std::iter::once(0).chain(places).chain([values.len()]).collect();
    let change = |ends: &[usize]| {
        let (before, after) = (&values[ends[0]..ends[1]], &values[ends[1]..ends[2]]);
        let interval = ratio_of_geometric_means(before, after, Design::Unpaired, CONFIDENCE);
        let interval = interval.ok().map(|ratio| ratio.interval);
        let mean = |values: &[f64]| values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
        HistoryChange {
            after: points[ends[1] - 1].label.clone(),
            since: points[ends[1]].label.clone(),
            at: ends[1] as u32,
            ratio: (mean(after) - mean(before)).exp(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    };
    Ok(ends.windows(3).map(change).collect())
}

/// The duets of a chain that show a difference, by Holm's method for all together. Their product is no series of independent values:
/// each has the errors of all before it.
fn steps(
    series: &HistorySeries,
    ratios: &[Vec<f64>],
    significance: f64,
) -> Result<Vec<HistoryChange>, String> {
    let judged: Vec<usize> = (0..ratios.len()).filter(|place| ratios[*place].len() >= STARTS_MIN).collect();
    if judged.is_empty() {
        return Err(format!("a duet of a chain needs at least {STARTS_MIN} starts"));
    }
    let row = |place: &usize| Row { differences: &ratios[*place], least_error: 0.0 };
    let rows: Vec<Row<'_>> = judged.iter().map(row).collect();
    let wrong = |error: StatsError| error.to_string();
    let all = differences(&rows, 1.0 - significance, 1).map_err(wrong)?;
    let change = |place: usize| {
        let point = &series.points[place];
        let step = point.step;
        let ratios = &ratios[place];
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        HistoryChange {
            after: point.base.clone().unwrap_or_default(),
            since: point.label.clone(),
            at: place as u32,
            ratio: step.map_or(mean.exp(), |step| step.estimate),
            low: step.map(|step| step.low),
            high: step.map(|step| step.high),
        }
    };
    let shown = judged.iter().zip(&all).filter(|(_, difference)| difference.is_shown);
    Ok(shown.map(|(place, _)| change(*place)).collect())
}
