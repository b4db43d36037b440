//! The table of all results as Markdown.

use std::fmt::Write;

use super::data::{Evidence, Finding, Paper, PaperResult, PaperVerdict};

const HEAD: &str = "\
# The papers' results beside Klatch's

`klatch papers` prints this page from the files in `research/papers/`. Each finding names the file that it quotes, and a test searches that file for the quotation.
A ratio is Klatch's result over the published one; a change counts as a factor. The papers' machines are 25 years old, so only changes and shares compare.

| word | origin of the number |
|---|---|
| measured | a virtual machine with two CPUs, by its clocks |
| emulated | [the lab](../docs/reference/lab.md), whose clock counts instructions |
| simulated | [the simulator](../docs/reference/simulator.md), whose operations have prices |
| defined | Klatch's definition of a workload or rule: the result is a rule, too |

| verdict | meaning |
|---|---|
| reproduced | the number agrees within the paper's own range or a factor of 1.25, or the rule is the same |
| reproduced in shape | direction and form agree, the size does not, or only a part of the result is covered |
| not reproduced | Klatch finds something else, or has not got the evidence |
| cannot be had here | the result needs hardware, programs or kernels that neither this machine nor the lab has |

The kinds after a verdict are those of the findings that it rests on.

";

/// Formats all results in the order of their numbers, the papers, and the number of results with each verdict.
pub fn papers_table(papers: &[Paper]) -> String {
    let mut results: Vec<(&str, &PaperResult)> = papers
        .iter()
        .flat_map(|paper| paper.results.iter().map(|result| (paper.short.as_str(), result)))
        .collect();
    results.sort_by_key(|(_, result)| result.position());
    let mut text = HEAD.to_owned();
    text +=
        "| # | result | published | Klatch | ratio | verdict | command |\n|---|---|---|---|---|---|---|\n";
    for (short, result) in &results {
        row(&mut text, short, result);
    }
    text += "\n## Papers\n\n";
    for paper in papers {
        let _ = writeln!(text, "* **{}**: {}", paper.short, paper.paper);
    }
    text += "\n## Count\n\n";
    let results: Vec<&PaperResult> = results.into_iter().map(|(_, result)| result).collect();
    text + &counts(&results)
}

