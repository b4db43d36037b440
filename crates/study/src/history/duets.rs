//! The series of duets: ratios, chained where the base of one is a build of another one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use klatch_record::{DuetMetric, DuetSide, METRICS, SeriesKind};

use crate::history::HistoryTerms;
use crate::history::judge::POINTS_MIN;
use crate::history::read::{DuetEntry, Group, build_label};
use crate::history::series::{Draft, Points};

/// The names of two builds of one server if none were given.
const NAMES: [&str; 2] = ["base", "change"];

/// The series of duets, which are in the order of time. `skipped` gets those that have no place in one.
pub(super) fn of_duets(duets: Vec<DuetEntry>, terms: &HistoryTerms, skipped: &mut Vec<String>) -> Vec<Draft> {
    let mut builds: BTreeMap<Group, Vec<DuetEntry>> = BTreeMap::new();
    let mut servers: BTreeMap<Group, Vec<DuetEntry>> = BTreeMap::new();
    for entry in duets {
        let (a, b) = (&entry.duet.a, &entry.duet.b);
        let is_one_server = a.platform == b.platform && a.crowd == b.crowd;
        if is_one_server && [&a.name, &b.name] == NAMES {
            skipped.push(format!(
                "{}: its builds are called base and change; name both sides",
                entry.file.display()
            ));
            continue;
        }
        let subject = match is_one_server {
            true => a.platform.clone(),
            false => format!("{} against {}", described(b, a), described(a, b)),
        };
        let group = Group { subject, workload: entry.workload.clone(), machine: None };
        let of = if is_one_server { &mut builds } else { &mut servers };
        of.entry(group).or_default().push(entry);
    }
    let mut all = Vec::new();
    for (group, duets) in builds {
        all.extend(of_builds(&group, &duets, terms, skipped));
    }
    for (group, duets) in servers {
        let label = |entry: &DuetEntry| build_label(&entry.duet.klatch, &entry.duet.started_at);
        all.extend(metrics(terms).filter_map(|metric| {
            let mut points = Points::default();
            duets.iter().for_each(|entry| add(&mut points, entry, &label(entry), metric, 0.0));
            series(points, &group, metric, SeriesKind::Ratios, terms)
        }));
    }
    all
}

/// A side, as far as it differs from the other one.
fn described(side: &DuetSide, other: &DuetSide) -> String {
    match side.platform == other.platform {
        true => format!("{}, crowd {}", side.platform, side.crowd),
        false => side.platform.clone(),
    }
}

/// The names of the metrics of duets that the history shows.
fn metrics(terms: &HistoryTerms) -> impl Iterator<Item = &'static str> {
    let all = METRICS.iter().filter(|metric| metric.slice.is_some());
    all.filter(|metric| terms.metrics.is_empty() || terms.metrics.contains(metric)).map(|metric| metric.name)
}

/// The series of the builds of one server: one for each base that many were compared with, or one of a chain.
fn of_builds(
    group: &Group,
    duets: &[DuetEntry],
    terms: &HistoryTerms,
    skipped: &mut Vec<String>,
) -> Vec<Draft> {
    let mut by_base: BTreeMap<&str, Vec<&DuetEntry>> = BTreeMap::new();
    duets.iter().for_each(|entry| by_base.entry(&entry.duet.a.name).or_default().push(entry));
    if by_base.len() == 1 || by_base.values().all(|duets| duets.len() >= POINTS_MIN) {
        let of_base = by_base.into_iter().flat_map(|(base, duets)| {
            metrics(terms).filter_map(move |metric| {
                let mut points = Points::default();
                duets.iter().for_each(|entry| add(&mut points, entry, &entry.duet.b.name, metric, 0.0));
                let kind = SeriesKind::AgainstBase { base: base.to_owned() };
                series(points, group, metric, kind, terms)
            })
        });
        return of_base.collect();
    }
    chained(group, duets, terms, skipped)
}

/// The series of the builds of one server of which each is the base of a later one.
fn chained(
    group: &Group,
    duets: &[DuetEntry],
    terms: &HistoryTerms,
    skipped: &mut Vec<String>,
) -> Vec<Draft> {
    let Some(first) = duets.first() else { return Vec::new() };
    let base = first.duet.a.name.clone();
    let kind = SeriesKind::Chained { base: base.clone() };
    let mut all = Vec::new();
    let mut unlinked = Vec::new();
    for metric in metrics(terms) {
        let (mut points, mut levels) = (Points::default(), BTreeMap::from([(base.as_str(), 0.0)]));
        unlinked.clear();
        for entry in duets {
            let Some(ratio) = ratio_of(entry, metric) else { continue };
            let (a, b) = (entry.duet.a.name.as_str(), entry.duet.b.name.as_str());
            let Some(level) = levels.get(a).copied() else {
                unlinked.push(entry);
                continue;
            };
            add(&mut points, entry, b, metric, level);
            // Where several duets are of one build, the first is what later ones continue from.
            levels.entry(b).or_insert(level + ratio.ln());
        }
        all.extend(series(points, group, metric, kind.clone(), terms));
    }
    skipped.extend(unlinked.iter().map(|entry| {
        format!("{}: its base, {}, is a build of no earlier duet", entry.file.display(), entry.duet.a.name)
    }));
    all
}

fn found<'a>(entry: &'a DuetEntry, metric: &str) -> Option<&'a DuetMetric> {
    entry.duet.metrics.iter().find(|one| one.metric == metric)
}

fn ratio_of(entry: &DuetEntry, metric: &str) -> Option<f64> {
    found(entry, metric)?.ratio.map(|ratio| ratio.estimate)
}

/// Adds what a duet says about a build, whose base has this level, as a logarithm.
fn add(points: &mut Points, entry: &DuetEntry, label: &str, metric: &str, level: f64) {
    let Some(DuetMetric { ratio: Some(ratio), starts, .. }) = found(entry, metric) else { return };
    let values = points.of(label, &entry.duet.started_at);
    let base = values.base.get_or_insert_with(|| entry.duet.a.name.clone());
    if *base == entry.duet.a.name {
        values.ratios.extend(starts.iter().map(|ratio| ratio.ln()));
    }
    values.step = values.files.is_empty().then_some(*ratio);
    values.starts.insert(PathBuf::from(&entry.file), vec![level + ratio.estimate.ln()]);
    values.starts_behind += starts.len() as u32;
    values.files.push(entry.file.display().to_string());
}

/// The series of these points; `None` without any.
fn series(
    points: Points,
    group: &Group,
    metric: &str,
    kind: SeriesKind,
    terms: &HistoryTerms,
) -> Option<Draft> {
    let draft = points.series(group, metric, kind, terms);
    (!draft.series.points.is_empty()).then_some(draft)
}
