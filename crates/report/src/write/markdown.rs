//! A report as Markdown, for a mail or an issue: everything but the charts.

use klatch_record::{Estimate, printable};

use crate::model::{CellRow, Report};
use crate::number::{grouped, three_digits, time};

/// Largest number of cells in the table; the other formats have all.
const CELLS_MAX: usize = 200;

/// The report in GitHub-flavoured Markdown, printable as it is.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# {}\n\n", plain(&report.title));
    let mut line = |line: String| text += &(line + "\n");
    if !report.question.is_empty() {
        line(format!("*{}*\n", plain(&report.question)));
    }
    line(format!("**{}**\n", plain(&report.answer)));
    line(format!("Verdict: {}.\n", plain(&report.verdict.text)));
    for warning in &report.warnings {
        let of = match warning.cells.len() {
            all if all == report.cells.len() => "all cells".to_owned(),
            few @ ..4 if few > 0 => warning.cells.join("; "),
            many => format!("{many} of {} cells", report.cells.len()),
        };
        line(format!("* warning: {}; {} ({})", plain(&warning.message), plain(&warning.advice), plain(&of)));
    }
    for table in &report.ratios {
        line(format!("\n## {}\n", plain(&table.heading())));
        line(format!("| {} | {} | {} | |", table.center, plain(&table.a), plain(&table.b)));
        line("|---|---:|---:|---|".to_owned());
        for row in &table.rows {
            let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), three_digits);
            line(format!(
                "| {} | {} | {} | {} |",
                plain(&row.name),
                number(row.a),
                number(row.b),
                plain(&row.conclusion)
            ));
        }
        table.caveats.iter().for_each(|caveat| line(format!("\n* {}", plain(caveat))));
    }
    // A duet has no cells.
    if !report.cells.is_empty() || report.ratios.is_empty() {
        line("\n## Results\n".to_owned());
        let unit = if has_operations(&report.cells) { "operation" } else { "message" };
        line(format!("| | class | {unit}s/s | CPU µs/{unit} | p99 of the latency | trials | verdict |"));
        line("|---|---|---:|---:|---:|---:|---|".to_owned());
        report.cells.iter().take(CELLS_MAX).for_each(|cell| line(row(cell)));
        line("\nThe mean of the trials and half the width of its interval.".to_owned());
    }
    for footnote in &report.footnotes {
        line(format!("\n[{}] {}: {}", footnote.number, plain(&footnote.cell), plain(&footnote.text)));
    }
    line("\n## Run rules\n".to_owned());
    report.rules.iter().for_each(|rule| line(plain(rule)));
    let valid = report.runs.iter().filter(|run| run.verdict == "valid").count();
    if !report.runs.is_empty() {
        line(format!("\n{} runs, {valid} of them valid.", report.runs.len()));
    }
    environment(report, &mut line);
    line("\n## To repeat it\n".to_owned());
    for command in &report.commands {
        // Four blanks make a code block, whatever the text contains.
        line(format!("{}:\n\n    {}\n", plain(&command.what), command.line.replace(['\n', '\r'], " ")));
    }
    printable(&text).into_owned()
}

fn environment(report: &Report, line: &mut impl FnMut(String)) {
    line("\n## Environment\n".to_owned());
    line(format!("| | {} | |", report.environments.join(" | ")));
    line(format!("|---|{}---|", "---|".repeat(report.environments.len())));
    for fact in &report.facts {
        let values: Vec<String> = fact.values.iter().map(|value| plain(value)).collect();
        line(format!(
            "| {} | {} | {} |",
            plain(&fact.name),
            values.join(" | "),
            if fact.differs { "differs" } else { "" }
        ));
    }
    for one in &report.instruments {
        let share = one.share_of_cpu.map_or_else(String::new, |share| {
            format!(", at least {} of CPU time", crate::difference::percent(share))
        });
        line(format!("\nInstrument `{}`: {}{share}.", one.name, plain(&one.state)));
    }
}

/// Whether the score is in operations, as of all workloads but chat.
fn has_operations(cells: &[CellRow]) -> bool {
    cells.iter().any(|cell| cell.estimates.contains_key("operations_per_s"))
}

fn row(cell: &CellRow) -> String {
    let with = |name: &str, show: fn(f64) -> String| {
        let shown = |estimate: &Estimate| format!("{}{}", show(estimate.mean), half_width(estimate));
        cell.estimates.get(name).map_or_else(|| "–".to_owned(), shown)
    };
    let [throughput, cpu] = match has_operations(std::slice::from_ref(cell)) {
        true => ["operations_per_s", "cpu_us_per_operation"],
        false => ["messages_per_s", "cpu_us_per_message"],
    };
    let references: String = cell.footnotes.iter().map(|number| format!(" [{number}]")).collect();
    // The footnote has the cause of a failure.
    let verdict = match cell.footnotes.is_empty() {
        true => plain(&cell.verdict),
        false => serde_json::to_value(cell.status)
            .map_or_else(|_| String::new(), |status| plain(status.as_str().unwrap_or(""))),
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {verdict}{references} |",
        plain(&cell.label),
        cell.class,
        with(throughput, |value| grouped(value.round() as u64)),
        with(cpu, three_digits),
        with("latency_p99_us", time),
        cell.trials,
    )
}

fn half_width(estimate: &Estimate) -> String {
    let Some((low, high)) = estimate.low.zip(estimate.high) else { return String::new() };
    format!(" ±{:.1} %", (high - low) / 2.0 / estimate.mean * 100.0)
}

/// Escapes text for Markdown and for HTML within it.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => plain.push(' '),
            '<' => plain.push_str("&lt;"),
            '&' => plain.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' | '!' => {
                plain.push('\\');
                plain.push(letter);
            }
            letter => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays_text() {
        let text = plain("a|b <script>x</script> [x](http://y) `c`\nd");
        assert_eq!(text, "a\\|b &lt;script>x&lt;/script> \\[x\\](http://y) \\`c\\` d");
    }
}
