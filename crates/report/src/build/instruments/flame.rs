//! Flame graphs of the folded stacks in files beside the records.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use klatch_record::{FOLDED, Record, Role, Status};

use super::drawn_cells;
use super::profile::{KINDS, Kind};
use crate::build::subject::Subject;
use crate::folded::stacks;
use crate::model::{Flame, Frame, Frequency};
use crate::read::Run;

/// Frames with a smaller share of all samples are too narrow to be visible.
const PART_MIN: f64 = 0.001;
/// Deeper stacks are cut, so that the size of the tree is bounded.
const DEPTH_MAX: usize = 120;
/// Number of routines in the table.
const ROUTINES: usize = 40;

/// One flame graph for each cell and kind of profile with stacks, of its last trial.
pub(super) fn graphs(subject: &Subject) -> Vec<Flame> {
    KINDS.iter().flat_map(|kind| graphs_of(subject, kind)).collect()
}

fn graphs_of(subject: &Subject, kind: &Kind) -> Vec<Flame> {
    let cells = drawn_cells(subject, |place| stacks_file(subject, place, kind).is_some());
    let graph = |place: usize| {
        let (run, file) = stacks_file(subject, place, kind)?;
        let folder = run.file.parent().unwrap_or(Path::new("."));
        let text = std::fs::read_to_string(folder.join(file)).ok()?;
        let label = &subject.grid.labels[place];
        let (root, routines) = folded(&text);
        (root.samples > 0).then(|| Flame {
            id: format!("flame-{}{}", kind.flame_word, place + 1),
            title: format!("Flame graph of {}: {label}", kind.what),
            caption: format!(
                "By call stack, all programs, {} of {}; routines of the kernel end in _[k].",
                crate::summary::role_and_number(run.record.role, run.record.number),
                label
            ),
            unit: "samples".to_owned(),
            root,
            routines,
        })
    };
    cells.into_iter().filter_map(graph).collect()
}

/// The last trial of a cell with folded stacks of a kind, and the name of their file.
fn stacks_file<'a>(subject: &'a Subject, cell: usize, kind: &Kind) -> Option<(&'a Run, &'a String)> {
    let counts = |record: &Record| record.role == Role::Trial && record.verdict.status == Status::Valid;
    let of_run = |run| {
        let run: &Run = run;
        let one = run
            .record
            .observations
            .iter()
            .find(|one| one.data.as_ref().is_some_and(|data| (kind.select)(data).is_some()))?;
        // Only plain file names are accepted, so that a record cannot point outside its folder.
        let plain =
            |file: &&String| Path::new(file.as_str()).components().count() == 1 && !file.contains("..");
        Some((run, one.files.iter().filter(plain).find(|file| file.ends_with(FOLDED))?))
    };
    subject.runs_of(cell).filter(|run| counts(&run.record)).filter_map(of_run).last()
}

/// Parses lines `outermost;…;innermost count` into a tree and a table of routines.
fn folded(text: &str) -> (Frame, Vec<Frequency>) {
    flame_of([stacks(text).map(|(stack, count)| (stack, count as f64)).collect(), Vec::new()], false)
}

/// The tree and the table of routines of stacks with their weights: of one side, or of two that are compared.
pub(crate) fn flame_of(sides: [Vec<(&str, f64)>; 2], are_compared: bool) -> (Frame, Vec<Frequency>) {
    let mut root = Tree::default();
    let mut routines: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let weight_of = if are_compared { 0.5 } else { 1.0 };
    for (side, stacks) in sides.into_iter().enumerate() {
        for (stack, weight) in stacks {
            let names: Vec<&str> = stack.split(';').take(DEPTH_MAX).collect();
            root.add(&names, side, weight);
            for name in names.iter().collect::<BTreeSet<_>>() {
                routines.entry(name).or_default().1 += weight * weight_of;
            }
            if let Some(last) = names.last() {
                routines.entry(last).or_default().0 += weight * weight_of;
            }
        }
    }
    let mut routines: Vec<Frequency> = routines
        .into_iter()
        .map(|(name, (own, inclusive))| Frequency {
            name: name.to_owned(),
            own: own.round() as u64,
            inclusive: inclusive.round() as u64,
        })
        .collect();
    routines.sort_by_key(|one| std::cmp::Reverse((one.own, one.inclusive)));
    routines.truncate(ROUTINES);
    let least = (root.size(are_compared) * PART_MIN).ceil().max(1.0);
    (root.frame("all", least, are_compared), routines)
}

#[derive(Default)]
struct Tree<'a> {
    sides: [f64; 2],
    calls: BTreeMap<&'a str, Tree<'a>>,
}

impl<'a> Tree<'a> {
    fn add(&mut self, names: &[&'a str], side: usize, weight: f64) {
        self.sides[side] += weight;
        if let [first, rest @ ..] = names {
            self.calls.entry(first).or_default().add(rest, side, weight);
        }
    }

    /// The weight of one side, or the mean of two.
    fn size(&self, are_compared: bool) -> f64 {
        self.sides.iter().sum::<f64>() / if are_compared { 2.0 } else { 1.0 }
    }

    fn frame(&self, name: &str, least: f64, are_compared: bool) -> Frame {
        let seen = self.calls.iter().filter(|(_, tree)| tree.size(are_compared) >= least);
        let mut calls: Vec<Frame> = seen.map(|(name, tree)| tree.frame(name, least, are_compared)).collect();
        calls.sort_by_key(|frame| std::cmp::Reverse(frame.samples));
        Frame {
            name: name.to_owned(),
            samples: self.size(are_compared).round() as u64,
            difference: are_compared.then(|| (self.sides[1] - self.sides[0]).round() as i64),
            calls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_become_a_tree_whose_sums_are_those_of_the_lines() {
        let (root, routines) =
            folded("server;main;read 30\nserver;main;write;copy 60\ncrowd;main 10\nno count\n");
        assert_eq!((root.samples, root.calls[0].name.as_str(), root.calls[0].samples), (100, "server", 90));
        let main = &root.calls[0].calls[0];
        assert_eq!((main.calls[0].name.as_str(), main.calls[0].calls[0].samples), ("write", 60));
        let of_main = routines.iter().find(|one| one.name == "main").unwrap();
        assert_eq!((of_main.own, of_main.inclusive), (10, 100));
    }
}
