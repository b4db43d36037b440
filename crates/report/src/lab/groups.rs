//! Outcomes of the lab in groups: means over seeds, queue lengths, and cost by queue length.

use std::collections::BTreeMap;

use klatch_record::lab::{Configuration, KERNEL_SCHEDULER, Outcome, Study, is_count};
use klatch_record::saturating_sum;
use klatch_stats::{LinearFit, linear_fit, mean_interval};

/// Outcomes that differ in the seed alone.
pub(super) struct Group<'a> {
    /// Label of the configuration.
    pub(super) name: String,
    pub(super) outcomes: Vec<&'a Outcome>,
}

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub(super) mean: f64,
    /// Its 95 % interval; `None` with one seed.
    pub(super) interval: Option<(f64, f64)>,
}

/// Queue lengths at decisions, in groups of lengths.
pub(super) struct LengthDistribution {
    /// Labels of the groups: `0`, `1`, `2–3`, `4–7` and so on.
    pub(super) lengths: Vec<String>,
    /// For each configuration the share of its decisions in each group, percent.
    pub(super) shares: Vec<(String, Vec<f64>)>,
}

/// Cost of a scheduler's decisions by queue length.
pub(super) struct CostCurve {
    /// The scheduler, with kernel and CPUs where these differ within the study.
    pub(super) name: String,
    /// (waiting tasks, ns) of all boots.
    pub(super) points: Vec<(f64, f64)>,
    /// Its slope is in ns per waiting task. `None` with fewer than three different lengths.
    pub(super) fit: Option<LinearFit>,
}

/// Outcomes by the machine that they ran on, with its name.
pub(super) type Machines = Vec<(String, Vec<Outcome>)>;

/// Builds labels of configurations from the properties that differ within the study.
struct Labels {
    kernels_differ: bool,
    cpus_differ: bool,
    schedulers_differ: bool,
}

impl Labels {
    fn new(outcomes: &[Outcome]) -> Labels {
        let all = || outcomes.iter().map(|outcome| &outcome.configuration);
        let first = all().next();
        Labels {
            kernels_differ: all().any(|one| first.is_some_and(|first| one.kernel != first.kernel)),
            cpus_differ: all().any(|one| {
                first.is_some_and(|first| (one.cpus, &one.machine) != (first.cpus, &first.machine))
            }),
            schedulers_differ: all().any(|one| first.is_some_and(|first| one.scheduler != first.scheduler)),
        }
    }

    /// Kernel, CPUs and scheduler, without the varied values.
    fn machine(&self, one: &Configuration) -> String {
        let kernel = self.kernels_differ.then(|| format!("Linux {}", one.kernel));
        let cpus = self.cpus_differ.then(|| cpus(one));
        // What all kernels have of their own says nothing.
        let is_usual = self.kernels_differ && !self.schedulers_differ && one.scheduler == KERNEL_SCHEDULER;
        let scheduler = (!is_usual).then(|| one.scheduler.clone());
        [kernel, cpus, scheduler].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Everything except the seed.
    fn configuration(&self, one: &Configuration) -> String {
        // Only a number needs a name in front of it.
        let varied = one.varied.iter().map(|(name, value)| match value.parse::<f64>() {
            Ok(_) => format!(", {name} {value}"),
            Err(_) => format!(", {value}"),
        });
        std::iter::once(self.machine(one)).chain(varied).collect()
    }
}

/// The CPUs of a machine.
fn cpus(one: &Configuration) -> String {
    let number = || format!("{} CPU{}", one.cpus, if one.cpus == 1 { "" } else { "s" });
    one.machine.clone().unwrap_or_else(number)
}

/// The machines of a study that compares schedulers on several, in their order; else all outcomes, without a name.
pub(super) fn by_machine(outcomes: &[Outcome]) -> Machines {
    let labels = Labels::new(outcomes);
    if !(labels.cpus_differ && labels.schedulers_differ) {
        return vec![(String::new(), outcomes.to_vec())];
    }
    let mut machines: Machines = Vec::new();
    for outcome in outcomes {
        let name = cpus(&outcome.configuration);
        match machines.iter_mut().find(|(machine, _)| *machine == name) {
            Some((_, outcomes)) => outcomes.push(outcome.clone()),
            None => machines.push((name, vec![outcome.clone()])),
        }
    }
    machines
}

/// Groups outcomes by configuration, in the order of each group's first outcome.
pub(super) fn groups(outcomes: &[Outcome]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let labels = Labels::new(outcomes);
    for outcome in outcomes {
        let name = labels.configuration(&outcome.configuration);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.outcomes.push(outcome),
            None => groups.push(Group { name, outcomes: vec![outcome] }),
        }
    }
    groups
}