fn row(text: &mut String, short: &str, result: &PaperResult) {
    let place = result.place.as_ref().map_or(String::new(), |place| format!(", {place}"));
    let cells = [
        result.number.clone(),
        format!("{}<br>*{short}{place}*", result.quantity),
        result.published.clone(),
        lines(result.findings.iter().map(finding)),
        lines(result.findings.iter().flat_map(ratios)),
        verdict(result),
        lines(result.commands.iter().map(|command| format!("`{command}`"))),
    ];
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

fn finding(finding: &Finding) -> String {
    let file = &finding.file;
    let name = file.trim_end_matches(".md").rsplit('/').next().unwrap_or(file);
    // The page is in `research/`.
    let source = match file.strip_prefix("research/") {
        Some(note) => format!("[{name}]({note})"),
        None if file.ends_with(".md") => format!("[{name}](../{file})"),
        None => format!("`{file}`"),
    };
    format!("*{}:* {} ({source})", finding.kind.name(), finding.text)
}

/// The ratios of a finding, each with its kind.
fn ratios(finding: &Finding) -> impl Iterator<Item = String> {
    finding.ratios.iter().map(|ratio| format!("{ratio} *{}*", finding.kind.name()))
}

fn verdict(result: &PaperResult) -> String {
    let kinds: Vec<&str> = result.rests_on.iter().map(|kind| kind.name()).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let name = result.verdict.name();
    match &result.because {
        None => format!("**{name}**{kinds}"),
        Some(because) if result.verdict.is_positive() => format!("**{name}**{kinds}: {because}"),
        Some(because) => format!("**{name}**, because {because}"),
    }
}

/// Items of one cell, each on a line of its own.
fn lines(items: impl Iterator<Item = String>) -> String {
    let text = items.collect::<Vec<_>>().join("<br>");
    if text.is_empty() { "–".to_owned() } else { text }
}

/// How many results have each verdict, and what the positive ones rest on.
fn counts(results: &[&PaperResult]) -> String {
    let number = |wanted: &dyn Fn(&PaperResult) -> bool| results.iter().filter(|r| wanted(r)).count();
    let mut text = "| verdict | results | of them measured | emulated | simulated | defined |\n|---|---|---|---|---|---|\n".to_owned();
    for verdict in PaperVerdict::ALL {
        let kinds = Evidence::ALL.map(|kind| {
            let resting = number(&|r| r.verdict == verdict && r.rests_on.contains(&kind));
            if verdict.is_positive() { resting.to_string() } else { "–".to_owned() }
        });
        let all = number(&|r| r.verdict == verdict);
        let _ = writeln!(text, "| {} | {all} | {} |", verdict.name(), kinds.join(" | "));
    }
    let positive = number(&|r| r.verdict.is_positive());
    let simulated =
        number(&|r| r.verdict.is_positive() && r.rests_on.iter().all(|kind| *kind == Evidence::Simulated));
    let _ = writeln!(
        text,
        "\nA verdict can rest on several kinds. {positive} of {} results are reproduced at least in shape, {simulated} of them in the simulator only.",
        results.len()
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::data::parse;

    const FILE: &str = "
paper = 'Authors, Title, 2000'
short = 'Authors 2000'
[[result]]
number = '10'
place = 'Figure 8'
quantity = 'gain'
published = '+7 %'
verdict = 'in-shape'
rests_on = ['simulated']
because = 'it is larger'
commands = ['klatch simulate papers']
[[result.finding]]
kind = 'simulated'
file = 'research/notes/a.md'
quotes = ['+11.8 %']
text = '+11.8 %'
ratios = [{ found = '+11.8 %', published = '+7 %' }]
[[result]]
number = '2'
quantity = 'lines'
published = '4'
verdict = 'cannot-be-had'
because = 'nothing counts them'
";

    #[test]
    fn rows_stand_in_the_order_of_their_numbers_and_are_counted() {
        let table = papers_table(&[parse("a.toml", FILE).expect("a valid file")]);
        let rows: Vec<&str> =
            table.lines().filter(|line| line.starts_with("| 2 ") || line.starts_with("| 10 ")).collect();
        assert_eq!(
            rows,
            [
                "| 2 | lines<br>*Authors 2000* | 4 | – | – | **cannot be had here**, because nothing counts them | – |",
                "| 10 | gain<br>*Authors 2000, Figure 8* | +7 % | *simulated:* +11.8 % ([a](notes/a.md)) | 1.04 *simulated* | \
                 **reproduced in shape** (simulated): it is larger | `klatch simulate papers` |",
            ]
        );
        assert!(table.contains("| reproduced in shape | 1 | 0 | 0 | 1 | 0 |"), "{table}");
        assert!(table.ends_with(
            "1 of 2 results are reproduced at least in shape, 1 of them in the simulator only.\n"
        ));
    }

    #[test]
    fn verdicts_without_evidence_or_reason_are_refused() {
        let refused = |old: &str, new: &str| {
            parse("a.toml", &FILE.replace(old, new)).map_err(|error| error.to_string())
        };
        let without_reason = refused("because = 'nothing counts them'", "").expect_err("no reason");
        assert!(
            without_reason.contains("research/papers/a.toml, result 2: `cannot be had here` needs a reason"),
            "{without_reason}"
        );
        let without_kind =
            refused("rests_on = ['simulated']", "rests_on = ['measured']").expect_err("no such finding");
        assert!(without_kind.contains("rests on a measured finding"), "{without_kind}");
        let without_evidence = refused("rests_on = ['simulated']", "").expect_err("nothing to rest on");
        assert!(without_evidence.contains("result 10"), "{without_evidence}");
        assert!(refused("'+11.8 %', published", "'much', published").is_err());
        assert!(refused("number = '2'", "number = 'two'").is_err());
    }
}
