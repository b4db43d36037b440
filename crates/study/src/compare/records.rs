//! Compares the records of one folder with those of another. The statistics: `docs/reference/method.md`.

use std::path::{Path, PathBuf};

use klatch_record::{
    COMPARISON_SCHEMA_NAME, Comparison, Estimator, METRICS, Metric, MetricComparison, Noise, Record, Side,
    Unit, WarningKind,
};
use klatch_runner::{describe_noise, guard_series};
use klatch_stats::Design;

use crate::compare::differences::{describe_platform, differences};
use crate::compare::metrics::compare_metric;
use crate::compare::pairing::{Pairing, pair};
use crate::compare::read::{CompareError, Read, cells, read, refuse_copies, require_measured};
use crate::compare::terms::Terms;
use crate::compare::values::values_by_start;

/// Compares two records or two folders of records. Of two studies, it compares every cell that both have.
///
/// # Errors
/// See [`CompareError`].
pub fn compare(a: &Path, b: &Path, terms: Terms) -> Result<Vec<Comparison>, CompareError> {
    let canonical = |path: &Path| {
        let wrong = |source| CompareError::Missing { path: path.to_owned(), source };
        path.canonicalize().map_err(wrong)
    };
    if canonical(a)? == canonical(b)? {
        return Err(CompareError::Same { a: a.to_owned(), b: b.to_owned() });
    }
    [a, b].into_iter().try_for_each(require_measured)?;
    let (Some(a_cells), Some(b_cells)) = (cells(a), cells(b)) else {
        return Ok(vec![compare_records(None, &read(a)?, &read(b)?, terms)?]);
    };
    let both: Vec<&String> = a_cells.iter().filter(|cell| b_cells.contains(cell)).collect();
    if both.is_empty() {
        return Err(CompareError::NoCommonCell { a: a_cells.join(", "), b: b_cells.join(", ") });
    }
    let folder = |study: &Path, cell: &str| -> PathBuf { study.join("cells").join(cell) };
    let one = |cell: &&String| {
        let cell = cell.as_str();
        compare_records(Some(cell.to_owned()), &read(&folder(a, cell))?, &read(&folder(b, cell))?, terms)
    };
    both.iter().map(one).collect()
}

/// The remark on a comparison in which at least one side has only one start.
fn single_start(record: &Record) -> String {
    let measured = record.environment.noise.as_ref().and_then(describe_noise);
    format!(
        "with only one start of the server on one side, the intervals leave out the differences between starts; {}",
        measured.unwrap_or_else(|| "`klatch calibrate` measures them on this machine".to_owned())
    )
}

/// The remark on a difference that two starts of the same server can also show.
fn within_noise(metric: &MetricComparison, noise: &Noise) -> Option<String> {
    let (ratio, noise_max) = (metric.ratio?, *noise.between_starts.get(&metric.metric)?);
    let small = ratio.shows_difference() && ratio.estimate.ln().abs() < noise_max.ln_1p();
    small.then(|| {
        format!(
            "{}: two starts of {} differ by up to {:.1} % on this machine, so the platforms may not differ",
            metric.metric,
            noise.platform,
            noise_max * 100.0
        )
    })
}

/// Names of two sides: what ran, or else where the records are, or the order.
fn names(a: &Read, b: &Read) -> [String; 2] {
    let platform = |read: &Read| {
        let platform = &read.records[0].platform;
        let knobs: Vec<String> =
            platform.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if knobs.is_empty() {
            platform.name.clone()
        } else {
            format!("{}:{}", platform.name, knobs.join(","))
        }
    };
    let place = |read: &Read| read.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let alternatives = [[a, b].map(platform), [a, b].map(place)];
    let different = alternatives.into_iter().find(|[a, b]| a != b && !a.is_empty() && !b.is_empty());
    different.unwrap_or_else(|| ["base", "change"].map(str::to_owned))
}

/// Compares two sides that were read.
fn compare_records(
    cell: Option<String>,
    a: &Read,
    b: &Read,
    terms: Terms,
) -> Result<Comparison, CompareError> {
    refuse_copies(a.records.iter().zip(&a.files).chain(b.records.iter().zip(&b.files)))?;
    let mut caveats: Vec<String> = a.caveats.iter().chain(&b.caveats).cloned().collect();
    let names = names(a, b);
    caveats.extend(differences(names.each_ref().map(String::as_str), &a.records, &b.records));
    let (a_starts, b_starts) = (values_by_start(a), values_by_start(b));
    let unit = if a_starts.len() > 1 && b_starts.len() > 1 { Unit::Start } else { Unit::Trial };
    let (a_units, b_units) = match unit {
        Unit::Start => (a_starts.clone(), b_starts.clone()),
        Unit::Trial => {
            caveats.push(single_start(&a.records[0]));
            (a.values_by_trial(), b.values_by_trial())
        }
    };
    let Pairing { design, a: a_units, b: b_units, left_out } = pair(a_units, b_units);
    if design == Design::Unpaired {
        // In a paired comparison drift drops out, so only this one needs the warnings about the series.
        for (side, read) in names.iter().zip([a, b]) {
            let warnings = guard_series(&read.records.iter().collect::<Vec<_>>());
            let others = warnings.iter().filter(|warning| warning.kind != WarningKind::OneStart);
            caveats.extend(others.map(|warning| format!("{side}: {}; {}", warning.message, warning.advice)));
        }
    }
    if left_out > 0 {
        caveats.push(format!("{left_out} without a partner in the same block are left out"));
    }
    let first = [a.first_trials, b.first_trials];
    if first.iter().any(Option::is_some) && terms.estimate != Estimator::GeometricMean {
        let caveat = "the trials ended when their scatter was small enough, and only intervals of geometric means allow for that";
        caveats.push(caveat.to_owned());
    }
    let metric = |metric: &Metric| compare_metric(metric, (&a_units, &b_units), first, design, terms);
    let metrics: Vec<MetricComparison> =
        METRICS.iter().filter(|metric| metric.is_compared).map(metric).collect();
    if let (Unit::Trial, Some(noise)) = (unit, &a.records[0].environment.noise) {
        caveats.extend(metrics.iter().filter_map(|metric| within_noise(metric, noise)));
    }
    let pairs = (design == Design::Paired).then_some(a_units.len() as u32);
    let side = |name: &str, read: &Read, starts: usize| Side {
        name: name.to_owned(),
        path: read.path.display().to_string(),
        platform: describe_platform(&read.records[0]),
        trials: read.records.len() as u32,
        starts: starts as u32,
    };
    Ok(Comparison {
        schema: COMPARISON_SCHEMA_NAME.to_owned(),
        cell,
        a: side(&names[0], a, a_starts.len()),
        b: side(&names[1], b, b_starts.len()),
        estimate: terms.estimate,
        confidence: terms.confidence,
        unit,
        pairs,
        metrics,
        caveats,
    })
}
