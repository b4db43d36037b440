//! Reliability of the results: verdict, warnings, failures.

use klatch_record::{CellStatus, WarningKind};

use super::subject::{Subject, class_name};
use crate::model::{CellRow, Footnote, Standing, Verdict, WarningRow};

/// Summarises the states of all cells.
pub(super) fn summary(subject: &Subject) -> Verdict {
    let count = |status: CellStatus| subject.cells().filter(|(_, cell)| cell.status == status).count();
    let all = subject.result.cells.len();
    let bad = [
        (count(CellStatus::Failed), "failed"),
        (count(CellStatus::Absent), "cannot run on this machine"),
        (count(CellStatus::Open), "not finished"),
    ];
    let counts: Vec<String> =
        bad.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let (lost, wide) = (bad.iter().map(|(count, _)| count).sum::<usize>(), count(CellStatus::NotConverged));
    let cells = if all == 1 { "cell".to_owned() } else { format!("{all} cells") };
    let (standing, text) = match (all - lost, lost, wide) {
        (0, 0, _) => (Standing::Nothing, "nothing was measured yet".to_owned()),
        (0, ..) if count(CellStatus::Open) == 0 => {
            (Standing::Nothing, format!("of {cells}: {}", counts.join(", ")))
        }
        (_, 1.., _) => (Standing::Partly, format!("of {cells}: {}", counts.join(", "))),
        (_, 0, 1..) if all == 1 => {
            (Standing::Wide, "valid, but the interval is wider than was asked for".to_owned())
        }
        (_, 0, 1..) => (Standing::Wide, format!("all {cells} are valid; {wide} wider than was asked for")),
        (_, 0, 0) if all == 1 => (Standing::Valid, "every message accounted for".to_owned()),
        (_, 0, 0) => (Standing::Valid, format!("all {cells}, every message accounted for")),
    };
    Verdict { standing, text }
}

/// The warnings of all cells, one of each kind.
pub(super) fn warnings(subject: &Subject) -> Vec<WarningRow> {
    let mut rows: Vec<(WarningKind, WarningRow)> = Vec::new();
    for (place, cell) in subject.cells() {
        for warning in &cell.warnings {
            let label = subject.grid.labels[place].clone();
            match rows.iter_mut().find(|(kind, _)| *kind == warning.kind) {
                Some((_, known)) if known.cells.contains(&label) => {}
                Some((_, known)) => known.cells.push(label),
                None => {
                    let (message, advice) = (warning.message.clone(), warning.advice.clone());
                    rows.push((warning.kind, WarningRow { message, advice, cells: vec![label] }));
                }
            }
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

/// All failures as numbered footnotes, and the footnote numbers of each cell.
pub(super) fn footnotes(subject: &Subject) -> (Vec<Footnote>, Vec<Vec<u32>>) {
    let mut footnotes: Vec<Footnote> = Vec::new();
    let mut of_cell = Vec::new();
    for (place, cell) in subject.cells() {
        let mut numbers = Vec::new();
        let absent = (cell.status == CellStatus::Absent).then_some(&cell.verdict);
        // Repeated causes are counted, not listed again.
        let mut causes: Vec<(&String, u32)> = Vec::new();
        for cause in cell.failures.iter().chain(absent) {
            match causes.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, times)) => *times += 1,
                None => causes.push((cause, 1)),
            }
        }
        for (cause, times) in causes {
            let number = footnotes.len() as u32 + 1;
            let again = if times == 1 { String::new() } else { format!(" ({times} times)") };
            let text = format!("{cause}{again}");
            footnotes.push(Footnote { number, cell: subject.grid.labels[place].clone(), text });
            numbers.push(number);
        }
        of_cell.push(numbers);
    }
    (footnotes, of_cell)
}

/// One row for each cell.
pub(super) fn cells(subject: &Subject, footnotes: &[Vec<u32>]) -> Vec<CellRow> {
    let row = |(place, cell): (usize, &klatch_record::CellResult)| CellRow {
        id: cell.id.clone(),
        label: subject.grid.labels[place].clone(),
        at: cell.at.clone(),
        class: class_name(subject.class_of(place)).to_owned(),
        status: cell.status,
        verdict: cell.verdict.clone(),
        trials: cell.trials,
        estimates: cell.estimates.clone(),
        footnotes: footnotes[place].clone(),
    };
    subject.cells().map(row).collect()
}
