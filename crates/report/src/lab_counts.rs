//! What the lab's counters counted, and the difference of two counts, as text for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use klatch_record::lab::{CountedBy, DataCounts, EventCounts, LabCounts, RoutineCounts};

use crate::number::grouped;
use crate::table::{Column, TextTable};

/// Formats the totals, and the `top` routines with the most instructions and, if caches were modelled, the most misses.
pub fn lab_counts(counts: &LabCounts, top: usize) -> String {
    let total = counts.total();
    let mut text = format!("{} instructions", grouped(total.instructions));
    if !counts.caches.is_empty() {
        let _ = write!(
            text,
            ", {} first-level data misses, {} from memory, {} from other CPUs, {} modelled cycles\ncaches: {}",
            grouped(total.l1d_misses),
            grouped(total.l2_misses),
            grouped(total.transfers),
            grouped(total.modelled_cycles),
            counts.caches
        );
    }
    text += "\n";
    if counts.calls_lost > 0 {
        let _ = writeln!(text, "{} calls are counted for their callers", grouped(counts.calls_lost));
    }
    let _ = writeln!(text, "\n{}", processes(counts));
    let by = |event: &str| {
        let mut rows: Vec<&RoutineCounts> = counts.routines.iter().collect();
        rows.sort_by_key(|one| std::cmp::Reverse(one.own.get(event)));
        rows.truncate(top);
        format!("\nby {event}\n{}\n", routines(&rows, &total, event))
    };
    text += &by("instructions");
    if !counts.caches.is_empty() {
        text += &by("l1d_misses");
        text += &by("modelled_cycles");
        let _ = writeln!(text, "\ndata that was missed\n{}", data(&counts.data, &total, top));
    }
    text
}

/// What a command took, in a sentence.
pub fn lab_answer(counts: &LabCounts) -> String {
    let total = counts.total();
    let most = counts.routines.iter().max_by_key(|one| one.own.instructions);
    let most = most.map_or_else(String::new, |one| {
        let kernel = if one.kernel { " of the kernel" } else { "" };
        let share = share(one.own.instructions, total.instructions);
        format!(", the most, {share}, in {}{kernel}", shortened(&one.routine))
    });
    format!("klatch {} takes {} instructions{most}.", counts.command.join(" "), grouped(total.instructions))
}

/// How a count of `event` differs from another one, in a sentence; `names` are those of the two, such as `before` or `under Linux 6.18`.
pub fn lab_difference_answer(
    before: &LabCounts,
    after: &LabCounts,
    event: &str,
    [first_name, last_name]: [&str; 2],
) -> String {
    let of = |counts: &LabCounts| counts.total().get(event).unwrap_or_default();
    if let (Some(_), Some(last)) = (&before.operations, &after.operations)
        && of(before) > 0
    {
        let [from, to] = [before, after].map(|counts| counts.total_per_operation(event));
        let percent = (to / from - 1.0) * 100.0;
        let event = event.replace('_', " ");
        return match from == to {
            true => format!("A {} costs {} {event} in both.", last.name, each(to)),
            false => format!(
                "A {} costs {} {event} {first_name} and {} {last_name}, {percent:+.2} %.",
                last.name,
                each(from),
                each(to)
            ),
        };
    }
    match (of(before), of(after)) {
        (from, to) if from == to => format!("Both have {} {event}.", grouped(to)),
        (0, to) => format!("After has {} {event}, before has none.", grouped(to)),
        (from, to) => format!(
            "After has {:.2} % {} {event} than before.",
            to.abs_diff(from) as f64 * 100.0 / from as f64,
            if to > from { "more" } else { "fewer" }
        ),
    }
}

/// A count for each operation.
fn each(count: f64) -> String {
    if count < 1_000.0 { format!("{count:.1}") } else { grouped(count.round() as u64) }
}

/// The `top` kinds of data with the most first-level misses, of all processes.
fn data(all: &[DataCounts], total: &EventCounts, top: usize) -> String {
    let mut sums: BTreeMap<&str, EventCounts> = BTreeMap::new();
    all.iter().for_each(|one| sums.entry(&one.data).or_default().add(&one.counts));
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.l1d_misses));
    let mut table = table(&["data", "l1d_misses", "share", "l2_misses", "transfers", "upgrades"], 1);
    for (name, sum) in sums.iter().take(top) {
        let share = share(sum.l1d_misses, total.l1d_misses);
        let [first, rest @ ..] = [sum.l1d_misses, sum.l2_misses, sum.transfers, sum.upgrades].map(grouped);
        table.row([(*name).to_owned(), first, share].into_iter().chain(rest));
    }
    table.to_string()
}

