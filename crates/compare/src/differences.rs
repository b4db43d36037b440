//! Differences between two sides other than the platform, which would distort a ratio.

use klatch_record::settings::Scope;
use klatch_record::{Class, Record, Workload};

/// The platform of a record with its version, runtime and knobs.
pub(crate) fn describe_platform(record: &Record) -> String {
    let platform = &record.platform;
    let mut text = platform.name.clone();
    for part in platform.version.iter().chain(platform.runtime.iter().map(|runtime| &runtime.version)) {
        text = format!("{text}, {part}");
    }
    platform.knobs.iter().fold(text, |text, (name, value)| format!("{text}, {name}={value}"))
}

/// A text that is equal for equal workloads only, apart from the number of the first party.
pub(crate) fn describe_workload(workload: &Workload) -> String {
    let settings = workload.settings().into_iter().filter(|(setting, _)| setting.scope != Scope::Share);
    let settings = settings.map(|(setting, value)| format!("{} {value}", setting.name));
    format!("{}: {}", workload.kind(), settings.collect::<Vec<_>>().join(", "))
}

/// The message for one kind of difference, and the property of a record that it is about.
type Property = (&'static str, fn(&Record) -> String);

/// One sentence for each property in which the records of the two sides differ.
pub(crate) fn differences(a: &[Record], b: &[Record]) -> Vec<String> {
    let properties: [Property; 9] = [
        ("workloads differ", |record| describe_workload(&record.workload)),
        ("classes differ, so the scores are not comparable", |record| {
            class(record.platform.class).to_owned()
        }),
        ("crowds differ", |record| crowd(record)),
        ("versions of Klatch differ", |record| build(record)),
        ("machines differ", |record| machine(record)),
        ("numbers of CPUs differ", |record| record.environment.cpus.to_string()),
        ("kernels differ", |record| {
            format!("{} {}", record.environment.kernel, record.environment.kernel_build)
        }),
        ("protocols differ", |record| record.platform.protocol.name().to_owned()),
        ("transports differ", |record| record.platform.transport.name().to_owned()),
    ];
    let values = |side: &[Record], property: fn(&Record) -> String| {
        let mut values: Vec<String> = side.iter().map(property).collect();
        values.sort();
        values.dedup();
        values.join(" and ")
    };
    let differ = |(message, property): &Property| {
        let (in_a, in_b) = (values(a, *property), values(b, *property));
        (in_a != in_b).then(|| format!("{message}: A {in_a}; B {in_b}"))
    };
    properties.iter().filter_map(differ).collect()
}

fn class(class: Option<Class>) -> &'static str {
    match class {
        Some(Class::Classic) => "classic (one write per delivery)",
        Some(Class::Open) => "open (may batch deliveries)",
        None => "unknown",
    }
}

fn crowd(record: &Record) -> String {
    let runtime = record.crowd.runtime.as_ref().map(|runtime| format!(" on {}", runtime.version));
    let knobs = record.crowd.knobs.iter().map(|(name, value)| format!(", {name}={value}"));
    format!("{}{}{}", record.crowd.kind, runtime.unwrap_or_default(), knobs.collect::<String>())
}

fn build(record: &Record) -> String {
    let commit = record.klatch.commit.as_ref().map(|commit| format!(" {commit}"));
    format!("{}{}", record.klatch.version, commit.unwrap_or_default())
}

fn machine(record: &Record) -> String {
    let environment = &record.environment;
    let memory = environment.memory_bytes.map(|bytes| format!(", {:.1} GB", bytes as f64 / 1e9));
    format!("{}{}", environment.cpu_model.as_deref().unwrap_or("unknown CPU"), memory.unwrap_or_default())
}
