//! A report as Markdown, for a mail or an issue: everything but the charts; those of instruments are lists.

use klatch_record::{Estimate, LATENCY_P99, printable};

use super::show::{has, has_classes, metric, score_metrics, score_unit};
use crate::model::{CellRow, Chart, ChartKind, Place, Report, Section, SectionTable};
use crate::number::three_digits;

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
    report.requirements.iter().for_each(|one| line(format!("* {}", plain(&crate::requirement::line(one)))));
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
        line(format!("| {} | {} (base) | {} | |", table.center, plain(&table.a), plain(&table.b)));
        line("|---|---:|---:|---|".to_owned());
        for row in &table.rows {
            let number = |value: Option<f64>| {
                value.map_or_else(|| "–".to_owned(), |value| crate::metric::cell(&row.metric, value))
            };
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
        results(&report.cells).into_iter().for_each(&mut line);
        line("\nThe mean of the trials and half the width of its interval.".to_owned());
    }
    if !report.percentiles.is_empty() {
        line("\n## Percentiles of latency\n".to_owned());
        line("| | percentile | latency |\n|---|---:|---:|".to_owned());
        for row in &report.percentiles {
            line(format!("| {} | {} % | {} |", plain(&row.cell), row.percentile, row.value()));
        }
        line("\nAll trials of a cell together; ten samples are beyond each percentile.".to_owned());
    }
    for footnote in &report.footnotes {
        line(format!("\n[{}] {}: {}", footnote.number, plain(&footnote.cell), plain(&footnote.text)));
    }
    tables(report, &mut line);
    why(report, &mut line);
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

/// A table of a section.
fn table_of(table: &SectionTable, line: &mut impl FnMut(String)) {
    let cells = |row: &[String]| {
        let cells: Vec<_> = row.iter().map(|cell| plain(cell)).collect();
        format!("| {} |", cells.join(" | "))
    };
    line(format!("\n{}:\n", plain(&table.title)));
    line(cells(&table.head));
    let rule = |column| if table.class(column) == "text" { "---|" } else { "---:|" };
    line(format!("|{}", (0..table.head.len()).map(rule).collect::<String>()));
    table.rows.iter().take(LINES_MAX).for_each(|row| line(cells(row)));
}

/// Longest list of a chart; the other formats have all.
const LINES_MAX: usize = 12;

/// Sections that have tables, without their charts.
fn tables(report: &Report, line: &mut impl FnMut(String)) {
    let has_tables = |section: &&Section| !section.tables.is_empty() && !section.id.starts_with("why");
    for section in report.sections.iter().filter(has_tables) {
        line(format!("\n## {}\n", plain(&section.title)));
        section.tables.iter().for_each(|table| table_of(table, line));
    }
}

/// What the instruments observed, by side, as lists: each line has the values of one place of a chart.
fn why(report: &Report, line: &mut impl FnMut(String)) {
    for section in report.sections.iter().filter(|section| section.id.starts_with("why")) {
        line(format!("\n## {}\n", plain(&section.title)));
        section.lead.iter().for_each(|lead| line(format!("{}\n", plain(lead))));
        section.tables.iter().for_each(|table| table_of(table, line));
        // Distributions and courses over time are too long.
        let listed = |chart: &&Chart| {
            matches!(chart.kind, ChartKind::Bars | ChartKind::Stacked)
                || (chart.kind == ChartKind::Lines && section.id != "why-machine")
        };
        for chart in section.charts.iter().filter(listed) {
            line(format!("\n{}, {}:\n", plain(&chart.title), plain(&chart.y.unit)));
            let values = values_by_place(chart).into_iter().take(LINES_MAX);
            values.for_each(|text| line(format!("* {}", plain(&text))));
        }
    }
}

/// The values of each place of a chart in a line: `java-threads: kernel 18.6, scheduler 9.30`. Bars are places of their own.
fn values_by_place(chart: &Chart) -> Vec<String> {
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    for point in &chart.points {
        let Some(value) = point.y.map(three_digits) else { continue };
        let place = match (&point.x, chart.kind) {
            (Place::Named(_), ChartKind::Bars) => String::new(),
            (Place::Named(name), _) => name.clone(),
            (Place::At(at), _) => format!("{} {}", crate::number::plain(*at), chart.x.label),
        };
        let shown = match &point.x {
            Place::Named(name) if place.is_empty() => format!("{name} {value}"),
            _ => format!("{} {value}", point.series),
        };
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, values)) => values.push(shown),
            None => places.push((place, vec![shown])),
        }
    }
    let text = |(place, values): (String, Vec<String>)| {
        let start = if place.is_empty() { place } else { format!("{place}: ") };
        start + &values.join(", ")
    };
    places.into_iter().map(text).collect()
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

/// The table of the cells, without the columns of what none of them has.
fn results(cells: &[CellRow]) -> Vec<String> {
    let unit = score_unit(cells);
    let [_, cpu] = score_metrics(cells);
    let columns = [
        (String::new(), "---", true),
        ("class".to_owned(), "---", has_classes(cells)),
        (format!("{unit}s/s"), "---:", true),
        (format!("CPU µs/{unit}"), "---:", has(cells, cpu)),
        ("p99 of the latency".to_owned(), "---:", has(cells, LATENCY_P99)),
        ("trials".to_owned(), "---:", true),
        ("verdict".to_owned(), "---", true),
    ];
    let kept = |values: &[String]| {
        let kept = values.iter().zip(&columns).filter(|(_, (.., is_kept))| *is_kept);
        let kept: String = kept.map(|(value, _)| format!(" {value} |")).collect();
        format!("|{kept}")
    };
    let titles = columns.clone().map(|(title, ..)| title);
    let rules: String =
        columns.iter().filter(|(.., is_kept)| *is_kept).map(|(_, rule, _)| format!("{rule}|")).collect();
    let rows = cells.iter().take(CELLS_MAX).map(|cell| kept(&row(cell)));
    [kept(&titles), format!("|{rules}")].into_iter().chain(rows).collect()
}

/// The values of a cell in all columns.
fn row(cell: &CellRow) -> [String; 7] {
    let with = |name: &str| {
        let shown = |estimate: &Estimate| format!("{}{}", metric(name, estimate.mean), half_width(estimate));
        cell.estimates.get(name).map_or_else(|| "–".to_owned(), shown)
    };
    let [throughput, cpu] = score_metrics(std::slice::from_ref(cell));
    let references: String = cell.footnotes.iter().map(|number| format!(" [{number}]")).collect();
    // The footnote has the cause of a failure.
    let verdict = match cell.footnotes.is_empty() {
        true => plain(&cell.verdict),
        false => serde_json::to_value(cell.status)
            .map_or_else(|_| String::new(), |status| plain(status.as_str().unwrap_or(""))),
    };
    [
        plain(&cell.label),
        cell.class.clone(),
        with(throughput),
        with(cpu),
        with(LATENCY_P99),
        cell.trials.to_string(),
        format!("{verdict}{references}"),
    ]
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
