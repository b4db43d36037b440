//! A report as CSV with one line for each cell and metric, for spreadsheets and statistics programs.

use crate::model::Report;

/// The cells' estimates: `cell`, a column for each axis, `status`, `metric`, `mean`, `low`, `high`, `n`.
pub fn csv(report: &Report) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let axes = report.axes.iter().map(String::as_str);
    let heads = std::iter::once("cell").chain(axes).chain(["status", "metric", "mean", "low", "high", "n"]);
    let mut write = |row: Vec<String>| writer.write_record(row).expect("memory takes everything");
    write(heads.map(str::to_owned).collect());
    for cell in &report.cells {
        let mut start = vec![cell.id.clone()];
        start.extend(report.axes.iter().map(|axis| cell.at.get(axis).cloned().unwrap_or_default()));
        let status = serde_json::to_value(cell.status).expect("a status is plain JSON");
        start.push(status.as_str().unwrap_or_default().to_owned());
        if cell.estimates.is_empty() {
            // A failed cell gets a line as well.
            write([start.clone(), vec![String::new(); 5]].concat());
        }
        for (metric, estimate) in &cell.estimates {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let numbers = [
                metric.clone(),
                estimate.mean.to_string(),
                number(estimate.low),
                number(estimate.high),
                estimate.values.len().to_string(),
            ];
            write([start.clone(), numbers.to_vec()].concat());
        }
    }
    String::from_utf8(writer.into_inner().expect("memory takes everything")).expect("it was text before")
}
