//! What differs between two sides besides the platform, which is mostly what is compared.

use klatch_record::{Class, Record, Workload};

/// The platform of a record, and what is set about it.
pub(crate) fn described(record: &Record) -> String {
    let platform = &record.platform;
    let mut text = platform.name.clone();
    for part in platform.version.iter().chain(platform.runtime.iter().map(|runtime| &runtime.version)) {
        text = format!("{text}, {part}");
    }
    platform.knobs.iter().fold(text, |text, (name, value)| format!("{text}, {name}={value}"))
}

/// A workload in words that differ where workloads do.
pub(crate) fn workload(workload: &Workload) -> String {
    let pacing = serde_json::to_value(workload.pacing).expect("a pacing is plain JSON");
    let words = pacing.as_object().into_iter().flatten().map(|(name, value)| format!("{name} {value}"));
    let pacing = words.collect::<Vec<_>>().join(" ").replace('"', "");
    format!(
        "{} rooms of {} users, {} messages of {} bytes, pacing {}, pause {} s",
        workload.rooms,
        workload.users,
        workload.count,
        workload.size_bytes,
        pacing.trim_start_matches("kind "),
        workload.pause_s
    )
}

/// What is told when it differs: in which words, and from what of a record.
type Told = (&'static str, fn(&Record) -> String);

/// Whatever would make a ratio another one than that of the platforms: each as a sentence.
pub(crate) fn differences(a: &[Record], b: &[Record]) -> Vec<String> {
    let told: [Told; 8] = [
        ("workloads differ", |record| workload(&record.workload)),
        ("classes differ, so these are two contests", |record| class(record.platform.class).to_owned()),
        ("crowds differ", |record| crowd(record)),
        ("versions of Klatch differ", |record| build(record)),
        ("machines differ", |record| machine(record)),
        ("numbers of CPUs differ", |record| record.environment.cpus.to_string()),
        ("kernels differ", |record| {
            format!("{} {}", record.environment.kernel, record.environment.kernel_build)
        }),
        ("wires differ", |record| record.platform.wire.name().to_owned()),
    ];
    let all = |side: &[Record], of: fn(&Record) -> String| {
        let mut values: Vec<String> = side.iter().map(of).collect();
        values.sort();
        values.dedup();
        values.join(" and ")
    };
    let differ = |(what, of): &Told| {
        let (of_a, of_b) = (all(a, *of), all(b, *of));
        (of_a != of_b).then(|| format!("{what}: A {of_a}; B {of_b}"))
    };
    told.iter().filter_map(differ).collect()
}

fn class(class: Option<Class>) -> &'static str {
    match class {
        Some(Class::Classic) => "classic (one write per delivery)",
        Some(Class::Open) => "open (may put deliveries together)",
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