impl Group<'_> {
    /// Number of boots that do not count.
    pub(super) fn failed(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.failure.is_some()).count()
    }

    /// The mean of [`Outcome::value`]; `None` if an outcome lacks it.
    pub(super) fn mean(&self, name: &str) -> Option<Mean> {
        let values = self.outcomes.iter().map(|outcome| outcome.value(name)).collect::<Option<Vec<f64>>>()?;
        let interval = mean_interval(&values, 0.95).ok().map(|interval| (interval.low, interval.high));
        Some(Mean { mean: values.iter().sum::<f64>() / values.len() as f64, interval })
    }
}

/// Queue lengths by configuration, over all seeds.
pub(super) fn length_distribution(groups: &[Group<'_>]) -> LengthDistribution {
    let bucket = |length: u32| (u32::BITS - length.leading_zeros()) as usize;
    let lengths = |group: &Group<'_>| -> Vec<(u32, u64)> {
        group.outcomes.iter().flat_map(|outcome| outcome.decisions_by_length()).collect()
    };
    let longest = groups.iter().flat_map(lengths).map(|(length, _)| length).max();
    let buckets = bucket(longest.unwrap_or(0)) + 1;
    let label = |bucket: usize| match bucket {
        0 | 1 => bucket.to_string(),
        _ => format!("{}–{}", 1 << (bucket - 1), (1 << bucket) - 1),
    };
    let mut shares = Vec::new();
    for group in groups {
        let mut decisions = vec![0_u64; buckets];
        for (length, made) in lengths(group) {
            decisions[bucket(length)] = decisions[bucket(length)].saturating_add(made);
        }
        let all = saturating_sum(decisions.iter().copied());
        if all > 0 {
            let share = |made: u64| 100.0 * made as f64 / all as f64;
            shares.push((group.name.clone(), decisions.into_iter().map(share).collect()));
        }
    }
    LengthDistribution { lengths: (0..buckets).map(label).collect(), shares }
}

/// The columns of the study that are counts by routine.
pub(super) fn count_columns(study: &Study) -> impl Iterator<Item = &str> {
    study.show.iter().map(String::as_str).filter(|column| is_count(column))
}

/// A count by mean queue length, a point for each boot, separately for each scheduler, kernel and number of CPUs.
pub(super) fn count_curves(outcomes: &[Outcome], column: &str) -> Vec<CostCurve> {
    curves(outcomes, |outcome| outcome.value("length").zip(outcome.value(column)).into_iter().collect())
}

/// Cost of decisions, separately for each scheduler, kernel and number of CPUs.
pub(super) fn cost_curves(outcomes: &[Outcome]) -> Vec<CostCurve> {
    curves(outcomes, Outcome::cost_by_length)
}

fn curves(outcomes: &[Outcome], of: impl Fn(&Outcome) -> Vec<(f64, f64)>) -> Vec<CostCurve> {
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let labels = Labels::new(outcomes);
    for outcome in outcomes.iter().filter(|outcome| outcome.failure.is_none()) {
        points.entry(labels.machine(&outcome.configuration)).or_default().extend(of(outcome));
    }
    let curves = points.into_iter().filter(|(_, points)| !points.is_empty());
    curves.map(|(name, points)| CostCurve { fit: linear_fit(&points, 0.95).ok(), name, points }).collect()
}
