//! The lab's count of both sides of a duet, in sentences and tables.

use std::fmt::Write;

use klatch_record::lab::CountedBy;
use klatch_record::{Duet, ExactCount, ExactRow, RatioEstimate, SERVER_CPU};

use crate::difference::{Sides, distinct, text_of};
use crate::duet::sides;
use crate::lab_counts::shortened;
use crate::model::SectionTable;
use crate::number::grouped;

/// Routines in the terminal.
const ROWS: usize = 8;
/// A change that two decimals do not show.
const UNSEEN: f64 = 0.005;

/// The exact count of a duet as text: sentences, its totals, and the routines that changed most, of the servers unless the crowds
/// are compared. `None` if it was not asked for.
pub fn exact(duet: &Duet) -> Option<String> {
    if let Some(reason) = &duet.uncounted {
        return Some(format!("no exact count: {reason}\n"));
    }
    let count = duet.exact.as_ref()?;
    let mut text = sentences(duet, count).join("\n") + "\n";
    let compared = if duet.a.crowd == duet.b.crowd { CountedBy::Server } else { CountedBy::Crowd };
    let routines = routines(duet, count, compared, ROWS);
    text += &text_of(std::iter::once(totals(duet, count)).chain(routines));
    let _ = writeln!(text, "\n{}", method(duet, count));
    Some(text)
}

/// The totals, and for server and crowd at most this many routines that changed.
pub(crate) fn tables(duet: &Duet, count: &ExactCount, rows_max: usize) -> Vec<SectionTable> {
    let of = |by: CountedBy| routines(duet, count, by, rows_max);
    let routines = [CountedBy::Server, CountedBy::Crowd].into_iter().filter_map(of);
    std::iter::once(totals(duet, count)).chain(routines).collect()
}

fn table(duet: &Duet, title: String, first: &str, rows: Vec<Vec<String>>) -> SectionTable {
    let [a, b] = distinct([&duet.a.name, &duet.b.name]);
    SectionTable {
        title,
        head: [first, &a, &b, "difference", "ratio"].map(str::to_owned).to_vec(),
        rows,
        last_is_prose: false,
    }
}

/// The instructions by process, in programs and in the kernel.
fn totals(duet: &Duet, count: &ExactCount) -> SectionTable {
    let part = |name: &str, by: CountedBy, kernel: bool| {
        cells(name, count.total(|row| row.by == by && row.kernel == kernel))
    };
    let rows = vec![
        part("server, program", CountedBy::Server, false),
        part("server, kernel", CountedBy::Server, true),
        part("crowd, program", CountedBy::Crowd, false),
        part("crowd, kernel", CountedBy::Crowd, true),
        cells("others", count.total(|row| row.by == CountedBy::Others)),
        cells("all", count.total(|_| true)),
    ];
    table(duet, format!("instructions per {}", sides(duet).unit), "process", rows)
}

/// The routines of a process that changed most; `None` if none did.
fn routines(duet: &Duet, count: &ExactCount, by: CountedBy, rows_max: usize) -> Option<SectionTable> {
    let who = match by {
        CountedBy::Server => "server",
        CountedBy::Crowd => "crowd",
        CountedBy::Others => "others",
    };
    let changed = |row: &&ExactRow| {
        let [a, b] = count.per_operation(row);
        row.by == by && row.routine != ExactCount::REST && (b - a).abs() >= UNSEEN
    };
    let routine = |row: &ExactRow| {
        let kernel = if row.kernel { " [k]" } else { "" };
        cells(&format!("{}{kernel}", shortened(&row.routine)), count.per_operation(row))
    };
    let rows: Vec<_> = count.routines.iter().filter(changed).take(rows_max).map(routine).collect();
    let title = format!("{who} by routine, instructions per {}", sides(duet).unit);
    (!rows.is_empty()).then(|| table(duet, title, "routine", rows))
}

fn cells(name: &str, [a, b]: [f64; 2]) -> Vec<String> {
    let difference = b - a;
    let sign = if difference < 0.0 { "-" } else { "+" };
    let ratio = if a > 0.0 { format!("{:.4}", b / a) } else { "–".to_owned() };
    vec![name.to_owned(), exactly(a), exactly(b), format!("{sign}{}", exactly(difference.abs())), ratio]
}

