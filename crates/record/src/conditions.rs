//! The conditions of a run, which must be equal for a comparison: what was set up, and where it ran.
//!
//! They are what remains of a record without the fields in [`FREE`]. So a field that is added to the record is a condition until it is
//! listed there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{Class, Record};

/// Fields that may differ between comparable runs, with everything below them. `[]` stands for every element of a list.
const FREE: &[&str] = &[
    // Which run it is.
    "started_at",
    "role",
    "number",
    "options.label",
    "options.trials",
    "options.require",
    // Results.
    "verdict",
    "warnings",
    "score",
    "operations",
    "results",
    "audit",
    "joining",
    "latency",
    "send_lag",
    "over_time",
    "stages",
    "checks",
    "usage",
    "platform.start_s",
    "observations[].failure",
    "observations[].share_of_time",
    "observations[].cost",
    "observations[].data",
    "observations[].files",
    "observations[].support.why",
    "observations[].support.remedy",
    "shards[].opened",
    "shards[].elapsed_s",
    "shards[].gaps",
    "shards[].total",
    "shards[].reasons",
    "shards[].warnings",
    "shards[].database",
    "shards[].usage",
    "shards[].tls.resumed",
    "shards[].tls.in_kernel",
    // The state of the machine.
    "environment.load_1min",
    "environment.steal_share_since_boot",
    "environment.steal_share_in_run",
    "environment.others_share_in_run",
    "environment.throttled_in_run_s",
    "environment.cpu_mhz_in_run",
    "environment.noise",
    "environment.scheduler.lost",
    "environment.scheduler.counts",
    // A run that meets a limit is not valid.
    "environment.limits",
    // How instruments could work; `observations` has how those of the run did.
    "environment.instruments",
    // Ports, and names of gates.
    "platform.address",
    "shards[].address",
    "shards[].gate",
    "shards[].gate_run",
    // Described in words, with its parties and its database.
    "workload",
    "platform.database.name",
    "platform.database.durable",
    "shards[].workload",
    "shards[].start",
    "shards[].rooms",
    // The reason for the choice of a platform, not the choice.
    "platform.chosen_because",
    // What was asked for, where another field holds what was in force.
    "options.scheduler",
    "options.servers",
    "options.shards",
    "options.crowd_loops",
    "options.remote.hosts",
    "observations[].instrument",
    // As the first crowd's, with other parties.
    "shards[].command",
];

/// Maps whose entries are one value: `name=value, name=value`.
const WHOLE: [&str; 7] = [
    "platform.knobs",
    "platform.environment",
    "crowd.knobs",
    "environment.sysctls",
    "environment.variables",
    "platform.runtime.environment",
    "crowd.runtime.environment",
];

/// What the paths of the machine's settings begin with.
const SETTINGS: &str = "environment.settings.";

/// The number of crowd processes, which no field holds.
const SHARDS: &str = "shards";