fn processes(counts: &LabCounts) -> String {
    let mut sums: BTreeMap<String, EventCounts> = BTreeMap::new();
    counts.routines.iter().for_each(|one| sums.entry(process(one)).or_default().add(&one.own));
    let mut table = table(&["process", "instructions", "l1d_misses", "l2_misses", "modelled_cycles"], 1);
    for (process, sum) in sums {
        let numbers = [sum.instructions, sum.l1d_misses, sum.l2_misses, sum.modelled_cycles].map(grouped);
        table.row(std::iter::once(process).chain(numbers));
    }
    table.to_string()
}

/// The process of a routine, with its side if that is known.
fn process(one: &RoutineCounts) -> String {
    match one.by {
        CountedBy::Server => format!("{}, server", one.process),
        CountedBy::Crowd => format!("{}, crowd", one.process),
        CountedBy::Others => one.process.clone(),
    }
}

fn routines(rows: &[&RoutineCounts], total: &EventCounts, event: &str) -> String {
    let mut table = table(&["routine", "process", "own", "share", "with what it called", "calls"], 2);
    let whole = total.get(event).unwrap_or_default();
    for row in rows {
        let (own, inclusive) =
            (row.own.get(event).unwrap_or_default(), row.inclusive.get(event).unwrap_or_default());
        let kernel = if row.kernel { " [k]" } else { "" };
        table.row([
            format!("{}{kernel}", shortened(&row.routine)),
            process(row),
            grouped(own),
            share(own, whole),
            share(inclusive, whole),
            grouped(row.calls),
        ]);
    }
    table.to_string()
}

/// The name, or its end if it is long: that has the routine.
pub(crate) fn shortened(name: &str) -> String {
    const LENGTH_MAX: usize = 56;
    match name.char_indices().rev().nth(LENGTH_MAX - 1) {
        Some((start, _)) if start > 0 => format!("…{}", &name[start..]),
        _ => name.to_owned(),
    }
}

fn share(part: u64, whole: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / whole.max(1) as f64)
}

/// Formats what changed from `before` to `after`: each total, and the `top` routines and kinds of data whose own count of `event`
/// changed most.
pub fn lab_difference(before: &LabCounts, after: &LabCounts, event: &str, top: usize) -> String {
    let (from, to) = (before.total(), after.total());
    let each = Each::of(before, after);
    let mut totals = each.table("total");
    for (name, of) in EventCounts::ALL {
        totals.row(each.row(name.to_owned(), of(&from), of(&to)));
    }
    let head = each.head(before, after);
    let all = own_by_routine(before, after, event);
    let changed = all.iter().filter(|row| each.differ(row)).count();
    let mut routines = match changed {
        0 => format!("no routine has other {event}\n"),
        count => format!("routines with other {event}: {count}\n"),
    };
    let kinds: [(&str, Changed); 4] = [
        ("appeared", |row| row.1 == 0),
        ("went", |row| row.2 == 0),
        ("grew", |row| row.1 > 0 && row.2 > 0),
        ("shrank", |row| row.1 > 0 && row.2 > 0),
    ];
    for (word, is_of_kind) in kinds {
        let rows: Vec<&Row> = all
            .iter()
            .filter(|row| each.differ(row) && is_of_kind(row))
            .filter(|row| match word {
                "grew" => each.change(row) > 0.0,
                "shrank" => each.change(row) < 0.0,
                _ => true,
            })
            .collect();
        if let Some(table) = each.changes(word, rows, top) {
            let _ = write!(routines, "\n{table}\n");
        }
    }
    let data = by_data(before, after, event);
    let rows = data.iter().filter(|row| each.differ(row)).collect();
    let data = each.changes("data that was missed", rows, top);
    let data = data.map(|table| format!("\n{table}\n")).unwrap_or_default();
    format!("{head}{totals}\n\n{routines}{data}")
}

/// A name with its counts before and after.
type Row = (String, u64, u64);
/// Whether a row is of a kind of change.
type Changed = fn(&Row) -> bool;

