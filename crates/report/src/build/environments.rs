//! The environments of the runs side by side, with their differences.

use std::collections::{BTreeMap, BTreeSet};

use klatch_record::{Condition, Record, conditions};

use super::subject::Subject;
use crate::model::Fact;
use crate::number::gigabytes;

/// The name of a property and its value in a record. The value is the same in all runs of one environment.
type Property = (&'static str, fn(&Record) -> String);

const PROPERTIES: [Property; 15] = [
    ("machine", |record| or_unknown(record.environment.cpu_model.as_deref())),
    ("architecture", |record| record.environment.architecture.clone()),
    ("CPUs", |record| record.environment.cpus.to_string()),
    ("memory", |record| record.environment.memory_bytes.map_or_else(unknown, gigabytes)),
    ("kernel", |record| record.environment.kernel.clone()),
    ("kernel build", |record| record.environment.kernel_build.clone()),
    ("distribution", |record| or_unknown(record.environment.distribution.as_deref())),
    ("sysctls set", |record| listed(&record.environment.sysctls)),
    ("open files", |record| limit(record.environment.limits.open_files)),
    ("processes of a user", |record| limit(record.environment.limits.user_processes)),
    ("threads-max", |record| limit(record.environment.limits.threads_max)),
    ("pid_max", |record| limit(record.environment.limits.pid_max)),
    ("max_map_count", |record| limit(record.environment.limits.max_map_count)),
    ("crowd", |record| record.crowd.kind.name().to_owned()),
    ("Klatch", |record| {
        let commit = record.klatch.commit.as_ref().map_or(String::new(), |commit| format!(" ({commit})"));
        format!("{}{commit}", record.klatch.version)
    }),
];

/// Conditions of the environment that [`PROPERTIES`] shows. Any other that a record has is shown as well, a setting of the machine if
/// it differs.
const SHOWN: [&str; 8] = [
    "environment.architecture",
    "environment.cpu_model",
    "environment.cpus",
    "environment.memory_bytes",
    "environment.kernel",
    "environment.kernel_build",
    "environment.distribution",
    "environment.sysctls",
];

/// The names of the environments, their properties, and the environment of each run.
pub(super) fn table(subject: &Subject) -> (Vec<String>, Vec<Fact>, Vec<String>) {
    let conditions: Vec<BTreeMap<Condition, String>> =
        subject.runs.iter().map(|run| conditions(&run.record)).collect();
    let is_other = |condition: &&Condition| {
        condition.path().starts_with("environment.") && !SHOWN.contains(&condition.path())
    };
    let mut others: BTreeSet<&Condition> =
        conditions.iter().flat_map(BTreeMap::keys).filter(is_other).collect();
    let differs = |other: &Condition| conditions.iter().any(|run| run.get(other) != conditions[0].get(other));
    others.retain(|other| !other.is_machine_setting() || differs(other));
    let mut kinds: Vec<Vec<String>> = Vec::new();
    let mut environment_of_run = Vec::new();
    for (run, conditions) in subject.runs.iter().zip(&conditions) {
        let mut values: Vec<String> = PROPERTIES.iter().map(|(_, value)| value(&run.record)).collect();
        values.extend(others.iter().map(|other| conditions.get(other).cloned().unwrap_or_default()));
        let place = kinds.iter().position(|kind| *kind == values).unwrap_or_else(|| {
            kinds.push(values);
            kinds.len() - 1
        });
        environment_of_run.push(name(place));
    }
    let fact = |(place, name): (usize, String)| {
        let values: Vec<String> = kinds.iter().map(|kind| kind[place].clone()).collect();
        let differs = values.iter().any(|value| *value != values[0]);
        Fact { name, values, differs }
    };
    let names = PROPERTIES.iter().map(|(name, _)| (*name).to_owned());
    let names = names.chain(others.iter().map(|other| other.name()));
    let mut facts: Vec<Fact> = names.enumerate().map(fact).collect();
    facts.extend(runtimes(subject, &environment_of_run, kinds.len()));
    facts.extend(load(subject, &environment_of_run, kinds.len()));
    facts.retain(|fact| fact.values.iter().any(|value| !value.is_empty()));
    ((0..kinds.len()).map(name).collect(), facts, environment_of_run)
}

/// The runtimes of the platforms, by environment.
fn runtimes(subject: &Subject, environment_of_run: &[String], count: usize) -> Vec<Fact> {
    let mut versions: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    for (run, environment) in subject.runs.iter().zip(environment_of_run) {
        let platform = &run.record.platform;
        let version = platform.runtime.as_ref().map(|runtime| &runtime.version).or(platform.version.as_ref());
        let spoken = run.record.mqtt_versions().map(|version| format!("MQTT {version}"));
        let version = version.cloned().into_iter().chain(spoken).collect::<Vec<_>>().join(", ");
        if version.is_empty() {
            continue;
        }
        let place = (0..count).position(|place| name(place) == *environment).unwrap_or(0);
        let known = &mut versions.entry(&platform.name).or_insert_with(|| vec![Vec::new(); count])[place];
        if !known.contains(&version) {
            known.push(version);
        }
    }
    let fact = |(platform, values): (&str, Vec<Vec<String>>)| {
        let values: Vec<String> = values.iter().map(|versions| versions.join(", ")).collect();
        let named = || values.iter().filter(|value| !value.is_empty());
        let differs = named().any(|value| Some(value) != named().next());
        Fact { name: platform.to_owned(), values, differs }
    };
    versions.into_iter().map(fact).collect()
}

/// The load of the machine as a range over the runs, as it may differ from run to run.
fn load(subject: &Subject, environment_of_run: &[String], count: usize) -> Vec<Fact> {
    let range = |what: &str, value: fn(&Record) -> Option<f64>, show: fn(f64) -> String| {
        let values = (0..count).map(|place| {
            let runs = subject.runs.iter().zip(environment_of_run).filter(|(_, of)| **of == name(place));
            let all: Vec<f64> = runs.filter_map(|(run, _)| value(&run.record)).collect();
            let least = all.iter().copied().reduce(f64::min);
            let most = all.iter().copied().reduce(f64::max);
            least
                .zip(most)
                .map_or_else(String::new, |(least, most)| format!("{}–{}", show(least), show(most)))
        });
        Fact { name: what.to_owned(), values: values.collect(), differs: false }
    };
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    vec![
        range(
            "load average before a run",
            |record| record.environment.load_1min,
            |load| format!("{load:.2}"),
        ),
        range(
            "CPU time given to others by the hypervisor",
            |record| record.environment.steal_share_in_run,
            percent,
        ),
        range("CPU frequency, MHz", |record| record.environment.cpu_mhz_in_run, |mhz| format!("{mhz:.0}")),
    ]
}

/// Names environments `A`, `B` … `Z`, `27` …
fn name(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => (place + 1).to_string(),
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn or_unknown(text: Option<&str>) -> String {
    text.map_or_else(unknown, str::to_owned)
}

fn limit(limit: Option<u64>) -> String {
    limit.map_or_else(unknown, |limit| match limit {
        u64::MAX => "unlimited".to_owned(),
        limit => crate::number::grouped(limit),
    })
}

fn listed(set: &BTreeMap<String, String>) -> String {
    set.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}
