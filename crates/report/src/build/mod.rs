//! Builds a report from results.

mod answer;
mod commands;
mod deciding;
mod duet;
mod environments;
mod exact;
mod floor;
mod grid;
mod histograms;
mod instruments;
mod latency;
mod operations;
mod over_time;
mod percentiles;
mod ratios;
mod runs;
mod scaling;
mod scores;
mod search;
mod simulated;
mod stages;
mod stalls;
mod subject;
mod trials;
mod verdict;
mod why;

use std::path::PathBuf;

use klatch_record::{Comparison, MetricCharts, StudyResult};

use crate::model::{Chart, REPORT_SCHEMA_NAME, Report, Section, SectionTable};
use crate::read::{Run, Source};
use crate::requirement::judged_study;

use subject::Subject;

pub use commands::{conformance_of, run_again, study_again};
pub(crate) use commands::{fixed, shell_line};
pub use deciding::{undecided, undecided_comparison};
pub(crate) use duet::duet_answer;
pub use duet::duet_report;
pub use floor::floor_history;
pub use histograms::{HistogramError, hgrm, hlog, timeline_csv};
pub use percentiles::percentile_rows;
pub use ratios::answer as comparison_answer;

/// The report of one study or of single runs.
pub fn report(source: &Source) -> Report {
    let mut report = build(&Subject::new(source), std::slice::from_ref(source));
    if source.is_unfinished_search() {
        report.answer =
            format!("No answer yet: the search has made {} runs and is not finished.", source.runs.len());
    }
    report
}

/// The report of two sources side by side; `comparisons` are the ratios of B to A.
pub fn report_of_two(a: &Source, b: &Source, comparisons: &[Comparison]) -> Report {
    let names = comparisons.first().map(|first| [first.a.name.as_str(), first.b.name.as_str()]);
    let both = Subject::side_by_side(names.unwrap_or(["base", "change"]), a, b);
    let sources = [a.clone(), b.clone()];
    let mut report = build(&both, &sources);
    report.ratios = comparisons.iter().map(|one| ratios::table(one, &both)).collect();
    report.answer = ratios::answer(comparisons).unwrap_or(report.answer);
    report
}

/// The answer of a study without its runs but for one of each cell, which names the class of the server.
pub(crate) fn study_answer(result: StudyResult, runs: Vec<Run>) -> String {
    let source = Source { result: Some(result), runs, ..Source::empty(PathBuf::new()) };
    let subject = Subject::new(&source);
    answer_of(&subject)
}

fn answer_of(subject: &Subject) -> String {
    let class_of = |id: &str| {
        let cell = subject.cells().find(|(_, cell)| cell.id == id).map(|(at, _)| at);
        cell.filter(|_| subject.is_mixed()).map_or("", |cell| subject::class_name(subject.class_of(cell)))
    };
    duet::pairs_answer(&subject.result.pairs, unit_of(subject), class_of)
        .unwrap_or_else(|| answer::sentence(subject))
}

fn build(subject: &Subject, sources: &[Source]) -> Report {
    let (footnotes, footnotes_of_cells) = verdict::footnotes(subject);
    let (environments, facts, environment_of_run) = environments::table(subject);
    let result = &subject.result;
    Report {
        schema: REPORT_SCHEMA_NAME.to_owned(),
        title: result.name.clone(),
        question: result.question.clone(),
        answer: answer_of(subject) + &stages::answer(subject),
        verdict: simulated::verdict(subject).unwrap_or_else(|| verdict::summary(subject)),
        requirements: judged_study(result),
        warnings: verdict::warnings(subject),
        cells: verdict::cells(subject, &footnotes_of_cells),
        percentiles: Vec::new(),
        axes: result.axes.iter().map(|axis| axis.name.clone()).collect(),
        ratios: result.pairs.iter().map(|pair| duet::pair_table(pair, unit_of(subject))).collect(),
        sections: sections(subject, sources),
        rules: vec![result.rules.clone()],
        runs: runs::rows(subject, &environment_of_run),
        environments,
        facts,
        commands: commands::commands(subject, sources),
        instruments: instruments::rows(subject),
        footnotes,
        sources: sources.iter().map(|source| source.path.display().to_string()).collect(),
        klatch: subject.runs.first().map(|run| run.record.klatch.clone()),
        started_at: subject.runs.first().map(|run| run.record.started_at.clone()),
        ended_at: subject.runs.last().map(|run| run.record.started_at.clone()),
    }
}

/// One operation of the workload of the first run.
fn unit_of(subject: &Subject) -> &'static str {
    subject.runs.first().map_or("message", |run| run.record.workload.kind().operation_name())
}

fn sections(subject: &Subject, sources: &[Source]) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add =
        |id: &str, title: &str, lead: Option<&str>, charts: Vec<Chart>, tables: Vec<SectionTable>| {
            if !charts.is_empty() || !tables.is_empty() {
                let (id, title, lead) = (id.to_owned(), title.to_owned(), lead.map(str::to_owned));
                sections.push(Section { id, title, lead, tables, charts, flames: Vec::new() });
            }
        };
    let scale = scaling::charts(subject);
    let (score, resources) = (scores::charts(subject), scores::charts_of(subject, MetricCharts::Resources));
    // Of a single cell, all of it is one row of numbers.
    let is_alone = subject.result.cells.len() == 1 && subject.grid.across.is_none();
    let (score, resources) =
        if is_alone { ([score, resources].concat(), Vec::new()) } else { (score, resources) };
    let title = if is_alone { "Throughput, cost and resources" } else { "Throughput and cost" };
    add("score", title, None, score, Vec::new());
    add("scalability", "Scalability", None, scale, Vec::new());
    add("search", "Where it breaks", None, search::charts(subject), search::tables(subject));
    let latency =
        [latency::charts(subject), operations::charts(subject), over_time::charts(subject)].concat();
    add("latency", "Latency", None, latency, Vec::new());
    add("stages", "Stages of the schedule", None, stages::charts(subject), Vec::new());
    add("trials", "Trials in their order", None, trials::charts(subject), Vec::new());
    add("resources", "Resources", None, resources, Vec::new());
    if subject.is_simulated() {
        add("latency", "Run-queue latency", None, simulated::latency(subject), Vec::new());
        add("cpu-time", "CPU time", None, simulated::cpu_time(subject), Vec::new());
        add(
            "run-queue",
            "Run queue, locks and migrations",
            None,
            [simulated::run_queue(subject), simulated::migrations(subject)].concat(),
            Vec::new(),
        );
        let claims = sources.iter().filter_map(|source| source.sensitivity.as_ref());
        let charts = claims.map(simulated::claims).collect();
        add("sensitivity", "Claims with other costs", Some(simulated::SENSITIVITY), charts, Vec::new());
    }
    sections.extend(instruments::sections(subject));
    sections
}