/// What counts are divided by before they are compared: the operations, if both counted these.
struct Each {
    before: f64,
    after: f64,
    is_operation: bool,
}

impl Each {
    fn of(before: &LabCounts, after: &LabCounts) -> Each {
        let count = |counts: &LabCounts| {
            counts.operations.as_ref().map(|all| all.count as f64).filter(|count| *count > 0.0)
        };
        match (count(before), count(after)) {
            (Some(before), Some(after)) => Each { before, after, is_operation: true },
            _ => Each { before: 1.0, after: 1.0, is_operation: false },
        }
    }

    /// What the numbers of the tables are for.
    fn head(&self, before: &LabCounts, after: &LabCounts) -> String {
        match (&before.operations, &after.operations) {
            (Some(from), Some(to)) if self.is_operation => format!(
                "counts of a {}; before {} of them, after {}\n\n",
                to.name,
                grouped(from.count),
                grouped(to.count)
            ),
            _ => String::new(),
        }
    }

    fn change(&self, (_, from, to): &Row) -> f64 {
        *to as f64 / self.after - *from as f64 / self.before
    }

    /// Whether a row changed by as much as tables show.
    fn differ(&self, row: &Row) -> bool {
        match self.is_operation {
            true => self.change(row).abs() >= 0.005,
            false => row.1 != row.2,
        }
    }

    fn table(&self, title: &str) -> TextTable {
        table(&[title, "before", "after", "change", ""], 1)
    }

    /// The `top` rows that changed most; `None` if there are no rows.
    fn changes(&self, title: &str, mut rows: Vec<&Row>, top: usize) -> Option<TextTable> {
        rows.sort_by(|a, b| {
            (self.change(b).abs()).total_cmp(&self.change(a).abs()).then_with(|| a.0.cmp(&b.0))
        });
        let mut table = self.table(title);
        for (name, from, to) in rows.iter().take(top) {
            table.row(self.row(shortened(name), *from, *to));
        }
        (!rows.is_empty()).then_some(table)
    }

    fn row(&self, name: String, from: u64, to: u64) -> [String; 5] {
        if !self.is_operation {
            return change(name, from, to);
        }
        let (from, to) = (from as f64 / self.before, to as f64 / self.after);
        let percent = if from > 0.0 { format!("{:+.2} %", (to / from - 1.0) * 100.0) } else { String::new() };
        [name, format!("{from:.2}"), format!("{to:.2}"), format!("{:+.2}", to - from), percent]
    }
}

/// The own events of each routine in both.
fn own_by_routine(before: &LabCounts, after: &LabCounts, event: &str) -> Vec<(String, u64, u64)> {
    let row = |one: &RoutineCounts| {
        let name = format!("{}{} ({})", one.routine, if one.kernel { " [k]" } else { "" }, process(one));
        (name, one.own.get(event).unwrap_or_default())
    };
    in_both(before.routines.iter().map(row), after.routines.iter().map(row))
}

/// The events of each kind of data in both.
fn by_data(before: &LabCounts, after: &LabCounts, event: &str) -> Vec<(String, u64, u64)> {
    let row = |one: &DataCounts| {
        (format!("{} ({})", one.data, one.process), one.counts.get(event).unwrap_or_default())
    };
    in_both(before.data.iter().map(row), after.data.iter().map(row))
}

/// The sum of each name before and after.
fn in_both(
    before: impl Iterator<Item = (String, u64)>,
    after: impl Iterator<Item = (String, u64)>,
) -> Vec<(String, u64, u64)> {
    let mut all: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    before.for_each(|(name, count)| all.entry(name).or_default().0 += count);
    after.for_each(|(name, count)| all.entry(name).or_default().1 += count);
    all.into_iter().map(|(name, (from, to))| (name, from, to)).collect()
}

fn change(name: String, from: u64, to: u64) -> [String; 5] {
    let sign = if to >= from { "+" } else { "-" };
    let percent = match from {
        0 => String::new(),
        from => format!("{:+.2} %", (to as f64 / from as f64 - 1.0) * 100.0),
    };
    [name, grouped(from), grouped(to), format!("{sign}{}", grouped(from.abs_diff(to))), percent]
}

