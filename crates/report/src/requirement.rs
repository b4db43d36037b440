//! Judged requirements as text: lines for a terminal, annotations of GitHub, and JUnit XML.

use askama::Template;
use klatch_record::{Duet, Judgement, JudgementStatus, Metric, Quantity, StudyResult, printable_line};

use crate::metric::ShownMetric;
use crate::model::Judged;
use crate::number::{grouped, three_digits};

/// The judged requirements of a duet.
pub fn judged_duet(duet: &Duet) -> Vec<Judged> {
    let judged = |judgement: &Judgement| Judged { cell: None, judgement: judgement.clone() };
    duet.requirements.iter().map(judged).collect()
}

/// The judged requirements of a study or of runs: those of every cell, and of every pair of duets.
pub fn judged_study(result: &StudyResult) -> Vec<Judged> {
    let is_alone = result.cells.len() == 1;
    let of = |cell: &str, all: &[Judgement]| {
        let cell = (!is_alone).then(|| cell.to_owned());
        let judged = |one: &Judgement| Judged { cell: cell.clone(), judgement: one.clone() };
        all.iter().map(judged).collect::<Vec<_>>()
    };
    let cells = result.cells.iter().flat_map(|cell| of(&cell.id, &cell.requirements));
    let pairs = result
        .pairs
        .iter()
        .flat_map(|pair| of(&format!("{} against {}", pair.b, pair.a), &pair.requirements));
    cells.chain(pairs).collect()
}

/// The requirement with its numbers, without the status: `p99 <= 5ms: 3.10 ms (2.90–3.30)`.
pub(crate) fn numbers(judgement: &Judgement) -> String {
    let Judgement { requirement, value, low, high, trials, trials_needed, reason, is_ratio, .. } = judgement;
    let unit = if *is_ratio { "start" } else { "trial" };
    let value = value.map(|value| {
        let interval = low.zip(*high).filter(|(low, high)| low < high);
        let interval = interval.map_or(String::new(), |(low, high)| {
            format!(" ({}–{})", number(judgement, low), number(judgement, high))
        });
        show(judgement, value) + &interval
    });
    let needed = trials_needed.map(|needed| {
        format!(
            "about {} {unit}s would decide it, there are {}",
            grouped(needed.into()),
            grouped((*trials).into())
        )
    });
    let hopeless = (judgement.status == JudgementStatus::Undecided && reason.is_none() && needed.is_none())
        .then(|| {
            "the estimate is so near the limit that no number of trials is likely to decide it".to_owned()
        });
    let parts: Vec<String> = [value, reason.clone(), needed, hopeless].into_iter().flatten().collect();
    format!("{requirement}: {}", parts.join("; "))
}

/// A value with its unit.
fn show(judgement: &Judgement, value: f64) -> String {
    let metric = Metric::named(&judgement.metric).filter(|_| !judgement.is_ratio);
    match metric {
        Some(metric) if metric.quantity == Quantity::Number && value.fract() == 0.0 => grouped(value as u64),
        Some(metric) => metric.show(value),
        None => number(judgement, value),
    }
}

/// An end of an interval, in the unit of the value.
fn number(judgement: &Judgement, value: f64) -> String {
    match Metric::named(&judgement.metric) {
        Some(metric) if !judgement.is_ratio => {
            let shown = metric.show(value.max(0.0));
            shown.strip_suffix(metric.display().0).unwrap_or(&shown).trim_end().to_owned()
        }
        Some(_) => format!("{value:.3}"),
        None => three_digits(value),
    }
}

/// One judgement in a line: `not met: p99 <= 5ms: 6.10 ms (5.80–6.40), in native-epoll`.
pub(crate) fn line(judged: &Judged) -> String {
    let cell = judged.cell.as_ref().map_or(String::new(), |cell| format!(", in {cell}"));
    format!("{}: {}{cell}", judged.judgement.status.words(), numbers(&judged.judgement))
}

/// Longest list of requirements that are met; of more, the number.
const MET_MAX: usize = 8;

/// All judgements, a line each, those that are not met first; of many that are met, their number.
pub fn requirements(judged: &[Judged]) -> String {
    let with = |status: JudgementStatus| judged.iter().filter(move |one| one.judgement.status == status);
    let met = with(JudgementStatus::Met).count();
    let others = with(JudgementStatus::NotMet).chain(with(JudgementStatus::Undecided)).map(line);
    let mut lines: Vec<String> = others.collect();
    match met {
        0..=MET_MAX => lines.extend(with(JudgementStatus::Met).map(line)),
        many => lines.push(format!("met: {many} of {} requirements", judged.len())),
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The status of all judgements together; `None` without any.
pub fn worst(judged: &[Judged]) -> Option<JudgementStatus> {
    let any = |status| judged.iter().any(|one| one.judgement.status == status).then_some(status);
    any(JudgementStatus::NotMet)
        .or_else(|| any(JudgementStatus::Undecided))
        .or_else(|| any(JudgementStatus::Met))
}

/// A workflow command of GitHub for each judgement that is not met or cannot be decided, which shows it beside the run.
pub fn annotations(judged: &[Judged]) -> Vec<String> {
    let annotation = |one: &Judged| {
        let level = match one.judgement.status {
            JudgementStatus::Met => return None,
            JudgementStatus::NotMet => "error",
            JudgementStatus::Undecided => "warning",
        };
        // A percent sign begins an escape.
        let text = printable_line(&line(one)).replace('%', "%25");
        Some(format!("::{level} title=klatch::{text}"))
    };
    judged.iter().filter_map(annotation).collect()
}

/// The judgements as JUnit XML, for CI services.
#[derive(Template)]
#[template(path = "junit.xml")]
struct Junit<'a> {
    suite: &'a str,
    cases: Vec<Case>,
}

/// A test case: a requirement in a cell.
struct Case {
    class: String,
    name: String,
    outcome: Outcome,
    message: String,
}

/// The outcome of a test case.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    Passed,
    Failed,
    Undecided,
    Skipped,
}

