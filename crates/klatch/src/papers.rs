//! `klatch papers`: the published results beside Klatch's own, each with its verdict.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use klatch_report::{paper_faults, papers_table, shipped_papers};

use crate::output::{print, print_error, print_line, save_text_or_print};

/// Page that `--check` compares with the table, relative to the root of the repository.
const PAGE: &str = "research/papers.md";

/// Compare published results of 2000 to 2005 with Klatch's own
///
/// Prints a Markdown page with a row for each result: the published value, what Klatch measured, emulated or simulated, the ratio,
/// the verdict, and the command that makes it again.
#[derive(Args)]
pub(crate) struct Papers {
    /// File for the page, or - for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Search the files of this copy of the repository for every quotation and number, and compare its page
    ///
    /// Exit status: 0 if all agree, 1 if not.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    check: Option<PathBuf>,
}

impl Papers {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let papers = shipped_papers()?;
        let table = papers_table(&papers);
        let Some(root) = self.check else {
            match self.out {
                Some(path) => save_text_or_print(&table, &path)?,
                None => print(table),
            }
            return Ok(ExitCode::SUCCESS);
        };
        let mut faults = paper_faults(&papers, &root);
        faults.extend(page_fault(&root, &table));
        for fault in &faults {
            print_error(format_args!("klatch: {fault}"));
        }
        if faults.is_empty() {
            print_line(format_args!("all numbers and quotations stand in the files of {}", root.display()));
        }
        Ok(ExitCode::from(u8::from(!faults.is_empty())))
    }
}

/// The difference between the committed page and the table, in words.
fn page_fault(root: &Path, table: &str) -> Option<String> {
    match std::fs::read_to_string(root.join(PAGE)) {
        Ok(page) if page == table => None,
        Ok(_) => Some(format!("{PAGE} differs from the table; run `klatch papers --out {PAGE}`")),
        Err(error) => Some(format!("cannot read {PAGE}: {error}")),
    }
}