/// A table whose columns after the first `texts` hold numbers. A narrow terminal lacks the last ones.
fn table(header: &[&str], texts: usize) -> TextTable {
    let column = |(at, title): (usize, &&str)| match at < texts {
        true => Column::name(*title),
        false => Column::number(*title).less(at.saturating_sub(texts + 1) as u8),
    };
    TextTable::new(header.iter().enumerate().map(column))
}

#[cfg(test)]
mod tests {
    use klatch_record::lab::CountedOperations;

    use super::*;

    fn counts(instructions: u64) -> LabCounts {
        let routine = |name: &str, instructions| RoutineCounts {
            process: "klatch".to_owned(),
            routine: name.to_owned(),
            by: CountedBy::Others,
            kernel: true,
            calls: 2,
            own: EventCounts { instructions, ..EventCounts::default() },
            inclusive: EventCounts { instructions, ..EventCounts::default() },
        };
        let data = DataCounts {
            process: "klatch".to_owned(),
            data: "slab filp".to_owned(),
            counts: EventCounts { l1d_misses: instructions / 10, ..EventCounts::default() },
        };
        LabCounts {
            caches: "line=64".to_owned(),
            routines: vec![routine("a", 1_000), routine("b", instructions)],
            data: vec![data],
            ..LabCounts::default()
        }
    }

    #[test]
    fn the_routine_with_the_most_instructions_comes_first() {
        let text = lab_counts(&counts(3_000), 1);
        assert!(text.starts_with("4,000 instructions,") && text.contains("slab filp"), "{text}");
        assert!(text.contains("b [k]") && text.contains("75.0 %"), "{text}");
    }

    #[test]
    fn counts_of_operations_are_compared_for_each_and_by_kind_of_change() {
        let of = |count, rows: &[(&str, u64)]| {
            let mut all = counts(0);
            let routine = |(name, instructions): &(&str, u64)| RoutineCounts {
                routine: (*name).to_owned(),
                own: EventCounts { instructions: *instructions, ..EventCounts::default() },
                ..all.routines[0].clone()
            };
            all.routines = rows.iter().map(routine).collect();
            all.operations = Some(CountedOperations { name: "message".to_owned(), count });
            all
        };
        let before = of(100, &[("same", 1_000), ("copy", 500), ("old_pick", 200)]);
        let after = of(200, &[("same", 2_000), ("copy", 1_100), ("new_pick", 500)]);
        let text = lab_difference(&before, &after, "instructions", 10);
        assert!(text.starts_with("counts of a message; before 100 of them, after 200\n"), "{text}");
        let after_head = |head: &str| {
            let mut lines = text.lines().skip_while(|line| !line.starts_with(head)).skip(1);
            lines.next().unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(after_head("appeared")[..5], ["new_pick", "[k]", "(klatch)", "0.00", "2.50"]);
        assert_eq!(after_head("went")[..5], ["old_pick", "[k]", "(klatch)", "2.00", "0.00"]);
        assert_eq!(after_head("grew")[3..], ["5.00", "5.50", "+0.50", "+10.00", "%"]);
        assert!(!text.contains("same [k]") && !text.contains("shrank"), "{text}");
        assert_eq!(
            lab_difference_answer(&before, &after, "instructions", ["before", "after"]),
            "A message costs 17.0 instructions before and 18.0 after, +5.88 %."
        );
    }

    #[test]
    fn counts_and_their_difference_are_as_they_were_at_three_widths() {
        let write = || {
            let (before, after) = (counts(3_000), counts(3_300));
            format!("{}\n{}", lab_counts(&before, 5), lab_difference(&before, &after, "instructions", 5))
        };
        insta::assert_snapshot!(crate::golden::at_widths(write));
    }

    #[test]
    fn a_difference_names_the_routine_that_changed_and_no_other() {
        let text = lab_difference(&counts(3_000), &counts(3_300), "instructions", 10);
        assert!(
            text.contains("+300") && text.contains("+10.00 %") && text.contains("b [k] (klatch)"),
            "{text}"
        );
        assert!(!text.contains("a [k]") && text.contains("routines with other instructions: 1\n"), "{text}");
        let misses = lab_difference(&counts(3_000), &counts(3_300), "l1d_misses", 10);
        assert!(misses.contains("slab filp (klatch)") && misses.contains("+30"), "{misses}");
        let equal = lab_difference(&counts(5), &counts(5), "instructions", 10);
        assert!(equal.contains("no routine has other instructions"), "{equal}");
    }
}
