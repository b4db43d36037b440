//! `klatch report`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use klatch_compare::{Terms, compare};
use klatch_lab::{Outcome, Study};
use klatch_record::{Estimator, error_chain};
use klatch_report::{
    Source, csv, floor_history, html, json, lab, markdown, read, read_floor, read_lab, report_of_two,
};

/// Make a report of a study or of runs: the answer, charts with their numbers, run rules, environments, commands.
///
/// Two folders are laid side by side, with ratios and their intervals; single records become one report, and so does a
/// history of klatch floor, or the folder of a study of the lab.
/// Exit status: 0 written, 2 could not.
#[derive(Args)]
pub(crate) struct Report {
    /// The folder of a study, of the lab's too, or of runs, two of them, records, or a history of klatch floor (.jsonl)
    #[arg(required = true, value_name = "DIR|RECORD")]
    paths: Vec<PathBuf>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// Where to; - is standard output
    /// [default: report.html in the folder, for html; else standard output]
    #[arg(short, long, value_name = "FILE", verbatim_doc_comment)]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One page with charts, which needs no network
    Html,
    /// Tables for a mail or an issue
    Md,
    /// The cells' estimates, a line for each metric
    Csv,
    /// All of it, by the schema that `klatch schema report` prints
    Json,
}

impl Report {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let text = written(&self.report()?, self.format)?;
        match self.output() {
            None => print!("{text}"),
            Some(path) => {
                save(&text, &path)?;
                println!("{}", path.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn report(&self) -> anyhow::Result<klatch_report::Report> {
        if let [history] = self.paths.as_slice()
            && let Some(sittings) = read_floor(history)?
        {
            anyhow::ensure!(
                matches!(self.format, Format::Html | Format::Json),
                "a history of klatch floor is charts, which need --format html or json"
            );
            return Ok(floor_history(history, &sittings));
        }
        if let [folder] = self.paths.as_slice()
            && let Some((study, outcomes)) = read_lab(folder)?
        {
            anyhow::ensure!(
                matches!(self.format, Format::Html | Format::Json),
                "a study of the lab is charts, which need --format html or json"
            );
            return Ok(lab(folder, &study, &outcomes));
        }
        match self.paths.as_slice() {
            [a, b] if a.is_dir() && b.is_dir() => two(a, b),
            paths => {
                let mut sources =
                    paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?.into_iter();
                let mut all = sources.next().context("nothing to report on")?;
                for source in sources {
                    anyhow::ensure!(
                        all.result.is_none() && source.result.is_none(),
                        "more than two studies cannot be laid side by side; name one, two, or records"
                    );
                    all.runs.extend(source.runs);
                }
                Ok(klatch_report::report(&all))
            }
        }
    }

    fn output(&self) -> Option<PathBuf> {
        match (&self.output, self.paths.as_slice(), self.format) {
            (Some(path), ..) if path.as_os_str() == "-" => None,
            (Some(path), ..) => Some(path.clone()),
            (None, [folder], Format::Html) if folder.is_dir() => Some(folder.join("report.html")),
            (None, _, Format::Html) => Some(PathBuf::from("report.html")),
            (None, ..) => None,
        }
    }
}

/// Writes the report of the results in a folder beside them.
pub(crate) fn beside(folder: &Path) -> anyhow::Result<PathBuf> {
    let path = folder.join("report.html");
    save(&written(&klatch_report::report(&read(folder)?), Format::Html)?, &path)?;
    Ok(path)
}

/// Writes the report of a study of the lab into its folder.
pub(crate) fn of_the_lab(folder: &Path, study: &Study, outcomes: &[Outcome]) -> anyhow::Result<PathBuf> {
    let path = folder.join("report.html");
    save(&written(&lab(folder, study, outcomes), Format::Html)?, &path)?;
    Ok(path)
}

/// Two side by side. Where they have nothing in common to compare, the report says so.
pub(crate) fn two(a: &Path, b: &Path) -> anyhow::Result<klatch_report::Report> {
    let (side_a, side_b): (Source, Source) = (read(a)?, read(b)?);
    let terms = Terms { estimate: Estimator::GeometricMean, confidence: 0.95 };
    match compare(a, b, terms) {
        Ok(comparisons) => Ok(report_of_two(&side_a, &side_b, &comparisons)),
        Err(error) => {
            let mut report = report_of_two(&side_a, &side_b, &[]);
            report.answer = format!("A and B cannot be compared: {}", error_chain(&error));
            Ok(report)
        }
    }
}

/// A report in a format.
pub(crate) fn written(report: &klatch_report::Report, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Html => html(report)?,
        Format::Md => markdown(report),
        Format::Csv => csv(report),
        Format::Json => json(report),
    })
}

/// Writes the whole text or nothing: what was there before stays until then.
pub(crate) fn save(text: &str, path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let aside = folder.join(format!(".report-{}", std::process::id()));
    let write = || {
        let mut file = std::fs::File::create(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&aside, path)
    };
    write().with_context(|| {
        let _ = std::fs::remove_file(&aside);
        format!("cannot write {}", path.display())
    })
}
