//! What a study of the lab found, as numbers: for its table and for its report.

use std::collections::BTreeMap;

use klatch_schedulers::Fit;
use klatch_stats::mean_interval;

use crate::study::{Configuration, Outcome};

/// Outcomes that differ by nothing but the seed.
pub struct Group<'a> {
    /// The configuration, for people.
    pub name: String,
    /// Its outcomes.
    pub outcomes: Vec<&'a Outcome>,
}

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// It.
    pub mean: f64,
    /// The ends of its 95 % interval; `None` with one seed.
    pub interval: Option<(f64, f64)>,
}

/// How often the queue had which length when a decision was made.
pub struct Distribution {
    /// Lengths: `0`, `1`, `2–3`, `4–7`, and so on.
    pub lengths: Vec<String>,
    /// For each configuration the share of its decisions at each of these, percent.
    pub shares: Vec<(String, Vec<f64>)>,
}

/// What decisions cost by the length of the queue, under a scheduler.
pub struct Costs {
    /// The scheduler; kernel and CPUs, where they differ.
    pub name: String,
    /// (tasks that wait, ns), of all boots.
    pub points: Vec<(f64, f64)>,
    /// The line through them, if there are enough.
    pub fit: Option<Fit>,
}

/// What of a configuration is told in its name: what is not the same for all.
struct Told {
    kernel: bool,
    cpus: bool,
}

impl Told {
    fn of(outcomes: &[Outcome]) -> Told {
        let all = || outcomes.iter().map(|outcome| &outcome.configuration);
        let first = all().next();
        Told {
            kernel: all().any(|one| first.is_some_and(|first| one.kernel != first.kernel)),
            cpus: all().any(|one| first.is_some_and(|first| one.cpus != first.cpus)),
        }
    }

    /// The machine and its scheduler, without what varies besides.
    fn machine(&self, one: &Configuration) -> String {
        let kernel = self.kernel.then(|| format!("Linux {}", one.kernel));
        let cpus = self.cpus.then(|| format!("{} CPU{}", one.cpus, if one.cpus == 1 { "" } else { "s" }));
        [kernel, cpus, Some(one.scheduler.clone())].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// All but the seed.
    fn name(&self, one: &Configuration) -> String {
        // A command tells for itself what it is.
        let varied = one.varied.iter().map(|(name, value)| match value.contains(' ') {
            true => format!(", {value}"),
            false => format!(", {name} {value}"),
        });
        std::iter::once(self.machine(one)).chain(varied).collect()
    }
}

/// Groups, in the order of their first outcomes.
pub fn groups(outcomes: &[Outcome]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let told = Told::of(outcomes);
    for outcome in outcomes {
        let name = told.name(&outcome.configuration);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.outcomes.push(outcome),
            None => groups.push(Group { name, outcomes: vec![outcome] }),
        }
    }
    groups
}

impl Group<'_> {
    /// How many gave no numbers.
    pub fn failed(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.failure.is_some()).count()
    }

    /// The mean of a number, see [`Outcome::value`]; `None` if an outcome does not have it.
    pub fn mean(&self, name: &str) -> Option<Mean> {
        let values = self.outcomes.iter().map(|outcome| outcome.value(name)).collect::<Option<Vec<f64>>>()?;
        let interval = mean_interval(&values, 0.95).ok().map(|interval| (interval.low, interval.high));
        Some(Mean { mean: values.iter().sum::<f64>() / values.len() as f64, interval })
    }
}

/// The lengths of the queue by configuration, all seeds together.
pub fn distribution(groups: &[Group<'_>]) -> Distribution {
    let place = |length: u32| (u32::BITS - length.leading_zeros()) as usize;
    let lengths = |group: &Group<'_>| -> Vec<(u32, u64)> {
        group.outcomes.iter().flat_map(|outcome| outcome.lengths()).collect()
    };
    let longest = groups.iter().flat_map(lengths).map(|(length, _)| length).max();
    let places = place(longest.unwrap_or(0)) + 1;
    let told = |at: usize| match at {
        0 | 1 => at.to_string(),
        _ => format!("{}–{}", 1 << (at - 1), (1 << at) - 1),
    };
    let mut shares = Vec::new();
    for group in groups {
        let mut decisions = vec![0; places];
        lengths(group).iter().for_each(|(length, made)| decisions[place(*length)] += made);
        let all = decisions.iter().sum::<u64>();
        if all > 0 {
            let share = |made: u64| 100.0 * made as f64 / all as f64;
            shares.push((group.name.clone(), decisions.into_iter().map(share).collect()));
        }
    }
    Distribution { lengths: (0..places).map(told).collect(), shares }
}

/// Costs of decisions, each scheduler, kernel and number of CPUs by itself.
pub fn costs(outcomes: &[Outcome]) -> Vec<Costs> {
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let told = Told::of(outcomes);
    for outcome in outcomes.iter().filter(|outcome| outcome.failure.is_none()) {
        points.entry(told.machine(&outcome.configuration)).or_default().extend(outcome.costs());
    }
    let costs = points.into_iter().filter(|(_, points)| !points.is_empty());
    costs.map(|(name, points)| Costs { fit: Fit::through(&points), name, points }).collect()
}