/// Conditions in the order of reports, with their names in the plural.
const NAMES: &[(&str, &str)] = &[
    ("schema", "formats of records"),
    ("platform.name", "platforms"),
    ("platform.class", "classes"),
    ("platform.version", "versions of the server"),
    ("platform.knobs", "knobs of the server"),
    ("platform.runtime.version", "Java versions of the server"),
    ("platform.runtime.vendor", "Java vendors of the server"),
    ("platform.runtime.path", "Java paths of the server"),
    ("platform.runtime.options", "Java options of the server"),
    ("platform.runtime.environment", "Java variables of the server"),
    ("platform.runtime.in_force.version", "virtual machines of the server"),
    ("platform.runtime.in_force.home", "homes of the server's Java"),
    ("platform.runtime.in_force.mode", "modes of the server's virtual machine"),
    ("platform.runtime.in_force.collectors", "garbage collectors of the server"),
    ("platform.runtime.in_force.heap_max_bytes", "largest heaps of the server"),
    ("platform.runtime.in_force.options", "options in force in the server's virtual machine"),
    ("platform.environment", "variables that the platform sets"),
    ("platform.io", "I/O mechanisms of the server"),
    ("platform.database.version", "versions of the database"),
    ("platform.database.file_system", "file systems of the database"),
    ("crowd.kind", "crowds"),
    ("crowd.knobs", "knobs of the crowd"),
    ("crowd.runtime.version", "Java versions of the crowd"),
    ("crowd.runtime.vendor", "Java vendors of the crowd"),
    ("crowd.runtime.path", "Java paths of the crowd"),
    ("crowd.runtime.options", "Java options of the crowd"),
    ("crowd.runtime.environment", "Java variables of the crowd"),
    ("crowd.runtime.in_force.version", "virtual machines of the crowd"),
    ("crowd.runtime.in_force.home", "homes of the crowd's Java"),
    ("crowd.runtime.in_force.mode", "modes of the crowd's virtual machine"),
    ("crowd.runtime.in_force.collectors", "garbage collectors of the crowd"),
    ("crowd.runtime.in_force.heap_max_bytes", "largest heaps of the crowd"),
    ("crowd.runtime.in_force.options", "options in force in the crowd's virtual machine"),
    ("shards[].loops", "event loops of the crowd"),
    ("klatch.version", "versions of Klatch"),
    ("klatch.commit", "commits of Klatch"),
    ("klatch.profile", "build profiles of Klatch"),
    ("klatch.build_id", "build ids of Klatch"),
    ("environment.cpu_model", "CPU models"),
    ("environment.cpus", "numbers of CPUs"),
    ("environment.cpu_quota", "CPU quotas"),
    ("environment.memory_bytes", "memory sizes"),
    ("environment.kernel", "kernels"),
    ("environment.kernel_build", "kernel builds"),
    ("environment.distribution", "distributions"),
    ("environment.scheduler.name", "schedulers"),
    ("environment.scheduler.program_sha256", "builds of the scheduler"),
    ("environment.sched_ext", "schedulers of other programs"),
    ("environment.sysctls", "sysctls"),
    ("environment.architecture", "architectures"),
    ("environment.variables", "variables of the environment"),
    ("platform.protocol", "protocols"),
    ("platform.transport", "transports"),
    ("options.subprotocol", "subprotocols"),
    ("shards[].mqtt_version", "versions of MQTT"),
    ("shards[].tls.version", "TLS versions"),
    ("shards[].tls.cipher", "TLS cipher suites"),
    ("options.ca", "files of authorities"),
    ("options.connecting.addresses", "choices of the server's addresses"),
    ("options.connecting.sources", "source addresses"),
    ("options.connecting.tls_version", "versions of TLS that are offered"),
    ("options.connecting.ciphers", "cipher suites that are offered"),
    ("options.connecting.certificate", "client certificates"),
    ("options.connecting.key", "keys of client certificates"),
    ("shards[].addresses", "addresses of the server"),
    ("shards[].request.body_sha256", "contents of the body"),
    ("shards[].request.urls_sha256", "contents of the file of URLs"),
    ("options.target", "targets"),
    ("options.catalog", "catalogs"),
    ("platform.servers", "numbers of server processes"),
    (SHARDS, "numbers of crowd processes"),
    ("options.listen", "addresses of the servers"),
    ("shards[].host", "hosts of the crowd"),
    ("options.remote.reach", "ways to reach the hosts"),
    ("options.remote.program", "paths of Klatch on the hosts"),
    ("options.instruments", "instruments"),
    ("observations[].support.state", "states of the instruments"),
    ("observations[].support.base", "bases of the instruments"),
    ("options.seed", "seeds"),
    ("options.warmups", "numbers of warm-up runs"),
    ("options.warmup_s", "lengths of the warm-up"),
    ("options.ready_timeout_s", "limits of the time to be ready"),
    ("options.timeout_s", "limits of the time without a delivery"),
    ("options.connect_timeout_s", "limits of the time to connect"),
    ("platform.command", "commands of the server"),
    ("crowd.command", "commands of the crowd"),
];

