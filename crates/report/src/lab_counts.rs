//! What the lab's counters counted, and the difference of two counts, as text for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write;

use klatch_record::lab::{DataCounts, EventCounts, LabCounts, RoutineCounts};

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

/// How a count of `event` differs from an earlier one, in a sentence.
pub fn lab_difference_answer(before: &LabCounts, after: &LabCounts, event: &str) -> String {
    let of = |counts: &LabCounts| counts.total().get(event).unwrap_or_default();
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
    let mut sums: BTreeMap<&str, EventCounts> = BTreeMap::new();
    counts.routines.iter().for_each(|one| sums.entry(&one.process).or_default().add(&one.own));
    let mut table = table(&["process", "instructions", "l1d_misses", "l2_misses", "modelled_cycles"], 1);
    for (process, sum) in sums {
        let numbers = [sum.instructions, sum.l1d_misses, sum.l2_misses, sum.modelled_cycles].map(grouped);
        table.row(std::iter::once(process.to_owned()).chain(numbers));
    }
    table.to_string()
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
            row.process.clone(),
            grouped(own),
            share(own, whole),
            share(inclusive, whole),
            grouped(row.calls),
        ]);
    }
    table.to_string()
}

/// The name, or its end if it is long: that has the routine.
fn shortened(name: &str) -> String {
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
    let mut totals = table(&["total", "before", "after", "change", ""], 1);
    for (name, of) in EventCounts::ALL {
        totals.row(change(name.to_owned(), of(&from), of(&to)));
    }
    let routines = changes("routine, by its own", &own_by_routine(before, after, event), top);
    let routines = match routines {
        Some((count, table)) => format!("routines with other {event}: {count}\n{table}\n"),
        None => format!("no routine has other {event}\n"),
    };
    let data = changes("data that was missed", &by_data(before, after, event), top);
    let data = data.map(|(_, table)| format!("\n{table}\n")).unwrap_or_default();
    format!("{totals}\n\n{routines}{data}")
}

/// The number of rows that changed, and a table of the `top` that changed most; `None` if none did.
fn changes(what: &str, rows: &[(String, u64, u64)], top: usize) -> Option<(usize, TextTable)> {
    let mut changed: Vec<_> = rows.iter().filter(|(_, from, to)| from != to).collect();
    changed.sort_by_key(|(name, from, to)| (std::cmp::Reverse(from.abs_diff(*to)), name));
    let mut table = table(&[what, "before", "after", "change", ""], 1);
    for (name, from, to) in changed.iter().take(top) {
        table.row(change(shortened(name), *from, *to));
    }
    (!changed.is_empty()).then_some((changed.len(), table))
}

/// The own events of each routine in both.
fn own_by_routine(before: &LabCounts, after: &LabCounts, event: &str) -> Vec<(String, u64, u64)> {
    let row = |one: &RoutineCounts| {
        let name = format!("{}{} ({})", one.routine, if one.kernel { " [k]" } else { "" }, one.process);
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
    use super::*;

    fn counts(instructions: u64) -> LabCounts {
        let routine = |name: &str, instructions| RoutineCounts {
            process: "klatch".to_owned(),
            routine: name.to_owned(),
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
