//! The page of all results as Markdown.

use std::fmt::Write;

use super::data::{BandVerdict, Evidence, Finding, Paper, PaperResult, PaperVerdict, SimulatedResult};

const HEAD: &str = "\
# The papers' results beside Klatch's

Made from the files in `research/papers/`. Tests compare the page with them, search each quoted file for the quotation and every number, and
simulate the simulated results again. The papers' machines are 25 years old, so only changes and shares compare.

`klatch` stands for `target/release/klatch`, and `klatch-research` for `cargo run --release -p klatch-research --`.

";

const WORDS: &str = "
| evidence | origin of the number |
|---|---|
| measured | a virtual machine with two CPUs, by its clocks |
| emulated | [the lab](../docs/reference/lab.md), whose clock counts instructions |
| simulated | [the simulator](../docs/reference/simulator.md), whose operations have prices |
| defined | Klatch's definition of a workload or rule: the result is a rule, too |

";

const SIMULATED: &str = "
## Simulated results

`klatch-research papers` computes all of them in a minute. A cost was fitted to each *calibration* point, so meeting it proves nothing; the others are
predictions. One is *within* if every number is within the band; where only a sign is predicted, a change below 1 % has none.
[The simulator's note](notes/2026-11-29-simulated.md) has what changed last, and [the one before it](notes/2026-11-23-simulator.md) explains what is outside.

| # | result | source | published | band | simulated | |
|---|---|---|---|---|---|---|
";

/// A row for each result in the order of their numbers, then a section for each, the simulated results, and the papers.
pub fn page(papers: &[Paper]) -> String {
    let mut results: Vec<(&Paper, &PaperResult)> =
        papers.iter().flat_map(|paper| paper.results.iter().map(move |result| (paper, result))).collect();
    results.sort_by_key(|(_, result)| result.position());
    let mut text = HEAD.to_owned();
    text += "| | result | published | Klatch | verdict |\n|---|---|---|---|---|\n";
    for (_, result) in &results {
        row(&mut text, result);
    }
    text += WORDS;
    text += &counts(&results.iter().map(|(_, result)| *result).collect::<Vec<_>>());
    text += "\n## Evidence\n";
    for (paper, result) in &results {
        section(&mut text, paper, result);
    }
    simulated(&mut text, papers);
    text += "\n## Papers\n\n";
    for paper in papers {
        let _ = writeln!(text, "* **{}**: {}", paper.short, paper.paper);
    }
    text
}

fn row(text: &mut String, result: &PaperResult) {
    let PaperResult { number, quantity, published, found, verdict, .. } = result;
    let found = found.as_ref().map_or("–".to_owned(), |found| format!("{found} ({})", kinds(result)));
    let _ = writeln!(
        text,
        "| [{number}](#result-{number}) | {quantity} | {published} | {found} | {} |",
        verdict.name()
    );
}

/// The evidence for a result, and how to produce it again.
fn section(text: &mut String, paper: &Paper, result: &PaperResult) {
    let place = result.place.as_ref().map_or(String::new(), |place| format!(", {place}"));
    let _ = writeln!(
        text,
        "\n### Result {}\n\n**{}** ({}{place})\n",
        result.number, result.quantity, paper.short
    );
    let _ = writeln!(text, "* published: {}", result.all_published());
    for one in &result.findings {
        let _ = writeln!(text, "* {}", finding(one));
    }
    let _ = writeln!(text, "* {}", verdict(result));
    if !result.commands.is_empty() {
        let commands: Vec<String> = result.commands.iter().map(|command| format!("`{command}`")).collect();
        let _ = writeln!(text, "* again: {}", commands.join(", "));
    }
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
    let ratios: Vec<String> = finding.ratios.iter().map(ToString::to_string).collect();
    let ratios = match ratios.is_empty() {
        true => String::new(),
        false => format!("; over the published: {}", ratios.join(", ")),
    };
    format!("{}: {}{ratios} ({source})", finding.kind.name(), finding.text)
}

fn verdict(result: &PaperResult) -> String {
    let kinds = if result.rests_on.is_empty() { String::new() } else { format!(" ({})", kinds(result)) };
    let because = result.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
    format!("**{}**{kinds}{because}", result.verdict.name())
}

/// The kinds of evidence that the verdict rests on.
fn kinds(result: &PaperResult) -> String {
    result.rests_on.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

fn simulated(text: &mut String, papers: &[Paper]) {
    *text += SIMULATED;
    let mut results: Vec<(&Paper, &SimulatedResult)> =
        papers.iter().flat_map(|paper| paper.simulated.iter().map(move |result| (paper, result))).collect();
    results.sort_by_key(|(_, result)| result.number);
    for (paper, result) in results {
        let SimulatedResult { number, quantity, published, band, calibrated, found, verdict } = result;
        let verdict = match verdict {
            BandVerdict::Within => "within",
            BandVerdict::Outside => "outside",
        };
        let calibration = if *calibrated { ", calibration" } else { "" };
        let _ = writeln!(
            text,
            "| {number} | {quantity} | {} | {published} | {band} | {found} | {verdict}{calibration} |",
            paper.short
        );
    }
}

/// How many results have each verdict, and what the positive ones rest on.
fn counts(results: &[&PaperResult]) -> String {
    let number = |wanted: &dyn Fn(&PaperResult) -> bool| results.iter().filter(|r| wanted(r)).count();
    let mut text =
        "| verdict | meaning | results | measured | emulated | simulated | defined |\n|---|---|---|---|---|---|---|\n".to_owned();
    for verdict in PaperVerdict::ALL {
        let kinds = Evidence::ALL
            .map(|kind| number(&|r| r.verdict == verdict && r.rests_on.contains(&kind)).to_string());
        let all = number(&|r| r.verdict == verdict);
        let _ =
            writeln!(text, "| {} | {} | {all} | {} |", verdict.name(), verdict.meaning(), kinds.join(" | "));
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
detail = 'with one CPU'
found = '+11.8 %'
verdict = 'in-shape'
rests_on = ['simulated']
because = 'it is larger'
commands = ['klatch-research papers']
[[result.finding]]
kind = 'simulated'
file = 'research/notes/a.md'
quotes = ['+11.8 %']
text = '+11.8 %, five seeds'
ratios = [{ found = '+11.8 %', published = '+7 %' }]
[[result]]
number = '2'
quantity = 'lines'
published = '4'
verdict = 'cannot-be-had'
because = 'nothing counts them'
[[simulated]]
number = 17
quantity = 'order'
published = '+4 %'
band = 'sign'
found = '+5 %'
verdict = 'within'
";

    #[test]
    fn rows_stand_in_the_order_of_their_numbers_and_lead_to_sections() {
        let page = page(&[parse("a.toml", FILE).expect("a valid file")]);
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| [")).collect();
        assert_eq!(
            rows,
            [
                "| [2](#result-2) | lines | 4 | – | not available |",
                "| [10](#result-10) | gain | +7 % | +11.8 % (simulated) | in shape |",
            ]
        );
        let section = page.split("### Result 10\n\n").nth(1).expect("a section");
        let section = section.split("\n\n## ").next().expect("its lines");
        assert_eq!(
            section,
            "**gain** (Authors 2000, Figure 8)\n\n* published: +7 %; with one CPU\n\
             * simulated: +11.8 %, five seeds; over the published: 1.04 ([a](notes/a.md))\n\
             * **in shape** (simulated): it is larger\n* again: `klatch-research papers`"
        );
        assert!(page.contains("is covered | 1 | 0 | 0 | 1 | 0 |\n"), "{page}");
        assert!(page.contains("\n| 17 | order | Authors 2000 | +4 % | sign | +5 % | within |\n"), "{page}");
        assert!(
            page.contains(
                "1 of 2 results are reproduced at least in shape, 1 of them in the simulator only.\n"
            )
        );
    }

    #[test]
    fn verdicts_without_evidence_or_reason_are_refused() {
        let refused = |old: &str, new: &str| {
            let text = FILE.replace(old, new);
            assert_ne!(text, FILE);
            parse("a.toml", &text).map(|_| ()).map_err(|error| error.to_string())
        };
        let without_reason = refused("because = 'nothing counts them'", "").expect_err("no reason");
        assert!(
            without_reason.contains("research/papers/a.toml, result 2: `not available` needs a reason"),
            "{without_reason}"
        );
        let without_kind =
            refused("rests_on = ['simulated']", "rests_on = ['measured']").expect_err("no such finding");
        assert!(without_kind.contains("rests on a measured finding"), "{without_kind}");
        let without_evidence = refused("rests_on = ['simulated']", "").expect_err("nothing to rest on");
        assert!(without_evidence.contains("result 10"), "{without_evidence}");
        let unlike = refused("published = '+7 %' }", "published = '-30 %' }").is_ok();
        assert!(unlike, "in shape, any ratio is accepted");
        let file = FILE.replace("'in-shape'", "'reproduced'");
        assert!(parse("a.toml", &file).is_ok());
        let too_far = file.replace("published = '+7 %' }", "published = '-30 %' }");
        let too_far = parse("a.toml", &too_far).expect_err("too far").to_string();
        assert!(too_far.contains("nor within a factor of 1.25"), "{too_far}");
        assert!(refused("found = '+11.8 %'\nverdict", "verdict").is_err(), "no summary");
        assert!(refused("'+11.8 %', published", "'much', published").is_err());
        assert!(refused("number = '2'", "number = 'two'").is_err());
    }
}