/// A condition of a run. The order is that of reports: known conditions first, unknown ones by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    rank: usize,
    path: String,
}

impl Condition {
    /// The condition in the field at `path` of a record.
    pub fn at(path: &str) -> Condition {
        let rank = NAMES.iter().position(|(known, _)| *known == path).unwrap_or(NAMES.len());
        Condition { rank, path: path.to_owned() }
    }

    /// Path of its field in the record: `environment.kernel`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is a setting of the machine: one of many, each of which matters only where it differs.
    pub fn is_machine_setting(&self) -> bool {
        self.path.starts_with(SETTINGS)
    }

    /// Its name in the plural; that of its field if there are no words for it.
    pub fn name(&self) -> String {
        if let Some((_, name)) = NAMES.get(self.rank) {
            return (*name).to_owned();
        }
        let of_host = self.path.strip_prefix("shards[].");
        if let Some(path) =
            of_host.filter(|path| path.starts_with("environment.") || path.starts_with("klatch."))
        {
            return format!("{} on the hosts of the crowd", Condition::at(path).name());
        }
        if let Some(setting) = self.path.strip_prefix(SETTINGS) {
            return format!("values of the machine's {setting}");
        }
        format!("values of {}", self.path)
    }
}

/// The conditions of a run with their values as text. A value that is absent or `null` is left out.
pub fn conditions(record: &Record) -> BTreeMap<Condition, String> {
    let mut value = serde_json::to_value(record).expect("a record is plain JSON");
    if !record.workload.is_random()
        && let Some(options) = value["options"].as_object_mut()
    {
        options.remove("seed");
    }
    let addresses = record.shards.iter().map(|shard| shard.address.as_str());
    let ports: Vec<&str> = addresses
        .chain(record.platform.address.split(", "))
        .filter_map(|address| address.rsplit_once(':').map(|(_, port)| port))
        .collect();
    for side in ["platform", "crowd"] {
        let words = value[side]["command"].as_array_mut().into_iter().flatten();
        words.for_each(|word| *word = mask_ports(&plain(word), &ports).into());
    }
    let variables = value["platform"]["environment"].as_object_mut().into_iter().flatten();
    variables.for_each(|(_, text)| *text = mask_ports(&plain(text), &ports).into());
    let mut conditions = conditions_in(&value);
    if !record.shards.is_empty() {
        conditions.insert(Condition::at(SHARDS), record.shards.len().to_string());
    }
    conditions
}

/// The conditions in the JSON of a record, with those that this Klatch does not know. Ports and unused seeds are among them.
pub fn conditions_in(record: &Value) -> BTreeMap<Condition, String> {
    let mut found = BTreeMap::new();
    collect("", record, &mut found);
    let text = |path: &str, values: BTreeSet<String>| {
        let all: Vec<String> = values.into_iter().map(|value| shown(path, value)).collect();
        all.join(", ")
    };
    found.into_iter().map(|(path, values)| (Condition::at(&path), text(&path, values))).collect()
}

