//! The studies that Klatch brings, and the plan of a study, as text.

use klatch_study::{ComputedPlan, Shipped, StudyHead, StudyPlan};

use crate::number::duration;
use crate::table::{Column, TextTable};

/// A row for each study.
pub fn studies(all: &[Shipped]) -> TextTable {
    let columns = [Column::name("study"), Column::name("kind").less(1), Column::words("question")];
    let mut table = TextTable::new(columns);
    for study in all {
        table.row([study.name, study.kind.name(), &study.question().unwrap_or_default()]);
    }
    table
}

/// The plan of a measured study: question, rules, instruments, cells and number of runs.
pub fn study_plan(plan: &StudyPlan) -> String {
    let mut text = head(&plan.head, plan.rules_text());
    let instruments: Vec<&str> = plan.instruments().iter().map(|name| name.name()).collect();
    if !instruments.is_empty() {
        text += &format!("instruments: {}\n", instruments.join(", "));
    }
    for cell in &plan.cells {
        let absent = cell.absent.as_ref().map_or(String::new(), |why| format!("  (not here: {why})"));
        text += &format!("  {}{absent}\n", cell.id);
    }
    let (least, most) = plan.runs();
    let (least_s, most_s) = plan.estimate_s();
    text += &match plan.is_search() {
        true => "a search: the number of runs depends on the results\n".to_owned(),
        false => format!(
            "{} runs, about {}\n",
            range(least.to_string(), most.to_string()),
            range(duration(least_s), duration(most_s))
        ),
    };
    text
}

/// The plan of a computed study: question, rules, cells with their commands, and number of trials.
pub fn computed_plan<J>(plan: &ComputedPlan<J>, commands: impl Fn(&J) -> Vec<Vec<String>>) -> String {
    let mut text = head(&plan.head, plan.rules_text());
    for cell in &plan.cells {
        text += &format!("  {}\n", cell.id);
        for command in commands(&cell.job) {
            text += &format!("    klatch {}\n", command.join(" "));
        }
    }
    let (least, most) = plan.trials();
    let trials = range(least.to_string(), most.to_string());
    let counted = |number: usize, what: &str| format!("{what}{}", if number == 1 { "" } else { "s" });
    let cells = plan.cells.len();
    text + &format!("{cells} {}, {trials} {}\n", counted(cells, "cell"), counted(most, "trial"))
}

/// The first lines of an outline: name, question, rules.
fn head(head: &StudyHead, rules: impl std::fmt::Display) -> String {
    format!("{}\n{}\nrules: {rules}\n", head.name, head.question)
}

/// The fewest and the most of something.
fn range(low: String, high: String) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}
