//! The series of records: one value for each build or day.

use std::collections::BTreeMap;
use std::path::PathBuf;

use klatch_record::{
    FloorResult, HistoryPoint, HistorySeries, Metric, RatioEstimate, SERVER_CPU, SeriesKind,
};

use crate::history::HistoryTerms;
use crate::history::read::{Group, RunEntry, build_label, machine};

/// The values of one build or day.
#[derive(Default)]
pub(super) struct Values {
    pub(super) at: String,
    /// Logarithms, by start of the server; the trials of a start share what happened at that start.
    pub(super) starts: BTreeMap<PathBuf, Vec<f64>>,
    /// The base of the first duet, its ratio if it is the only one, and the logarithms of the ratios of the starts with this base.
    pub(super) base: Option<String>,
    pub(super) step: Option<RatioEstimate>,
    pub(super) ratios: Vec<f64>,
    pub(super) files: Vec<String>,
    /// Number of starts behind the values, where each is of several.
    pub(super) starts_behind: u32,
}

impl Values {
    /// Its point in a series.
    fn point(self, label: String) -> HistoryPoint {
        let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
        let starts: Vec<f64> = self.starts.values().map(|logs| mean(logs)).collect();
        HistoryPoint {
            label,
            at: self.at,
            value: mean(&starts).exp(),
            starts: self.starts_behind.max(starts.len() as u32),
            base: self.base,
            step: self.step,
            files: self.files,
        }
    }
}

/// A series whose changes are not yet known.
pub(super) struct Draft {
    pub(super) series: HistorySeries,
    /// Of each point, the logarithms of the ratios of the starts to its own base; empty for records.
    pub(super) ratios: Vec<Vec<f64>>,
}

/// Points by label, in the order of their first time.
#[derive(Default)]
pub(super) struct Points {
    order: Vec<String>,
    values: BTreeMap<String, Values>,
}

impl Points {
    /// Those of this label, which began at this time if it is new.
    pub(super) fn of(&mut self, label: &str, at: &str) -> &mut Values {
        if !self.values.contains_key(label) {
            self.order.push(label.to_owned());
        }
        self.values
            .entry(label.to_owned())
            .or_insert_with(|| Values { at: at.to_owned(), ..Values::default() })
    }

    /// A series of the newest points.
    pub(super) fn series(
        mut self,
        group: &Group,
        metric: &str,
        kind: SeriesKind,
        terms: &HistoryTerms,
    ) -> Draft {
        let older = self.order.len().saturating_sub(terms.points_max);
        let (mut points, mut ratios) = (Vec::new(), Vec::new());
        for label in self.order.into_iter().skip(older) {
            if let Some(mut values) = self.values.remove(&label) {
                ratios.push(std::mem::take(&mut values.ratios));
                points.push(values.point(label));
            }
        }
        let series = HistorySeries {
            subject: group.subject.clone(),
            workload: group.workload.clone(),
            machine: group.machine.clone(),
            metric: metric.to_owned(),
            kind,
            points,
            older: older as u32,
            changes: Vec::new(),
            unjudged: None,
        };
        Draft { series, ratios }
    }
}

/// The series of runs, which are in the order of time.
pub(super) fn of_runs(runs: Vec<RunEntry>, terms: &HistoryTerms) -> Vec<Draft> {
    // By group, then in the order of the metrics.
    let mut all: BTreeMap<Group, Vec<(&'static Metric, Points)>> = BTreeMap::new();
    for run in runs {
        let file = run.file.display().to_string();
        let of_group = all.entry(run.group).or_default();
        for (metric, value) in run.values {
            let place = of_group.iter().position(|(other, _)| *other == metric).unwrap_or_else(|| {
                of_group.push((metric, Points::default()));
                of_group.len() - 1
            });
            let values = of_group[place].1.of(&run.label, &run.at);
            values.starts.entry(run.start.clone()).or_default().push(value.ln());
            values.files.push(file.clone());
        }
    }
    let series = all.into_iter().flat_map(|(group, metrics)| {
        metrics
            .into_iter()
            .map(move |(metric, points)| points.series(&group, metric.name, SeriesKind::Values, terms))
    });
    series.collect()
}

/// The series of histories of `klatch floor`: the server's CPU time. Each session is a point.
pub(super) fn of_floors(floors: Vec<FloorResult>, terms: &HistoryTerms) -> Vec<Draft> {
    let mut all: BTreeMap<Group, Points> = BTreeMap::new();
    let is_wanted = terms.metrics.is_empty() || terms.metrics.iter().any(|metric| metric.name == SERVER_CPU);
    for session in floors.iter().filter(|_| is_wanted) {
        let label = build_label(&session.klatch, &session.started_at);
        for row in session.rows.iter().filter(|row| !row.server_us.is_empty()) {
            let group = Group {
                subject: row.platform.clone(),
                workload: format!("floor, {}", row.pacing.name()),
                machine: Some(machine(session.cpu_model.as_deref(), session.cpus)),
            };
            let values = all.entry(group).or_default().of(&label, &session.started_at);
            for (block, value) in row.server_us.iter().enumerate() {
                let start = PathBuf::from(format!("{} {block}", session.started_at));
                values.starts.entry(start).or_default().push(value.ln());
            }
        }
    }
    all.into_iter()
        .map(|(group, points)| points.series(&group, SERVER_CPU, SeriesKind::Values, terms))
        .collect()
}