/// Adds the values below a path. The elements of a list of objects share their paths.
fn collect(path: &str, value: &Value, found: &mut BTreeMap<String, BTreeSet<String>>) {
    if is_free(path) {
        return;
    }
    let text = match value {
        Value::Null => return,
        Value::Object(fields) if WHOLE.contains(&without_host(path)) => fields
            .iter()
            .map(|(name, value)| format!("{name}={}", plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
        Value::Object(fields) => {
            for (name, value) in fields {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(&below, value, found);
            }
            return;
        }
        Value::Array(elements) if elements.iter().any(Value::is_object) => {
            elements.iter().for_each(|element| collect(&format!("{path}[]"), element, found));
            return;
        }
        Value::Array(elements) => {
            let separator = if path.ends_with("command") || path.ends_with("options") { " " } else { ", " };
            elements.iter().map(plain).collect::<Vec<_>>().join(separator)
        }
        scalar => plain(scalar),
    };
    if !text.is_empty() {
        found.entry(path.to_owned()).or_default().insert(mask_folders(&text));
    }
}

fn is_free(path: &str) -> bool {
    let path = without_host(path);
    let covers = |free: &str| {
        path.strip_prefix(free).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    FREE.iter().copied().any(covers)
}

/// The path of the environment of a host as that of the record's environment.
fn without_host(path: &str) -> &str {
    path.strip_prefix("shards[].").filter(|rest| rest.starts_with("environment")).unwrap_or(path)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The text of a value in reports.
fn shown(path: &str, value: String) -> String {
    match (without_host(path), value.as_str()) {
        ("platform.class", class) if class == Class::Classic.name() => {
            format!("{class} (one write per delivery)")
        }
        ("platform.class", class) if class == Class::Open.name() => format!("{class} (may batch deliveries)"),
        // The kernel's share of the memory differs a little from boot to boot.
        ("environment.memory_bytes", bytes) => {
            bytes.parse::<f64>().map_or(value.clone(), |bytes| format!("{:.1} GB", bytes / 1e9))
        }
        _ => value,
    }
}

/// Replaces the ports of the servers, and those on loopback, in a word of a command: most are free ports that the system chose.
fn mask_ports(word: &str, ports: &[&str]) -> String {
    let mut masked = String::new();
    let mut rest = word;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        masked.push_str(&rest[..at]);
        let length = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest[at..].split_at(length);
        let is_local = ["127.0.0.1:", "[::1]:"].iter().any(|host| masked.ends_with(host));
        masked.push_str(if is_local || ports.contains(&number) { "PORT" } else { number });
        rest = after;
    }
    masked + rest
}

/// Replaces the random part in the names of temporary folders: `klatch-` and six letters or digits.
fn mask_folders(text: &str) -> String {
    const PREFIX: &str = "/klatch-";
    const RANDOM: usize = 6;
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(PREFIX) {
        let (before, after) = rest.split_at(at + PREFIX.len());
        masked.push_str(before);
        let length = after.bytes().take_while(u8::is_ascii_alphanumeric).count();
        rest = after;
        if length == RANDOM && !after[RANDOM..].starts_with(['-', '.', '_']) {
            masked.push('*');
            rest = &after[RANDOM..];
        }
    }
    masked + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::record;
    use crate::{InstrumentName, Observation, Runtime, SchedulerInForce, Support, VmInForce, Workload};

    fn paths(conditions: &BTreeMap<Condition, String>) -> Vec<&str> {
        conditions.keys().map(Condition::path).collect()
    }

    /// A record with most of what a record can hold.
    fn full() -> Record {
        let mut full = record(1, 1, 1_000.0);
        let runtime = Runtime {
            version: "17".into(),
            vendor: Some("Debian".into()),
            path: "/usr/bin/java".into(),
            options: vec!["-Xmx1g".into()],
            environment: [("JAVA_TOOL_OPTIONS".into(), "-Xint".into())].into(),
            in_force: Some(VmInForce {
                version: "OpenJDK 17".into(),
                home: Some("/usr/lib/jvm/17".into()),
                mode: Some("mixed mode".into()),
                collectors: vec!["G1 young collection pauses".into()],
                heap_max_bytes: Some(1 << 30),
                options: Some("-Xmx1g".into()),
            }),
        };
        full.platform.environment = [("GOGC".into(), "off".into())].into();
        full.platform.io = Some("epoll".into());
        full.platform.runtime = Some(runtime.clone());
        full.crowd.runtime = Some(runtime);
        full.environment.scheduler = Some(SchedulerInForce {
            name: "o1".into(),
            program_sha256: Some("ab12".into()),
            lost: None,
            counts: [("ticks".into(), 7)].into(),
        });
        full.observations = vec![Observation {
            instrument: InstrumentName::Usage,
            support: Support::Usable { base: "/proc".into() },
            failure: None,
            share_of_time: None,
            cost: None,
            data: None,
            files: Vec::new(),
        }];
        full
    }

    #[test]
    fn every_condition_of_a_record_has_a_name() {
        let without: Vec<String> =
            conditions(&full()).into_keys().map(|one| one.name()).filter(|name| name.contains('.')).collect();
        assert!(without.is_empty(), "NAMES or FREE lacks {without:?}");
    }

    #[test]
    fn results_are_no_conditions() {
        let one = full();
        let mut other = Record { number: 2, started_at: "2027".into(), ..full() };
        other.score.messages_per_s = 5.0;
        other.platform.address = "127.0.0.1:99".into();
        other.environment.load_1min = Some(3.0);
        other.environment.scheduler.as_mut().unwrap().counts.clear();
        assert_eq!(conditions(&one), conditions(&other));
    }

    #[test]
    fn an_unknown_field_is_a_condition_named_by_its_path() {
        let mut value = serde_json::to_value(record(1, 1, 1.0)).unwrap();
        value["environment"]["microcode"] = "0xa0".into();
        value["shards"] = serde_json::json!([{ "environment": { "kernel": "6.1", "load_1min": 1 } }]);
        let found = conditions_in(&value);
        let last: Vec<(String, &String)> =
            found.iter().rev().take(3).map(|(one, value)| (one.name(), value)).collect();
        assert_eq!(last[0], ("kernels on the hosts of the crowd".to_owned(), &"6.1".to_owned()));
        assert_eq!(last[1], ("values of the machine's smt".to_owned(), &"on".to_owned()));
        assert_eq!(last[2], ("values of environment.microcode".to_owned(), &"0xa0".to_owned()));
        assert!(!paths(&found).iter().any(|path| path.contains("load_1min")));
    }

    #[test]
    fn ports_and_temporary_folders_do_not_count() {
        let with = |port: u16, folder: &str| {
            let mut record = record(1, 1, 1.0);
            record.platform.address = format!("127.0.0.1:{port}");
            record.platform.command = Some(vec![
                format!("[::1]:{port}"),
                format!("--port={port}"),
                "16384".to_owned(),
                format!("-XX:Log=/tmp/klatch-{folder}/a,b"),
                "/cache/klatch-0123456789abcdef.jar".to_owned(),
                format!("--database=//127.0.0.1:{}/x", port / 2),
            ]);
            conditions(&record)
        };
        assert_eq!(with(1638, "a1B2c3"), with(40_001, "XXXXXX"));
        let command = &with(1638, "a1B2c3")[&Condition::at("platform.command")];
        assert_eq!(
            command,
            "[::1]:PORT --port=PORT 16384 -XX:Log=/tmp/klatch-*/a,b /cache/klatch-0123456789abcdef.jar --database=//127.0.0.1:PORT/x"
        );
    }

    #[test]
    fn variables_of_a_platform_count_without_its_port() {
        let with = |port: u16, memory: &str| {
            let mut record = record(1, 1, 1.0);
            record.platform.address = format!("127.0.0.1:{port}");
            record.platform.environment = [
                ("GOMEMLIMIT".to_owned(), memory.to_owned()),
                ("LISTEN".to_owned(), format!("0.0.0.0:{port}")),
            ]
            .into();
            conditions(&record)
        };
        assert_eq!(with(1638, "1GiB"), with(40_001, "1GiB"));
        assert_ne!(with(1638, "1GiB"), with(1638, "2GiB"));
    }

    #[test]
    fn a_seed_counts_where_something_is_drawn() {
        let with = |seed, workload: &Workload| {
            let mut record = Record { workload: workload.clone(), ..record(1, 1, 1.0) };
            record.options.as_mut().unwrap().seed = seed;
            conditions(&record)
        };
        let turns = record(1, 1, 1.0).workload;
        assert_eq!(with(1, &turns), with(2, &turns));
        assert_ne!(with(1, &turns.with_rate(5.0)), with(2, &turns.with_rate(5.0)));
    }
}
