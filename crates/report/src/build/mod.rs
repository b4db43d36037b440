//! From results to a report.

mod answer;
mod commands;
mod environments;
mod floor;
mod grid;
mod instruments;
mod latency;
mod metrics;
mod over_time;
mod ratios;
mod runs;
mod scaling;
mod scores;
mod search;
mod stalls;
mod subject;
mod trials;
mod verdict;

use klatch_record::Comparison;

use crate::model::{Chart, Flame, REPORT_SCHEMA_NAME, Report, Section};
use crate::read::Source;

use subject::Subject;

pub use floor::floor_history;

/// The report of one study, or of runs.
pub fn report(source: &Source) -> Report {
    of(&Subject::of(source), std::slice::from_ref(source))
}

/// The report of two, side by side; `comparisons` tells how B compares with A.
pub fn report_of_two(a: &Source, b: &Source, comparisons: &[Comparison]) -> Report {
    let both = Subject::of_two(a, b);
    let sources = [a.clone(), b.clone()];
    let mut report = of(&both, &sources);
    report.ratios = comparisons.iter().map(|one| ratios::table(one, &both)).collect();
    report.answer = ratios::answer(comparisons).unwrap_or(report.answer);
    report
}

fn of(subject: &Subject, sources: &[Source]) -> Report {
    let (footnotes, of_cell) = verdict::footnotes(subject);
    let (environments, facts, of_run) = environments::table(subject);
    let result = &subject.result;
    Report {
        schema: REPORT_SCHEMA_NAME.to_owned(),
        title: result.name.clone(),
        question: result.question.clone(),
        answer: answer::sentence(subject),
        verdict: verdict::of(subject),
        warnings: verdict::warnings(subject),
        cells: verdict::cells(subject, &of_cell),
        axes: result.axes.iter().map(|axis| axis.name.clone()).collect(),
        ratios: Vec::new(),
        sections: sections(subject),
        rules: vec![result.rules.clone()],
        runs: runs::rows(subject, &of_run),
        environments,
        facts,
        commands: commands::of(subject, sources),
        instruments: instruments::rows(subject),
        footnotes,
        sources: sources.iter().map(|source| source.path.display().to_string()).collect(),
        klatch: subject.runs.first().map(|run| run.record.klatch.clone()),
        started_at: subject.runs.first().map(|run| run.record.started_at.clone()),
        ended_at: subject.runs.last().map(|run| run.record.started_at.clone()),
    }
}

fn sections(subject: &Subject) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |id: &str, title: &str, lead: Option<&str>, charts: Vec<Chart>, flames: Vec<Flame>| {
        if !charts.is_empty() || !flames.is_empty() {
            let (id, title, lead) = (id.to_owned(), title.to_owned(), lead.map(str::to_owned));
            sections.push(Section { id, title, lead, charts, flames });
        }
    };
    let scale = scaling::charts(subject);
    add("score", "Throughput and cost", None, scores::charts(subject), Vec::new());
    add("scalability", "Scalability", None, scale, Vec::new());
    add("search", "Where it breaks", None, search::charts(subject), Vec::new());
    let latency = [latency::charts(subject), over_time::charts(subject)].concat();
    add("latency", "Latency", None, latency, Vec::new());
    add("trials", "Trials in their order", None, trials::charts(subject), Vec::new());
    add("resources", "Resources", None, scores::resources(subject), Vec::new());
    let (charts, flames) = instruments::charts(subject);
    add("why", "Why: what the instruments saw", Some(instruments::LEAD), charts, flames);
    sections
}
