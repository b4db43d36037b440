//! `klatch report`: reads results, builds the report and writes it in a format.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use klatch_record::lab::{Outcome, Study};
use klatch_record::{Duet, Estimator, Percentiles, error_chain, save_text};
use klatch_report::{
    Source, csv, duet_report, floor_history, html, json, lab_report, markdown, percentile_rows, read,
    read_duet, read_floor, read_lab, report_of_two,
};
use klatch_study::compare::{Terms, compare};

use crate::output::{print, print_as_is, print_line};

/// The link to the last results.
const LATEST: &str = "results/latest";

/// Write a report of results: a page, Markdown, CSV or JSON
///
/// A report contains the answer, charts with their numbers, run rules, environments and commands. Two folders appear side by
/// side with ratios and intervals. Several records become one report. A duet, a history of klatch floor and a folder of a study of
/// the lab also have reports.
///
/// Exit status: 0 written, 2 could not write.
#[derive(Args)]
pub(crate) struct Report {
    /// One or two results folders, records, or a history of klatch floor (.jsonl)
    #[arg(default_value = LATEST, value_name = "DIR|RECORD")]
    paths: Vec<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// Percentiles of latency to add, of all trials of a cell together; of one source
    #[arg(long, value_name = "50,99.9,…")]
    percentiles: Option<Percentiles>,
    /// File to write; - is standard output
    /// [default: report.html in the folder for html, else standard output]
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One page with charts that needs no network
    Html,
    /// Tables for a mail or an issue
    Md,
    /// Estimates of the cells, one line per metric
    Csv,
    /// Everything, by the schema that `klatch schema report` prints
    Json,
}

impl Report {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let text = render(&self.report()?, self.format)?;
        match self.place() {
            None if self.format == Format::Html => print_as_is(&text),
            None => print(text),
            Some(path) => {
                save_text(&text, &path)?;
                print_line(path.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn report(&self) -> anyhow::Result<klatch_report::Report> {
        if let [path] = self.paths.as_slice()
            && path.as_os_str() == LATEST
        {
            anyhow::ensure!(
                path.exists(),
                "there is no {LATEST} here: name a folder, or make results with klatch run"
            );
        }
        if let [history] = self.paths.as_slice()
            && let Some(sessions) = read_floor(history)?
        {
            anyhow::ensure!(
                matches!(self.format, Format::Html | Format::Json),
                "a history of klatch floor has charts only; use --format html or json"
            );
            return Ok(floor_history(history, &sessions));
        }
        if let [folder] = self.paths.as_slice()
            && let Some((study, outcomes)) = read_lab(folder)?
        {
            anyhow::ensure!(
                matches!(self.format, Format::Html | Format::Json),
                "a study of the lab has charts only; use --format html or json"
            );
            return Ok(lab_report(folder, &study, &outcomes));
        }
        match self.paths.as_slice() {
            [path] => self.with_percentiles(report_of(path)?, || Ok(read(path)?)),
            _ if self.percentiles.is_some() && self.paths.iter().any(|path| path.is_dir()) => {
                anyhow::bail!("percentiles are of one folder, or of records; name one folder")
            }
            [a, b] if a.is_dir() && b.is_dir() => report_side_by_side(a, b),
            paths => {
                let mut sources =
                    paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?.into_iter();
                let mut all = sources.next().context("nothing to report on")?;
                for source in sources {
                    anyhow::ensure!(
                        all.result.is_none() && source.result.is_none(),
                        "cannot report more than two studies; name one, two, or records"
                    );
                    all.runs.extend(source.runs);
                }
                self.with_percentiles(klatch_report::report(&all), || Ok(all))
            }
        }
    }

    /// The report with the percentiles that were asked for.
    fn with_percentiles(
        &self,
        mut report: klatch_report::Report,
        source: impl FnOnce() -> anyhow::Result<Source>,
    ) -> anyhow::Result<klatch_report::Report> {
        if let Some(percentiles) = &self.percentiles {
            report.percentiles = percentile_rows(&source()?, percentiles);
            anyhow::ensure!(!report.percentiles.is_empty(), "there are no runs with latencies here");
        }
        Ok(report)
    }

    fn place(&self) -> Option<PathBuf> {
        match (&self.out, self.paths.as_slice(), self.format) {
            (Some(path), ..) if path.as_os_str() == "-" => None,
            (Some(path), ..) => Some(path.clone()),
            (None, [folder], Format::Html) if folder.is_dir() => Some(folder.join("report.html")),
            (None, _, Format::Html) => Some(PathBuf::from("report.html")),
            (None, ..) => None,
        }
    }
}

/// Report of a duet, a study or runs.
pub(crate) fn report_of(path: &Path) -> anyhow::Result<klatch_report::Report> {
    Ok(match read_duet(path)? {
        Some(duet) => duet_report(path, &duet),
        None => klatch_report::report(&read(path)?),
    })
}

/// A report that was written to `report.html` in the folder of its results.
pub(crate) struct SavedReport {
    /// Its answer.
    pub(crate) answer: String,
    /// Path of the page.
    pub(crate) path: PathBuf,
    /// The duet that decides what the answer leaves open, as a command.
    pub(crate) undecided: Option<Vec<String>>,
}

fn save_page(folder: &Path, report: klatch_report::Report) -> anyhow::Result<SavedReport> {
    let path = folder.join("report.html");
    save_text(&render(&report, Format::Html)?, &path)?;
    Ok(SavedReport { answer: report.answer, path, undecided: None })
}

/// Writes the report of the results in a folder.
pub(crate) fn save_report(folder: &Path) -> anyhow::Result<SavedReport> {
    let source = read(folder)?;
    let saved = save_page(folder, klatch_report::report(&source))?;
    Ok(SavedReport { undecided: klatch_report::undecided(&source), ..saved })
}

/// Writes the report of a duet.
pub(crate) fn save_duet_report(folder: &Path, duet: &Duet) -> anyhow::Result<SavedReport> {
    save_page(folder, duet_report(folder, duet))
}

/// Writes the report of a study of the lab.
pub(crate) fn save_lab_report(
    folder: &Path,
    study: &Study,
    outcomes: &[Outcome],
) -> anyhow::Result<SavedReport> {
    save_page(folder, lab_report(folder, study, outcomes))
}

/// Report of two folders. If they cannot be compared, the report gives the cause as its answer.
pub(crate) fn report_side_by_side(a: &Path, b: &Path) -> anyhow::Result<klatch_report::Report> {
    let (side_a, side_b): (Source, Source) = (read(a)?, read(b)?);
    let kind = |side: &Source| side.result.as_ref().map(|result| result.kind).unwrap_or_default();
    anyhow::ensure!(
        kind(&side_a) == kind(&side_b),
        "{} and {} are not of one kind: measured, emulated and simulated results share no table",
        a.display(),
        b.display()
    );
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    match compare(a, b, terms) {
        Ok(comparisons) => Ok(report_of_two(&side_a, &side_b, &comparisons)),
        Err(error) => {
            let mut report = report_of_two(&side_a, &side_b, &[]);
            report.answer = format!("They cannot be compared: {}", error_chain(&error));
            Ok(report)
        }
    }
}

/// The text of a report in a format.
pub(crate) fn render(report: &klatch_report::Report, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Html => html(report)?,
        Format::Md => markdown(report),
        Format::Csv => csv(report),
        Format::Json => json(report),
    })
}