impl Junit<'_> {
    fn failures(&self) -> usize {
        self.count(Outcome::Failed)
    }

    fn errors(&self) -> usize {
        self.count(Outcome::Undecided)
    }

    fn skipped(&self) -> usize {
        self.count(Outcome::Skipped)
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }
}

/// The judgements as JUnit XML with a test case each: what is not met is a failure, and what cannot be decided an error, or skipped if
/// `undecided_passes`. `suite` is the name of what was measured.
pub fn junit(suite: &str, judged: &[Judged], undecided_passes: bool) -> String {
    let plain = |text: &str| printable_line(text).into_owned();
    let case = |one: &Judged| Case {
        class: plain(one.cell.as_deref().unwrap_or(suite)),
        name: plain(&one.judgement.requirement),
        outcome: match one.judgement.status {
            JudgementStatus::Met => Outcome::Passed,
            JudgementStatus::NotMet => Outcome::Failed,
            JudgementStatus::Undecided if undecided_passes => Outcome::Skipped,
            JudgementStatus::Undecided => Outcome::Undecided,
        },
        message: plain(&numbers(&one.judgement)),
    };
    let cases = judged.iter().map(case).collect();
    // Rendering into memory fails only if a value cannot be formatted.
    Junit { suite: &plain(suite), cases }.to_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(requirement: &str, status: JudgementStatus, numbers: Option<(f64, f64, f64)>) -> Judged {
        let judgement = Judgement {
            requirement: requirement.to_owned(),
            status,
            metric: "latency_p99_us".to_owned(),
            is_ratio: false,
            value: numbers.map(|numbers| numbers.0),
            low: numbers.map(|numbers| numbers.1),
            high: numbers.map(|numbers| numbers.2),
            limit: 5_000.0,
            trials: 3,
            trials_needed: (status == JudgementStatus::Undecided && numbers.is_some()).then_some(12),
            reason: numbers.is_none().then(|| "no trial that counts has it".to_owned()),
        };
        Judged { cell: Some("a & <b>".to_owned()), judgement }
    }

    fn all() -> [Judged; 4] {
        [
            judged("p99 <= 5ms", JudgementStatus::Met, Some((3_100.0, 2_900.0, 3_300.0))),
            judged("p99 < 4ms", JudgementStatus::Undecided, Some((3_900.0, 3_000.0, 4_800.0))),
            judged("p99 <= 3ms", JudgementStatus::NotMet, Some((6_100.0, 5_800.0, 6_400.0))),
            judged("p99 <= 2ms", JudgementStatus::Undecided, None),
        ]
    }

    #[test]
    fn what_is_not_met_comes_first_with_what_would_decide_the_rest() {
        let text = requirements(&all());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "not met: p99 <= 3ms: 6.10 ms (5.80–6.40), in a & <b>",
                "cannot be decided: p99 < 4ms: 3.90 ms (3.00–4.80); about 12 trials would decide it, there are 3, in a & <b>",
                "cannot be decided: p99 <= 2ms: no trial that counts has it, in a & <b>",
                "met: p99 <= 5ms: 3.10 ms (2.90–3.30), in a & <b>",
            ]
        );
        let many = vec![all()[0].clone(); 20];
        assert_eq!(requirements(&many), "met: 20 of 20 requirements\n");
        assert_eq!(
            (worst(&all()), worst(&many), worst(&[])),
            (Some(JudgementStatus::NotMet), Some(JudgementStatus::Met), None)
        );
    }

    #[test]
    fn junit_has_a_case_for_each_judgement_and_escapes_names() {
        let xml = junit("mine\u{1b}[2J", &all(), false);
        assert!(
            xml.contains(r#"<testsuite name="mine\u001b[2J" tests="4" failures="1" errors="2" skipped="0">"#),
            "{xml}"
        );
        assert!(xml.contains(r#"<testcase classname="a &#38; &#60;b&#62;" name="p99 &#60;= 5ms">"#), "{xml}");
        assert!(
            xml.contains(r#"<failure type="not met" message="p99 &#60;= 3ms: 6.10 ms (5.80–6.40)"/>"#),
            "{xml}"
        );
        assert_eq!(xml.matches("<error ").count(), 2);
        let xml = junit("mine", &all(), true);
        assert_eq!((xml.matches("<error ").count(), xml.matches("<skipped ").count()), (0, 2));
    }

    #[test]
    fn annotations_are_for_what_is_not_met_and_have_one_line() {
        let annotations = annotations(&all());
        assert_eq!(
            annotations[0],
            "::warning title=klatch::cannot be decided: p99 < 4ms: 3.90 ms (3.00–4.80); about 12 trials would decide it, there are 3, in a & <b>"
        );
        assert!(annotations[1].starts_with("::error title=klatch::not met: p99 <= 3ms"));
        assert_eq!(annotations.len(), 3);
    }
}