/// A count per operation: grouped, with two decimals.
fn exactly(count: f64) -> String {
    let text = format!("{count:.2}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, "00"));
    format!("{}.{decimals}", grouped(whole.parse().unwrap_or_default()))
}

/// How many instructions the servers differ by, and whether the measured CPU time agrees.
pub(crate) fn sentences(duet: &Duet, count: &ExactCount) -> Vec<String> {
    let Sides { a, b, unit } = sides(duet);
    let [of_a, of_b] = count.total(|row| row.by == CountedBy::Server);
    let counted = of_b / of_a;
    let word = if of_b < of_a { "fewer" } else { "more" };
    let first = if exactly(of_a) == exactly(of_b) {
        format!("The servers execute the same number of instructions per {unit}: {}.", exactly(of_a))
    } else {
        format!(
            "The server of {b} executes {:.2} % {word} instructions per {unit} than that of {a}: {} against {}.",
            (counted - 1.0).abs() * 100.0,
            exactly(of_b),
            exactly(of_a)
        )
    };
    let cpu = duet.metrics.iter().find(|metric| metric.metric == SERVER_CPU);
    let agreement = match cpu.and_then(|metric| metric.ratio) {
        Some(measured) => Agreement::of(counted, &measured).sentence(b, counted, &measured),
        None => "There is no measured CPU time of the servers to compare that with.".to_owned(),
    };
    vec![first, agreement]
}

/// How a count and a measurement of two servers go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    /// The measured interval has the count's ratio, and excludes 1.
    SignAndSize,
    /// The measured interval has the count's ratio, and 1 too.
    Within,
    /// Both say which side does more, but not by how much.
    Sign,
    /// Each says that another side does more.
    Opposite,
    /// Nothing was measured where the count has a difference that would have shown.
    NotMeasured,
}

impl Agreement {
    fn of(counted: f64, measured: &RatioEstimate) -> Agreement {
        let is_within = (measured.low..=measured.high).contains(&counted);
        match (measured.shows_difference(), is_within) {
            (true, true) => Agreement::SignAndSize,
            (false, true) => Agreement::Within,
            (true, false) if (counted - 1.0) * (measured.estimate - 1.0) > 0.0 => Agreement::Sign,
            (true, false) => Agreement::Opposite,
            (false, false) => Agreement::NotMeasured,
        }
    }

    fn sentence(self, b: &str, counted: f64, measured: &RatioEstimate) -> String {
        let RatioEstimate { estimate, low, high, .. } = *measured;
        let both = format!("instructions × {counted:.3}, CPU time × {estimate:.3} ({low:.3}–{high:.3})");
        let each = estimate / counted;
        match self {
            Agreement::SignAndSize => format!("The measured CPU time agrees in sign and size: {both}."),
            Agreement::Within => {
                format!("The measured CPU time does not contradict it, and shows no difference: {both}.")
            }
            Agreement::Sign => format!(
                "The measured CPU time agrees in sign, not in size: {both}. An instruction of {b} takes {each:.2} times as long, by caches, \
                 waits or what the short run does not reach."
            ),
            Agreement::Opposite => format!(
                "The measured CPU time does not agree: {both}. What differs is not the number of instructions but what each takes, or what \
                 the short run does not reach."
            ),
            Agreement::NotMeasured => format!(
                "The measured CPU time does not agree, as it shows no difference of this size: {both}."
            ),
        }
    }
}

/// What was counted, and what the count leaves out.
pub(crate) fn method(duet: &Duet, count: &ExactCount) -> String {
    let unit = sides(duet).unit;
    let operations = match (count.a_operations, count.b_operations) {
        (a, b) if a == b => format!("{} {unit}s of each side", grouped(a)),
        (a, b) => format!("{} and {} {unit}s", grouped(a), grouped(b)),
    };
    let parties = |workload: &klatch_record::Workload| {
        let name = workload.kind().party_name();
        let plural = if workload.parties() == 1 { "" } else { "s" };
        format!("{} {name}{plural} with {} connections", workload.parties(), workload.connections())
    };
    let fewer = match count.workload.connections() < duet.workload.connections() {
        true => format!(" by {} in place of {}", parties(&count.workload), parties(&duet.workload)),
        false => String::new(),
    };
    let jvm = match count.jvm {
        true => " In so few operations a JVM interprets and compiles more than later.",
        false => "",
    };
    format!(
        "Every instruction of {operations}{fewer}, after all had joined, in an emulated machine: Linux {}, {} CPU, {} MB, seed {}. No caches, \
         cycles or concurrency are in it: it counts work, not time.{jvm}",
        count.kernel,
        count.cpus,
        grouped(count.memory_mb.into()),
        count.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_agrees_with_the_interval_that_has_it() {
        let measured = |low: f64, high: f64| RatioEstimate {
            estimate: f64::sqrt(low * high),
            low,
            high,
            smallest_difference: 0.02,
        };
        assert_eq!(Agreement::of(1.3, &measured(1.2, 1.4)), Agreement::SignAndSize);
        assert_eq!(Agreement::of(1.01, &measured(0.98, 1.02)), Agreement::Within);
        assert_eq!(Agreement::of(1.3, &measured(1.1, 1.2)), Agreement::Sign);
        assert_eq!(Agreement::of(0.7, &measured(0.8, 0.9)), Agreement::Sign);
        assert_eq!(Agreement::of(0.9, &measured(1.1, 1.2)), Agreement::Opposite);
        assert_eq!(Agreement::of(1.0, &measured(1.1, 1.2)), Agreement::Opposite);
        assert_eq!(Agreement::of(1.3, &measured(0.98, 1.02)), Agreement::NotMeasured);
    }

    #[test]
    fn counts_have_two_decimals() {
        assert_eq!(exactly(1_234_567.891), "1,234,567.89");
        assert_eq!(exactly(0.0), "0.00");
    }
}
