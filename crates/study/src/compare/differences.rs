//! Differences between two sides other than the platform, which would distort a ratio, and differences within a side.

use std::collections::{BTreeMap, BTreeSet};

use klatch_record::settings::Scope;
use klatch_record::{Condition, Record, Workload, conditions};

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
    describe_settings(workload, &[Scope::Share])
}

/// The same of a duet, whose slices end its workload.
pub(crate) fn describe_endless_workload(workload: &Workload) -> String {
    describe_settings(workload, &[Scope::Share, Scope::End])
}

/// The settings of a workload in words, without those of these scopes.
fn describe_settings(workload: &Workload, without: &[Scope]) -> String {
    let settings = workload.settings().into_iter().filter(|(setting, _)| !without.contains(&setting.scope));
    let settings = settings.map(|(setting, value)| format!("{} {value}", setting.name));
    format!("{}: {}", workload.kind(), settings.collect::<Vec<_>>().join(", "))
}

/// The values of a property on one side, each once, as text. `None` is a value that a record does not have.
type Values<'a> = BTreeSet<Option<&'a str>>;

/// One sentence for each property in which the records of the two sides differ, or those of one side among each other. `names` are those
/// of the sides.
pub(crate) fn differences(names: [&str; 2], a: &[Record], b: &[Record]) -> Vec<String> {
    let workloads = [a, b].map(|side| -> Vec<String> {
        side.iter().map(|record| describe_workload(&record.workload)).collect()
    });
    let values = workloads.each_ref().map(|side| side.iter().map(|text| Some(text.as_str())).collect());
    let workload = sentence(names, "workloads", &values, "none");
    let headings = |side: &[Record]| -> BTreeSet<String> { side.iter().map(describe_platform).collect() };
    let is_same = workload.is_none() && headings(a) == headings(b);
    let sides: [Side; 2] = [a, b].map(|side| side.iter().map(conditions).collect());
    workload.into_iter().chain(of_conditions(names, &sides, is_same)).chain(unknown(&sides)).collect()
}

/// Conditions that a side has once: what ran, and on what. Others, such as the seed or a time limit, may change within a series.
const OF_ONE_SIDE: [&str; 6] =
    ["platform.", "crowd.", "klatch.", "environment.", "shards[].klatch.", "shards[].environment."];

/// A condition that the records of one side must share and do not, with its values; `None` if there is none.
pub(crate) fn mixture(records: &[Record]) -> Option<String> {
    let side: Side = records.iter().map(conditions).collect();
    let all: BTreeSet<&Condition> = side.iter().flat_map(BTreeMap::keys).collect();
    all.into_iter().find_map(|condition| {
        let path = condition.path();
        // A command has folders and ports of one start.
        let is_shared = OF_ONE_SIDE.iter().any(|start| path.starts_with(start)) && !path.ends_with("command");
        let values: Values<'_> = side.iter().map(|one| one.get(condition).map(String::as_str)).collect();
        (is_shared && values.len() > 1).then(|| {
            let absent = absent_word(path);
            let texts: Vec<&str> = values.iter().map(|value| value.unwrap_or(absent)).collect();
            format!("{}: {}", condition.name(), texts.join(" and "))
        })
    })
}

/// What the absence of a condition means.
fn absent_word(path: &str) -> &'static str {
    match path {
        "options.subprotocol" => "default",
        "platform.transport" => "plain",
        path if is_unknown_without(path) => "unknown",
        _ => "none",
    }
}

/// Facts that every machine and program has. Two records without one do not have the same.
const FACTS: [&str; 5] = [
    "klatch.commit",
    "klatch.profile",
    "environment.cpu_model",
    "environment.memory_bytes",
    "environment.distribution",
];

/// The identity of a Klatch whose commit does not name its source.
const BUILD_ID: &str = "klatch.build_id";

fn is_unknown_without(path: &str) -> bool {
    FACTS.contains(&path)
        || path.ends_with(BUILD_ID)
        || path.starts_with("environment.settings.")
        || path.contains(".in_force.")
}

