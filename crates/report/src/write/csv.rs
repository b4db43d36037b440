//! A report as CSV with one line for each cell and metric, for spreadsheets and statistics programs.

use klatch_record::printable_line;

use crate::model::Report;

/// The cells' estimates: `cell`, a column for each axis, `status`, `metric`, `mean`, `low`, `high`, `n`. Text that a spreadsheet
/// would treat as a formula begins with an apostrophe. A field is one line, and printable.
pub fn csv(report: &Report) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let axes = report.axes.iter().map(String::as_str);
    let heads = std::iter::once("cell").chain(axes).chain(["status", "metric", "mean", "low", "high", "n"]);
    let mut write =
        |row: Vec<String>| writer.write_record(row.into_iter().map(plain)).expect("memory takes everything");
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
        for row in report.percentiles.iter().filter(|row| row.id == cell.id) {
            let value = row.latency_us.map_or_else(String::new, |us| us.to_string());
            let name = format!("latency_p{}_us", row.percentile);
            // Of all trials together.
            let rest = [name, value, String::new(), String::new(), "1".to_owned()];
            write([start.clone(), rest.to_vec()].concat());
        }
    }
    String::from_utf8(writer.into_inner().expect("memory takes everything")).expect("it was text before")
}

/// The field as it is safe in a spreadsheet: an apostrophe before what begins like a formula. Numbers stay numbers. The page saves its
/// charts by the same rule: `assets/save.js`.
pub(crate) fn plain(field: String) -> String {
    let is_number = field.parse().is_ok_and(f64::is_finite);
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && !is_number;
    format!("{}{}", if is_formula { "'" } else { "" }, printable_line(&field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_is_a_formula() {
        for formula in [
            "=1+1",
            "+1+1",
            "-1+1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "-",
            "-inf",
            "+nan",
            "--5",
            "-1,5",
            "-2 (small)",
        ] {
            assert_eq!(plain(formula.to_owned()), printable_line(&format!("'{formula}")), "{formula}");
        }
        assert_eq!(plain("\u{1b}[2J\n".to_owned()), "\\u001b[2J\\u000a");
        for harmless in ["", "native-epoll", "a=b", "'=1", "1.5", "-1.5", "+2", "-1e-9", "-0"] {
            assert_eq!(plain(harmless.to_owned()), harmless);
        }
    }
}
