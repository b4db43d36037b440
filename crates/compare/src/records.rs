//! How the records of one folder compare with those of another. The statistics: `docs/reference/method.md`.

use std::path::{Path, PathBuf};

use klatch_record::{
    COMPARISON_SCHEMA_NAME, Comparison, Estimator, MetricComparison, Noise, Record, Side, Unit, WarningKind,
};
use klatch_runner::{describe_noise, guard_series};
use klatch_stats::Design;

use crate::differ::{described, differences};
use crate::metrics::{METRICS, compared};
use crate::pair::{Pairing, pairing};
use crate::read::{CompareError, Read, cells, read};
use crate::starts::starts;

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// What is compared of each side.
    pub estimate: Estimator,
    /// How often an interval holds the true ratio, above 0 and below 1.
    pub confidence: f64,
}

/// Compares two records or folders of records; of two studies, every cell that both have.
///
/// # Errors
/// See [`CompareError`].
pub fn compare(a: &Path, b: &Path, terms: Terms) -> Result<Vec<Comparison>, CompareError> {
    let there = |path: &Path| {
        let wrong = |source| CompareError::Missing { path: path.to_owned(), source };
        path.canonicalize().map_err(wrong)
    };
    if there(a)? == there(b)? {
        return Err(CompareError::Same { a: a.to_owned(), b: b.to_owned() });
    }
    let (Some(of_a), Some(of_b)) = (cells(a), cells(b)) else {
        return Ok(vec![compare_records(None, &read(a)?, &read(b)?, terms)?]);
    };
    let both: Vec<&String> = of_a.iter().filter(|cell| of_b.contains(cell)).collect();
    if both.is_empty() {
        return Err(CompareError::NoCommonCell { a: of_a.join(", "), b: of_b.join(", ") });
    }
    let folder = |study: &Path, cell: &str| -> PathBuf { study.join("cells").join(cell) };
    let one = |cell: &&String| {
        let cell = cell.as_str();
        compare_records(Some(cell.to_owned()), &read(&folder(a, cell))?, &read(&folder(b, cell))?, terms)
    };
    both.iter().map(one).collect()
}

/// What to know where one side at least is of one start.
fn one_start(record: &Record) -> String {
    let known = record.environment.noise.as_ref().and_then(describe_noise);
    format!(
        "one start of the server on one side at least: what differs from start to start is not in the intervals; {}",
        known.unwrap_or_else(|| "`klatch calibrate` measures how much that is here".to_owned())
    )
}

/// A difference between single starts that two starts of the same server can have too.
fn below_floor(metric: &MetricComparison, noise: &Noise) -> Option<String> {
    let (ratio, floor) = (metric.ratio?, *noise.between_starts.get(&metric.metric)?);
    let small = ratio.shows_difference() && ratio.estimate.ln().abs() < floor.ln_1p();
    small.then(|| {
        format!(
            "{}: two starts of {} differ by up to {:.1} % here, so this may be no difference of the platforms",
            metric.metric,
            noise.platform,
            floor * 100.0
        )
    })
}

/// Compares what was read.
fn compare_records(
    cell: Option<String>,
    a: &Read,
    b: &Read,
    terms: Terms,
) -> Result<Comparison, CompareError> {
    let mut notes: Vec<String> = a.notes.iter().chain(&b.notes).cloned().collect();
    notes.extend(differences(&a.records, &b.records));
    let (a_starts, b_starts) = (starts(a), starts(b));
    let unit = if a_starts.len() > 1 && b_starts.len() > 1 { Unit::Start } else { Unit::Trial };
    let (a_units, b_units) = match unit {
        Unit::Start => (a_starts.clone(), b_starts.clone()),
        Unit::Trial | Unit::Turn => {
            notes.push(one_start(&a.records[0]));
            (a.one_by_one(), b.one_by_one())
        }
    };
    let Pairing { design, a: a_units, b: b_units, left_out } = pairing(a_units, b_units);
    if design == Design::Unpaired {
        // Between pairs, drift drops out.
        for (side, read) in [("A", a), ("B", b)] {
            let warnings = guard_series(&read.records.iter().collect::<Vec<_>>());
            let told = warnings.iter().filter(|of| of.kind != WarningKind::OneStart);
            notes.extend(told.map(|of| format!("{side}: {}; {}", of.message, of.advice)));
        }
    }
    if left_out > 0 {
        notes.push(format!("{left_out} without a partner of the same block are left out"));
    }
    let first = [a.first_trials, b.first_trials];
    if first.iter().any(Option::is_some) && terms.estimate != Estimator::GeometricMean {
        let note = "trials ended when their scatter was small enough: only intervals of geometric means allow for that";
        notes.push(note.to_owned());
    }
    let metric = |metric| compared(metric, (&a_units, &b_units), first, design, terms);
    let metrics: Vec<MetricComparison> = METRICS.iter().map(metric).collect();
    if let (Unit::Trial, Some(noise)) = (unit, &a.records[0].environment.noise) {
        notes.extend(metrics.iter().filter_map(|metric| below_floor(metric, noise)));
    }
    let pairs = (design == Design::Paired).then_some(a_units.len() as u32);
    let side = |read: &Read, starts: usize| Side {
        path: read.path.display().to_string(),
        platform: described(&read.records[0]),
        trials: read.records.len() as u32,
        starts: starts as u32,
    };
    Ok(Comparison {
        schema: COMPARISON_SCHEMA_NAME.to_owned(),
        cell,
        a: side(a, a_starts.len()),
        b: side(b, b_starts.len()),
        estimate: terms.estimate,
        confidence: terms.confidence,
        unit,
        pairs,
        metrics,
        notes,
    })
}
