//! The duet that decides what a comparison left open.

use std::path::Path;

use klatch_record::{CPU_PER_MESSAGE, Comparison, PairResult, Record, RunOptions, SERVER_CPU, Side, Unit};

use super::answer;
use super::commands::has_path;
use super::subject::Subject;
use crate::read::{ReadError, Source, read};

/// A duet that shows no difference, but would show one of this size, has decided: no user would notice.
const SMALL: f64 = 0.02;

/// The duet that compares the two best cells of a source, if their difference is not shown; `None` if there is nothing to decide, or if
/// no duet can.
pub fn undecided(source: &Source) -> Option<Vec<String>> {
    let subject = Subject::new(source);
    let record = |cell: usize| subject.trials_of(cell).last();
    let cell = |id: &str| subject.cells().find(|(_, cell)| cell.id == id).map(|(place, _)| place);
    let open = |pair: &&PairResult| {
        let cpu = pair.metrics.iter().find(|metric| metric.metric == SERVER_CPU);
        let ratio = cpu.and_then(|metric| metric.ratio);
        ratio.is_some_and(|ratio| !ratio.shows_difference() && ratio.smallest_difference > SMALL)
    };
    let (a, b) = match subject.result.pairs.as_slice() {
        [] => answer::undecided(&subject)?,
        pairs => {
            let pair = pairs.iter().find(open)?;
            (cell(&pair.a)?, cell(&pair.b)?)
        }
    };
    deciding_duet(record(a)?, record(b)?)
}

/// The duet that decides what single starts, or a difference that is not shown, leave open in comparisons; `None` if there is nothing to
/// decide, or if no duet can.
///
/// # Errors
/// The records that were compared cannot be read again.
pub fn undecided_comparison(comparisons: &[Comparison]) -> Result<Option<Vec<String>>, ReadError> {
    let shown = |one: &Comparison| {
        let metrics = one.metrics.iter().filter(|metric| metric.metric == CPU_PER_MESSAGE);
        metrics.filter_map(|metric| metric.ratio).any(|ratio| ratio.shows_difference())
    };
    let open = comparisons.iter().find(|one| one.unit == Unit::Trial || !shown(one));
    let Some(Comparison { a, b, .. }) = open else { return Ok(None) };
    let last = |side: &Side| Ok(read(Path::new(&side.path))?.runs.pop().map(|run| run.record));
    Ok(last(a)?.zip(last(b)?).and_then(|(a, b)| deciding_duet(&a, &b)))
}

/// The duet that compares what two records measured. `None` if they measured one thing, different workloads, or what no duet can measure.
fn deciding_duet(a: &Record, b: &Record) -> Option<Vec<String>> {
    let (one, other) = (a.options.as_ref()?, b.options.as_ref()?);
    let same_load = a.workload.endless() == b.workload.endless()
        && (a.crowd.kind, &a.crowd.knobs) == (b.crowd.kind, &b.crowd.knobs)
        && a.environment.sysctls.is_empty()
        && b.environment.sysctls.is_empty();
    let sides = [side(a, one)?, side(b, other)?];
    // The path of a target is the URL of its requests.
    let [has_path, too] = [one, other].map(|options| options.target.as_deref().is_some_and(has_path));
    if !same_load || has_path != too || (sides[0] == sides[1] && one.catalog == other.catalog) {
        return None;
    }
    let mut words: Vec<String> = ["klatch", "duet"].map(str::to_owned).into();
    words.extend(sides);
    let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), value.to_owned()]);
    for (name, catalog) in [("catalog-a", &one.catalog), ("catalog-b", &other.catalog)] {
        catalog.iter().for_each(|catalog| option(name, catalog));
    }
    if a.workload.kind().has_server() && a.crowd.kind.name() != "native" {
        option("crowd", a.crowd.kind.name());
    }
    a.crowd.knobs.iter().for_each(|(name, value)| option("crowd-knob", &format!("{name}={value}")));
    words.extend(a.workload.options_of_duet(has_path));
    Some(words)
}

/// A side as `klatch duet` reads it. `None` for what a duet cannot start, such as a server of several processes.
fn side(record: &Record, options: &RunOptions) -> Option<String> {
    let single = (options.servers, options.shards, options.crowd_loops) == (1, 1, 1);
    let plain = options.scheduler.is_none() && options.remote.is_none() && options.ca.is_none();
    if !single || !plain || record.checks.finished {
        return None;
    }
    if let Some(target) = &options.target {
        return Some(target.clone());
    }
    let knobs: Vec<String> =
        record.platform.knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let name = &record.platform.name;
    match knobs.as_slice() {
        [] => Some(name.clone()),
        // Commas separate the knobs.
        knobs if knobs.iter().any(|knob| knob.contains(',')) => None,
        knobs => Some(format!("{name}:{}", knobs.join(","))),
    }
}

#[cfg(test)]
mod tests {
    use klatch_record::samples::record;

    use super::*;

    fn of(name: &str) -> Record {
        let mut one = record(1, 1, 1.0);
        one.platform.name = name.into();
        one.options = Some(RunOptions::default());
        one
    }

    #[test]
    fn two_runs_under_one_load_have_a_duet() {
        let (mut a, mut b) = (of("x"), of("x"));
        assert_eq!(deciding_duet(&a, &b), None, "they are the same");
        b.platform.knobs.insert("loops".into(), "2".into());
        let duet = |a: &Record, b: &Record| deciding_duet(a, b).map(|words| words.join(" "));
        let line = duet(&a, &b).unwrap();
        assert!(line.starts_with("klatch duet x x:loops=2"), "{line}");
        assert!(!line.contains("--count"), "a duet ends by its time: {line}");
        b.platform.knobs.insert("cpus".into(), "0,1".into());
        assert_eq!(duet(&a, &b), None, "a comma separates knobs");
        b.platform.knobs.clear();
        b.options.as_mut().unwrap().catalog = Some("builds/after".into());
        assert!(duet(&a, &b).unwrap().contains(" --catalog-b builds/after"));
        a.workload = a.workload.with_parties(1, 3);
        assert_eq!(duet(&a, &b), None, "the loads differ");
    }
}
