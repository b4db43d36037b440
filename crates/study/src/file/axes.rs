//! The axes of a study: settings with values, every combination of them, and the names of the cells.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use klatch_record::StudyAxis;

use super::{StudyFile, StudyFileError};

/// A study with more cells is refused as a mistake.
const CELLS_MAX: usize = 10_000;

/// The value on each axis, by the name of the axis.
pub(crate) type Levels = BTreeMap<String, String>;

/// What a value changes in the job of a computed study.
pub(crate) type Change<J> = Box<dyn Fn(&mut J)>;

/// A setting with its values, and what each of them changes.
pub(crate) struct Dimension<C> {
    pub(crate) name: String,
    /// Position of the values in the file.
    pub(crate) span: Range<usize>,
    pub(crate) values: Vec<(String, C)>,
}

/// Applies every combination of values to `first`, dimension by dimension; the last dimension varies fastest.
///
/// # Errors
/// A dimension has no value, or there are too many combinations; that error is at `span`.
pub(crate) fn combinations<J: Clone, C>(
    first: (Levels, J),
    dimensions: &[&Dimension<C>],
    apply: impl Fn(&mut J, &C),
    file: &StudyFile,
    span: Range<usize>,
) -> Result<Vec<(Levels, J)>, StudyFileError> {
    if let Some(empty) = dimensions.iter().find(|dimension| dimension.values.is_empty()) {
        let message = format!("{} has no value, so there is nothing to run", empty.name);
        return Err(file.error_at(empty.span.clone(), message));
    }
    let count = dimensions.iter().map(|one| one.values.len()).try_fold(1_usize, usize::checked_mul);
    if count.is_none_or(|count| count > CELLS_MAX) {
        let message = format!("the axes make more than {CELLS_MAX} cells; shorten the lists");
        return Err(file.error_at(span, message));
    }
    let mut all = vec![first];
    for Dimension { name, values, .. } in dimensions {
        let with_each_value = |(at, job): &(Levels, J)| {
            let with = |(value, change): &(String, C)| {
                let (mut at, mut job) = (at.clone(), job.clone());
                at.insert(name.clone(), value.clone());
                apply(&mut job, change);
                (at, job)
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with_each_value).collect();
    }
    Ok(all)
}

/// The axes of a study, and its cells with their names.
pub(crate) struct Grid<J> {
    /// The subject, and every setting in which cells differ.
    pub(crate) axes: Vec<StudyAxis>,
    /// Name, place on the axes and job of each cell.
    pub(crate) cells: Vec<(String, Levels, J)>,
}

impl<J> Grid<J> {
    /// Makes cells of combinations. `names` has all settings in the order of the axes; `subject` is the one whose values need no name
    /// in front of them. A name is unique, and valid for a folder.
    pub(crate) fn new(all: Vec<(Levels, J)>, names: &[&str], subject: &str) -> Grid<J> {
        let axes = axes(&all, names, subject);
        let mut taken = BTreeSet::new();
        let cell = |(mut at, job): (Levels, J)| {
            at.retain(|name, _| axes.iter().any(|axis| axis.name == *name));
            let part = |axis: &StudyAxis| {
                let value = at.get(&axis.name)?;
                Some(if axis.name == subject { value.clone() } else { format!("{}-{value}", axis.name) })
            };
            let name = axes.iter().filter_map(part).collect::<Vec<_>>().join("_");
            let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "._@-".contains(letter);
            let name = name.replace(|letter: char| !is_valid(letter), "-");
            let numbered =
                std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
            let free = numbered.into_iter().find(|name| !taken.contains(name));
            let id = free.expect("there are more numbers than cells");
            taken.insert(id.clone());
            (id, at, job)
        };
        let cells = all.into_iter().map(cell).collect();
        Grid { axes, cells }
    }
}

/// The subject, and the settings in which the combinations differ.
fn axes<J>(all: &[(Levels, J)], names: &[&str], subject: &str) -> Vec<StudyAxis> {
    let mut axes: Vec<StudyAxis> = Vec::new();
    for (name, value) in all.iter().flat_map(|(at, _)| at) {
        match axes.iter_mut().find(|axis| axis.name == *name) {
            Some(axis) if axis.values.contains(value) => {}
            Some(axis) => axis.values.push(value.clone()),
            None => axes.push(StudyAxis { name: name.clone(), values: vec![value.clone()] }),
        }
    }
    // A knob that only some cells have distinguishes them, even with one value.
    let everywhere = |name: &str| all.iter().all(|(at, _)| at.contains_key(name));
    axes.retain(|axis| axis.name == subject || axis.values.len() > 1 || !everywhere(&axis.name));
    axes.sort_by_key(|axis| names.iter().position(|name| *name == axis.name));
    axes
}