/// The facts that no record of the two sides has, as one sentence.
fn unknown(sides: &[Side; 2]) -> Option<String> {
    let known: BTreeSet<&str> =
        sides.iter().flatten().flat_map(BTreeMap::keys).map(Condition::path).collect();
    let without_source = sides.each_ref().map(|side| side.iter().any(has_unknown_source));
    let of_build = without_source.into_iter().all(|is_unknown| is_unknown).then_some(BUILD_ID);
    let facts = FACTS.into_iter().filter(|fact| !known.contains(fact)).chain(of_build);
    let unknown: Vec<String> = facts.map(|fact| Condition::at(fact).name()).collect();
    (!unknown.is_empty())
        .then(|| format!("unknown on both sides, so they may differ: {}", unknown.join(", ")))
}

/// Whether nothing in a record names what its Klatch was built from.
fn has_unknown_source(record: &BTreeMap<Condition, String>) -> bool {
    let dirty = record.get(&Condition::at("klatch.commit")).is_none_or(|commit| commit.ends_with("-dirty"));
    dirty && !record.contains_key(&Condition::at(BUILD_ID))
}

/// An option that every record with options has.
const WARMUPS: &str = "options.warmups";

/// Whether some records have a value, and others none.
fn some_lack_it(values: &[Values<'_>; 2]) -> bool {
    let any = |has: bool| values.iter().flatten().any(|value| value.is_some() == has);
    any(true) && any(false)
}

/// The conditions of every record of a side.
type Side = Vec<BTreeMap<Condition, String>>;

/// The sentences about conditions; `is_same` if workloads and descriptions of the platform are equal.
fn of_conditions(names: [&str; 2], sides: &[Side; 2], is_same: bool) -> Vec<String> {
    let all: BTreeSet<&Condition> = sides.iter().flatten().flat_map(BTreeMap::keys).collect();
    let values = |condition: &Condition| -> [Values<'_>; 2] {
        sides.each_ref().map(|side| side.iter().map(|one| one.get(condition).map(String::as_str)).collect())
    };
    let values: BTreeMap<&str, [Values<'_>; 2]> =
        all.iter().map(|condition| (condition.path(), values(condition))).collect();
    let (commands, others): (Vec<&Condition>, Vec<&Condition>) =
        all.into_iter().partition(|condition| condition.path().ends_with("command"));
    let sentences = |conditions: &[&Condition]| -> Vec<String> {
        let wanted = conditions.iter().filter(|condition| !is_known(condition.path(), &values));
        wanted.filter_map(|condition| about(names, condition, &values[condition.path()])).collect()
    };
    let found = sentences(&others);
    // Everything else shows in the commands, so they add something only where nothing else differs.
    if found.is_empty() && is_same { sentences(&commands) } else { found }
}

/// Whether another sentence, or the description of the platforms, already shows a difference in the condition at `path`.
fn is_known(path: &str, values: &BTreeMap<&str, [Values<'_>; 2]>) -> bool {
    let differs = |path: &str| values.get(path).is_some_and(|[a, b]| a != b);
    let only_one_has = |path: &str| {
        let has = |values: &Values<'_>| values.iter().any(Option::is_some);
        values.get(path).is_some_and(|[a, b]| has(a) != has(b))
    };
    match path {
        WARMUPS => false,
        // Only some workloads use it.
        "options.seed" => values.get(path).is_some_and(some_lack_it),
        path if path.starts_with("options.") && values.get(WARMUPS).is_some_and(some_lack_it) => true,
        // In the description of the platforms.
        "platform.name" | "platform.knobs" => true,
        "platform.version"
        | "platform.environment"
        | "platform.runtime.version"
        | "platform.runtime.vendor"
        | "platform.runtime.path"
        | "options.target" => differs("platform.name"),
        "platform.runtime.options" => differs("platform.knobs") || only_one_has("platform.runtime.version"),
        BUILD_ID => differs("klatch.commit"),
        "shards[].klatch.build_id" => differs("shards[].klatch.commit"),
        // A crowd on this machine and one on hosts, which is said.
        path if path.starts_with("shards[].klatch.") => only_one_has("shards[].host"),
        "shards[].loops" => differs("crowd.kind"),
        "platform.runtime.environment" => only_one_has("platform.runtime.version"),
        path if path.starts_with("platform.runtime.in_force.") => {
            only_one_has("platform.runtime.version") || follows_from("platform.", differs)
        }
        path if path.starts_with("crowd.runtime.in_force.") => {
            differs("crowd.kind") || follows_from("crowd.", differs)
        }
        "crowd.runtime.options" => differs("crowd.kind") || differs("crowd.knobs"),
        path if path.starts_with("crowd.runtime.") => differs("crowd.kind"),
        path if path.starts_with("observations[].support.") => differs("options.instruments"),
        "shards[].mqtt_version" => differs("platform.protocol"),
        path if path.starts_with("shards[].tls.") => differs("platform.transport"),
        _ => false,
    }
}

/// Whether a difference between the virtual machines of a side has a cause that is compared itself.
fn follows_from(side: &str, differs: impl Fn(&str) -> bool) -> bool {
    let causes = ["knobs", "runtime.version", "runtime.path", "runtime.options", "runtime.environment"];
    causes.iter().any(|cause| differs(&format!("{side}{cause}")))
}

/// The sentence about a condition; `None` if it is equal in all records.
fn about(names: [&str; 2], condition: &Condition, values: &[Values<'_>; 2]) -> Option<String> {
    match condition.path() {
        // A series may have several seeds.
        "options.seed" if values[0] == values[1] => None,
        "platform.class" if values[0] != values[1] => {
            Some(sentence(names, "classes", values, "none")?.replacen(
                "differ",
                "differ, so the scores are not comparable",
                1,
            ))
        }
        WARMUPS if some_lack_it(values) => {
            let [a, b] = values.each_ref().map(|values| match values.contains(&None) {
                true => "lacks them, as no `klatch run` started its crowds",
                false => "has them",
            });
            let [a_name, b_name] = names;
            Some(format!("options of the runs cannot be compared: {a_name} {a}; {b_name} {b}"))
        }
        path if path.ends_with("command") || path.ends_with("options") => {
            sentence_of_words(names, &condition.name(), values)
        }
        path => sentence(names, &condition.name(), values, absent_word(path)),
    }
}

/// `kernels differ: A 6.1; B 6.2`, or `A mixes kernels: 6.1 and 6.2; B 6.1`; `None` if all values are equal.
/// `absent` stands for no value.
fn sentence([one, other]: [&str; 2], name: &str, values: &[Values<'_>; 2], absent: &str) -> Option<String> {
    let [a, b] = values.each_ref().map(|values| {
        let texts: Vec<&str> = values.iter().map(|value| value.unwrap_or(absent)).collect();
        texts.join(" and ")
    });
    match values.each_ref().map(|values| values.len() > 1) {
        [true, true] => Some(format!("{one} and {other} mix {name}: {one} {a}; {other} {b}")),
        [true, false] => Some(format!("{one} mixes {name}: {a}; {other} {b}")),
        [false, true] => Some(format!("{other} mixes {name}: {b}; {one} {a}")),
        [false, false] => (a != b).then(|| format!("{name} differ: {one} {a}; {other} {b}")),
    }
}

/// The same with only those words of each value that not all values have.
fn sentence_of_words(names: [&str; 2], name: &str, values: &[Values<'_>; 2]) -> Option<String> {
    let all: Vec<Vec<&str>> = values
        .iter()
        .flatten()
        .map(|value| value.map_or_else(Vec::new, |value| value.split(' ').collect()))
        .collect();
    let own = |value: &Option<&str>| {
        let words = value.unwrap_or_default().split(' ').filter(|word| !word.is_empty());
        let own: Vec<&str> = words.filter(|word| all.iter().any(|other| !other.contains(word))).collect();
        own.join(" ")
    };
    let shortened = values.each_ref().map(|values| -> Vec<String> { values.iter().map(own).collect() });
    let texts = shortened.each_ref().map(|values| -> Values<'_> {
        values.iter().map(|value| Some(value.as_str()).filter(|value| !value.is_empty())).collect()
    });
    // The same words in another order stay whole.
    sentence(names, name, &texts, "none").or_else(|| sentence(names, name, values, "none"))
}

#[cfg(test)]
mod tests {
    use klatch_record::samples::{record, shard};
    use klatch_record::{
        Class, CrowdProgram, Database, InstrumentName, Observation, ProtocolName, RemoteOptions, Runtime,
        SchedulerInForce, Shard, Support, Transport, conditions_in,
    };

    use super::*;

    fn differences(a: &[Record], b: &[Record]) -> Vec<String> {
        super::differences(["A", "B"], a, b)
    }

    /// A VolanoMark test in Java.
    fn java() -> Record {
        let mut record = record(1, 1, 1_000.0);
        record.shards = vec![Shard { klatch: Some(record.klatch.clone()), ..shard() }];
        let runtime = Runtime {
            version: "OpenJDK 17.0.19+10".into(),
            vendor: Some("Debian".into()),
            path: "/usr/bin/java".into(),
            options: vec!["-Xmx1g".into(), "-XX:+UseSerialGC".into()],
            environment: [].into(),
            in_force: None,
        };
        record.platform.command = Some(vec!["java".into(), "serve".into()]);
        record.platform.runtime = Some(runtime.clone());
        record.crowd.kind = CrowdProgram::Java;
        record.crowd.runtime = Some(runtime);
        record
    }

    type Change = fn(&mut Record);

    /// A change of a record, and the sentence about it.
    const CHANGES: &[(Change, &str)] = &[
        (
            |record| record.platform.runtime.as_mut().unwrap().options[0] = "-Xmx2g".into(),
            "Java options of the server differ: A -Xmx1g; B -Xmx2g",
        ),
        (
            |record| {
                let runtime = record.platform.runtime.as_mut().unwrap();
                runtime.environment.insert("JAVA_TOOL_OPTIONS".into(), "-Xint".into());
            },
            "Java variables of the server differ: A none; B JAVA_TOOL_OPTIONS=-Xint",
        ),
        (
            |record| record.platform.runtime.as_mut().unwrap().path = "/opt/java".into(),
            "Java paths of the server differ: A /usr/bin/java; B /opt/java",
        ),
        (
            |record| record.platform.runtime.as_mut().unwrap().vendor = Some("Azul".into()),
            "Java vendors of the server differ: A Debian; B Azul",
        ),
        (
            |record| record.platform.runtime.as_mut().unwrap().version = "OpenJDK 17.0.19+9".into(),
            "Java versions of the server differ: A OpenJDK 17.0.19+10; B OpenJDK 17.0.19+9",
        ),
        (
            |record| record.crowd.runtime.as_mut().unwrap().options.push("-Xint".into()),
            "Java options of the crowd differ: A none; B -Xint",
        ),
        (
            |record| record.crowd.runtime.as_mut().unwrap().path = "/opt/java".into(),
            "Java paths of the crowd differ: A /usr/bin/java; B /opt/java",
        ),
        (
            |record| record.crowd.knobs = [("cpus".into(), "0-1".into())].into(),
            "knobs of the crowd differ: A none; B cpus=0-1",
        ),
        (|record| record.crowd.kind = CrowdProgram::NativeThreads, "crowds differ: A java; B native-threads"),
        (|record| record.shards[0].loops = Some(4), "event loops of the crowd differ: A 1; B 4"),
        (
            |record| record.platform.environment = [("GOGC".into(), "off".into())].into(),
            "variables that the platform sets differ: A none; B GOGC=off",
        ),
        (
            |record| record.shards[0].klatch.as_mut().unwrap().commit = Some("abc".into()),
            "commits of Klatch on the hosts of the crowd differ: A c0ffee; B abc",
        ),
        (
            |record| record.klatch.build_id = Some("ab01".into()),
            "build ids of Klatch differ: A unknown; B ab01",
        ),
        (
            |record| {
                let (name, counts) = ("o1:yield=2".into(), [("ticks".into(), 7)].into());
                record.environment.scheduler =
                    Some(SchedulerInForce { name, program_sha256: None, lost: None, counts });
            },
            "schedulers differ: A none; B o1:yield=2",
        ),
        (
            |record| record.environment.sched_ext = Some("lavd".into()),
            "schedulers of other programs differ: A none; B lavd",
        ),
        (
            |record| record.environment.sysctls = [("vm.nr_hugepages".into(), "64".into())].into(),
            "sysctls differ: A none; B vm.nr_hugepages=64",
        ),
        (
            |record| {
                record.options.as_mut().unwrap().instruments =
                    vec![InstrumentName::Usage, InstrumentName::Profile];
            },
            "instruments differ: A none; B usage, profile",
        ),
        (|record| record.platform.servers = 2, "numbers of server processes differ: A 1; B 2"),
        (
            |record| record.workload = record.workload.with_rate(5.0),
            "workloads differ: A chat: rooms 10, users 20, count 100, size 60, pacing turns",
        ),
        (|record| record.options.as_mut().unwrap().warmups = 9, "numbers of warm-up runs differ: A 1; B 9"),
        (
            |record| record.options.as_mut().unwrap().subprotocol = Some("none".into()),
            "subprotocols differ: A default; B none",
        ),
        (
            |record| record.options.as_mut().unwrap().catalog = Some("builds/after".into()),
            "catalogs differ: A none; B builds/after",
        ),
        (
            |record| {
                let (hosts, reach, program) = (vec!["alpha".into()], "ssh".into(), "klatch".into());
                record.options.as_mut().unwrap().remote = Some(RemoteOptions { hosts, reach, program });
            },
            "paths of Klatch on the hosts differ: A none; B klatch",
        ),
        (
            |record| record.options.as_mut().unwrap().timeout_s = 5.0,
            "limits of the time without a delivery differ: A 60.0; B 5.0",
        ),
        (
            |record| {
                record.observations.push(Observation {
                    instrument: InstrumentName::Runqueue,
                    support: Support::Usable { base: "BPF".into() },
                    failure: None,
                    share_of_time: None,
                    cost: None,
                    data: None,
                    files: Vec::new(),
                });
            },
            "bases of the instruments differ: A none; B BPF",
        ),
        (
            |record| record.platform.class = Some(Class::Open),
            "classes differ, so the scores are not comparable: A classic (one write per delivery); B open (may batch deliveries)",
        ),
        (|record| record.platform.protocol = ProtocolName::Nats, "protocols differ: A irc; B nats"),
        (|record| record.platform.transport = Transport::Ws, "transports differ: A plain; B ws"),
        (
            |record| {
                let (name, version) = ("postgresql".into(), Some("15".into()));
                record.platform.database =
                    Some(Database { name, version, durable: false, file_system: None });
            },
            "versions of the database differ: A none; B 15",
        ),
        (|record| record.klatch.commit = Some("abc".into()), "commits of Klatch differ: A c0ffee; B abc"),
        (|record| record.environment.kernel = "7".into(), "kernels differ: A 6; B 7"),
        (|record| record.environment.cpus = 8, "numbers of CPUs differ: A 2; B 8"),
        (
            |record| record.environment.memory_bytes = Some(16_000_000_000),
            "memory sizes differ: A 8.0 GB; B 16.0 GB",
        ),
        (
            |record| record.platform.command.as_mut().unwrap().push("--queue=9".into()),
            "commands of the server differ: A none; B --queue=9",
        ),
    ];

    fn changed(change: Change) -> Record {
        let mut record = java();
        change(&mut record);
        record
    }

    #[test]
    fn every_difference_between_sides_is_reported() {
        for (change, expected) in CHANGES {
            let found = differences(&[java(), java()], &[changed(*change)]);
            assert!(found.iter().any(|one| one.starts_with(expected)), "{expected:?} is not in {found:?}");
        }
    }

    #[test]
    fn every_difference_within_a_side_is_reported() {
        for (change, expected) in CHANGES {
            // `read` refuses a side with several workloads.
            let name = expected.split(" differ").next().unwrap();
            let mixed = [java(), changed(*change)];
            for (a, b, start) in [
                (&mixed[..], &mixed[..1], format!("A mixes {name}: ")),
                (&mixed[1..], &mixed[..], format!("B mixes {name}: ")),
                (&mixed[..], &mixed[..], format!("A and B mix {name}: A ")),
            ] {
                let found = differences(a, b);
                assert!(found.iter().any(|one| one.starts_with(&start)), "{start:?} is not in {found:?}");
            }
        }
    }

    #[test]
    fn equal_runs_and_other_platforms_are_silent() {
        let later = Record { number: 2, started_at: "2027-01-01T00:00:00Z".into(), ..record(2, 9, 5.0) };
        assert_eq!(differences(&[record(1, 1, 1.0)], &[later]), [""; 0]);
        // The description of the sides shows both.
        let mut other = java();
        other.platform.name = "y".into();
        other.platform.knobs = [("gc".into(), "zgc".into())].into();
        let runtime = other.platform.runtime.as_mut().unwrap();
        (runtime.version, runtime.path) = ("21".into(), "/opt/21".into());
        runtime.options = vec!["-XX:+UseZGC".into()];
        assert_eq!(differences(&[java()], &[other.clone()]), [""; 0]);
        // But not this.
        other
            .platform
            .runtime
            .as_mut()
            .unwrap()
            .environment
            .insert("JDK_JAVA_OPTIONS".into(), "-Xint".into());
        assert_eq!(
            differences(&[java()], &[other]),
            ["Java variables of the server differ: A none; B JDK_JAVA_OPTIONS=-Xint"]
        );
    }

    #[test]
    fn what_no_record_knows_may_differ() {
        let mut unknown = java();
        (unknown.environment.cpu_model, unknown.klatch.commit) = (None, None);
        assert_eq!(
            differences(&[unknown.clone()], &[unknown.clone()]),
            ["unknown on both sides, so they may differ: commits of Klatch, CPU models, build ids of Klatch"]
        );
        assert_eq!(
            differences(&[java()], &[unknown]),
            ["commits of Klatch differ: A c0ffee; B unknown", "CPU models differ: A a CPU; B unknown"]
        );
    }

    #[test]
    fn two_builds_of_one_commit_with_changes_are_not_equal() {
        let dirty = |build_id: Option<&str>| {
            let mut record = java();
            record.klatch.commit = Some("c0ffee-dirty".into());
            record.klatch.build_id = build_id.map(str::to_owned);
            record
        };
        let found = |a: Option<&str>, b: Option<&str>| differences(&[dirty(a)], &[dirty(b)]);
        assert_eq!(found(Some("ab01"), Some("ab01")), [""; 0]);
        assert_eq!(found(Some("ab01"), Some("ab02")), ["build ids of Klatch differ: A ab01; B ab02"]);
        assert_eq!(found(Some("ab01"), None), ["build ids of Klatch differ: A ab01; B unknown"]);
        assert_eq!(found(None, None), ["unknown on both sides, so they may differ: build ids of Klatch"]);
    }

    #[test]
    fn options_that_one_side_does_not_have_are_one_sentence() {
        let alone = Record { options: None, ..java() };
        assert_eq!(
            differences(&[java()], &[alone]),
            [
                "options of the runs cannot be compared: A has them; B lacks them, as no `klatch run` started its crowds"
            ]
        );
    }

    #[test]
    fn a_field_without_words_is_reported_by_its_path() {
        let with = |value: &str| {
            let mut json = serde_json::to_value(java()).unwrap();
            json["environment"]["microcode"] = value.into();
            vec![conditions_in(&json)]
        };
        assert_eq!(
            of_conditions(["A", "B"], &[with("0xa0"), with("0xa1")], true),
            ["values of environment.microcode differ: A 0xa0; B 0xa1"]
        );
    }
}
