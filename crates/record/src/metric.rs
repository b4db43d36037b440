//! The metrics of Klatch. Each is declared once: its name, title, unit and direction, which workloads and which kinds of result have it, and
//! how it is read from them. Estimates, comparisons, duets, gates, requirements, charts and the reference are made of this list.

use crate::{Joining, Latency, Operations, Record, Slice, Usage, UsageOfBoth, WorkloadKind, similar_to};

/// A number that describes a run, and how it is read, compared and named.
#[derive(Debug)]
pub struct Metric {
    /// Its name, with the unit last.
    pub name: &'static str,
    /// Other names that a requirement may use. Several metrics may share one, such as the throughput of messages and of operations.
    pub aliases: &'static [&'static str],
    /// Its title in tables, charts and sentences. The word `message` or `operation` stands for one unit of work.
    pub title: &'static str,
    /// What it is an amount of.
    pub quantity: Quantity,
    /// Which values are better.
    pub better: Better,
    /// The workloads whose results have it, if it was observed.
    pub workloads: WorkloadsOfMetric,
    /// Its definition, without a full stop.
    pub help: &'static str,
    /// Reads it from a record; the function returns `None` if the run did not observe it. `None` if records do not have it.
    pub value: Option<fn(&Record) -> Option<f64>>,
    /// Reads it from a slice of a duet. `None` if slices do not have it.
    pub slice: Option<fn(&Slice) -> Option<f64>>,
    /// Whether `klatch compare` has a row for it.
    pub is_compared: bool,
    /// Whether simulated studies have it.
    pub is_simulated: bool,
    /// The section of a report that charts it over the cells of a study, beside those of the score.
    pub charts: Option<MetricCharts>,
    /// Whether it has an interval over trials or starts. Otherwise it is the sum over all trials.
    pub has_interval: bool,
}

/// A metric is its name.
impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.name == other.name
    }
}

/// What a metric is an amount of. The unit, the format and the words of comparisons follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Units of work per second.
    Rate,
    /// CPU time, µs.
    CpuTime,
    /// Latency that a user sees, µs.
    Latency,
    /// Time in a queue of the kernel, µs.
    QueueTime,
    /// A duration, s.
    Seconds,
    /// Memory, bytes.
    Bytes,
    /// A share of a whole, 0 to 1.
    Share,
    /// A number of something, or a ratio of two numbers.
    Number,
}

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    More,
    /// Less is better.
    Less,
    /// Neither: the metric explains others.
    Neither,
}

impl Better {
    /// Its words in tables.
    pub fn name(self) -> &'static str {
        match self {
            Better::More => "more",
            Better::Less => "less",
            Better::Neither => "neither",
        }
    }
}

/// The sections of a report that chart metrics over the cells of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricCharts {
    /// Resources that a run used.
    Resources,
    /// The time from a wake-up until a CPU has chosen the task.
    RunQueueLatency,
    /// Queues, locks and migrations.
    RunQueue,
}

/// The workloads whose results have a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadsOfMetric {
    /// All.
    All,
    /// Those with a server: all but `files`.
    WithServer,
    /// Those in which each request has a reply: all but `chat`.
    WithOperations,
    /// One.
    Only(WorkloadKind),
}

impl WorkloadsOfMetric {
    /// Whether this kind of workload is one of them.
    pub fn contains(self, kind: WorkloadKind) -> bool {
        match self {
            WorkloadsOfMetric::All => true,
            WorkloadsOfMetric::WithServer => kind.has_server(),
            WorkloadsOfMetric::WithOperations => kind != WorkloadKind::Chat,
            WorkloadsOfMetric::Only(only) => kind == only,
        }
    }
}

/// Name of the throughput of chat.
pub const MESSAGES_PER_S: &str = "messages_per_s";
/// Name of the CPU time of server and crowd per message.
pub const CPU_PER_MESSAGE: &str = "cpu_us_per_message";
/// Name of the CPU time of the server per message, which decides duets: it scatters least on a shared machine.
pub const SERVER_CPU: &str = "server_cpu_us_per_message";
/// Name of the 99th percentile of the latency.
pub const LATENCY_P99: &str = "latency_p99_us";
/// Name of the number of errors of a run.
pub const ERRORS: &str = "errors";
const OPERATIONS_PER_S: &str = "operations_per_s";
const CPU_PER_OPERATION: &str = "cpu_us_per_operation";

use Better::{Less, More, Neither};
use MetricCharts::{Resources, RunQueue, RunQueueLatency};
use Quantity::{Bytes, CpuTime, Number, QueueTime, Rate, Seconds, Share};
use WorkloadsOfMetric::{Only, WithOperations, WithServer};

/// All metrics, in the order of tables.
pub static METRICS: &[Metric] = &[
    metric(MESSAGES_PER_S, "throughput", Rate, More, "Messages sent and deliveries received per second")
        .read(|record| Some(record.score.messages_per_s))
        .sliced(|slice| Some(messages(slice)? / slice.elapsed_s))
        .compared()
        .simulated()
        .alias(&["throughput"]),
    metric(OPERATIONS_PER_S, "throughput", Rate, More, "Verified operations per second, those in the window where a workload has one")
        .of(WithOperations)
        .read(|record| operations(record, |operations| Some(operations.per_s)))
        .alias(&["throughput"]),
    metric("conforming_lines", "conforming lines", Number, More, "Lines that received what their speed allows")
        .of(Only(WorkloadKind::Web))
        .read(|record| record.results.conforming().map(|conforming| conforming.lines as f64)),
    metric("transactions_per_s", "TOPS", Rate, More, "Total operations per second of the steady state, TOPS, the score of `orders`")
        .of(Only(WorkloadKind::Orders))
        .read(|record| record.results.orders()?.tops)
        .alias(&["tops"]),
    metric(CPU_PER_MESSAGE, "CPU per message", CpuTime, Less, "CPU time of server, crowd and database per message")
        .read(|record| record.score.cpu_us_per_message)
        .sliced(|slice| Some((slice.server_cpu_s? + slice.crowd_cpu_s?) * 1e6 / messages(slice)?))
        .compared()
        .alias(&["cpu_us"]),
    metric(CPU_PER_OPERATION, "CPU per operation", CpuTime, Less, "CPU time of server, crowd and database per operation")
        .of(WithOperations)
        .read(|record| operations(record, |operations| operations.cpu_us_per_operation))
        .alias(&["cpu_us"]),
    metric(SERVER_CPU, "server CPU per message", CpuTime, Less, "CPU time of the server per message")
        .read(|record| server(record, |usage| usage.cpu_us_per_message))
        .charted(Resources)
        .sliced(|slice| Some(slice.server_cpu_s? * 1e6 / messages(slice)?))
        .compared()
        .alias(&["server_cpu_us"]),
    metric("server_cpu_us_per_operation", "server CPU per operation", CpuTime, Less, "CPU time of the server per operation")
        .of(WithOperations)
        .read(|record| {
            let server = record.usage.server.as_ref()?;
            operations(record, |operations| {
                (operations.count > 0).then(|| server.cpu_s * 1e6 / operations.count as f64)
            })
        })
        .alias(&["server_cpu_us"]),
    metric(
        "server_cpu_per_crowd_cpu",
        "server CPU per crowd CPU",
        Number,
        Less,
        "CPU time of the server per CPU time of the crowd. Effects on the speed of both drop out, such as a busy sibling hyperthread",
    )
    .of(WithServer)
    .read(|record| {
        let UsageOfBoth { server, crowd, .. } = &record.usage;
        let (server, crowd) = (server.as_ref()?, crowd.as_ref()?);
        (crowd.cpu_s > 0.0).then(|| server.cpu_s / crowd.cpu_s)
    })
    .sliced(|slice| Some(slice.server_cpu_s? / slice.crowd_cpu_s?))
    .compared(),
    metric("server_system_us_per_message", "server system CPU per message", CpuTime, Less, "CPU time of the server in the kernel per message")
        .read(|record| server(record, |usage| usage.system_us_per_message)),
    metric("crowd_cpu_us_per_message", "crowd CPU per message", CpuTime, Less, "CPU time of the crowd per message")
        .of(WithServer)
        .read(|record| Some(record.usage.crowd.as_ref()?.cpu_us_per_message)),
    metric("latency_p50_us", "median latency", Quantity::Latency, Less, "Median of the latency of deliveries, replies or reads")
        .read(|record| latency(record, |latency| latency.p50_us))
        .sliced(|slice| slice.latency_p50_us)
        .compared()
        .alias(&["p50"]),
    metric("latency_p90_us", "p90 latency", Quantity::Latency, Less, "90th percentile of the latency")
        .read(|record| latency(record, |latency| latency.p90_us))
        .alias(&["p90"]),
    metric(LATENCY_P99, "p99 latency", Quantity::Latency, Less, "99th percentile of the latency")
        .read(|record| latency(record, |latency| latency.p99_us))
        .sliced(|slice| slice.latency_p99_us)
        .compared()
        .alias(&["p99"]),
    metric("latency_p999_us", "p99.9 latency", Quantity::Latency, Less, "99.9th percentile of the latency")
        .read(|record| latency(record, |latency| latency.p999_us))
        .compared()
        .alias(&["p99.9", "p999"]),
    metric("latency_max_us", "longest latency", Quantity::Latency, Less, "Longest latency of a run")
        .read(|record| latency(record, |latency| latency.max_us))
        .alias(&["max"]),
    metric("switches_per_message", "context switches per message", Number, Less, "Context switches of server and crowd per message")
        .read(|record| record.score.switches_per_message)
        .charted(Resources),
    metric(
        "server_switches_per_message",
        "context switches of the server per message",
        Number,
        Less,
        "Context switches of the server per message",
    )
    .read(|record| record.usage.server.as_ref()?.switches_per_message),
    metric("server_memory_peak_bytes", "peak memory of the server", Bytes, Less, "Most memory that the server had at a time")
        .read(|record| Some(record.usage.server.as_ref()?.memory_peak_bytes? as f64))
        .charted(Resources),
    metric("cores_obtained", "CPUs obtained", Number, Neither, "CPUs that server and crowd together had on average")
        .read(|record| record.score.cores_obtained),
    metric("join_s", "time until all had joined", Seconds, Less, "From the first connect to the last join")
        .read(|record| Some(record.score.join_s))
        .charted(Resources),
    metric(
        "server_cpu_us_per_connection",
        "server CPU per connection",
        CpuTime,
        Less,
        "CPU time of the server while the crowd connects, per connection",
    )
    .of(WithServer)
    .read(|record| joining(record, |joining| joining.server_cpu_us_per_connection)),
    metric(
        "crowd_cpu_us_per_connection",
        "crowd CPU per connection",
        CpuTime,
        Less,
        "CPU time of the crowd while it connects, per connection",
    )
    .of(WithServer)
    .read(|record| joining(record, |joining| joining.crowd_cpu_us_per_connection)),
    metric(
        "server_memory_bytes_per_connection",
        "server memory per connection",
        Bytes,
        Less,
        "Memory that the server has more after the crowd has connected, per connection",
    )
    .of(WithServer)
    .read(|record| joining(record, |joining| joining.server_memory_bytes_per_connection)),
    metric(
        ERRORS,
        "errors",
        Number,
        Less,
        "Messages, deliveries and replies that were lost, not sent, repeated, reordered, changed, unexpected or wrong, of all trials",
    )
    .read(|record| Some(record.checks.errors() as f64))
    .summed(),
    metric("run_queue_latency_p50_us", "median run-queue latency", QueueTime, Less, "Median of the time from a wake-up until a CPU has chosen the task")
        .simulated().charted(RunQueueLatency),
    metric("run_queue_latency_p90_us", "p90 run-queue latency", QueueTime, Less, "90th percentile of the run-queue latency").simulated(),
    metric("run_queue_latency_p99_us", "p99 run-queue latency", QueueTime, Less, "99th percentile of the run-queue latency").simulated().charted(RunQueueLatency),
    metric("run_queue_latency_p999_us", "p99.9 run-queue latency", QueueTime, Less, "99.9th percentile of the run-queue latency")
        .simulated().charted(RunQueueLatency),
    metric("run_queue_length", "length of the run queue", Number, Neither, "Mean length of the run queue at a decision, tasks").simulated().charted(RunQueue),
    metric("idle_share", "idle share", Share, Neither, "Share of CPU time in which CPUs were idle").simulated(),
    metric("spin_share", "spinning share", Share, Less, "Share of CPU time spent waiting for locks").simulated(),
    metric("kernel_share", "kernel share", Share, Less, "Share of CPU time spent in the kernel").simulated(),
    metric("decisions_per_message", "scheduling decisions per message", Number, Less, "Decisions of the scheduler per message").simulated(),
    metric("yields_per_message", "yields per message", Number, Neither, "Calls of `sched_yield` per message").simulated(),
    metric("wakeups_per_message", "wake-ups per message", Number, Less, "Wake-ups of tasks per message").simulated(),
    metric("elements_per_decision", "queue elements per decision", Number, Less, "Elements of a queue that a decision reads").simulated().charted(RunQueue),
    metric(
        "lock_contended_share",
        "contended share of lock acquisitions",
        Share,
        Less,
        "Share of the acquisitions of locks that waited",
    )
    .simulated().charted(RunQueue),
    metric("migrations_per_message", "migrations per message", Number, Less, "Changes of a task's CPU per message").simulated().charted(RunQueue),
];

/// A metric that no result has yet.
const fn metric(
    name: &'static str,
    title: &'static str,
    quantity: Quantity,
    better: Better,
    help: &'static str,
) -> Metric {
    Metric {
        name,
        aliases: &[],
        title,
        quantity,
        better,
        workloads: WorkloadsOfMetric::All,
        help,
        value: None,
        slice: None,
        is_compared: false,
        is_simulated: false,
        charts: None,
        has_interval: true,
    }
}

/// The steps of a declaration.
impl Metric {
    const fn alias(self, aliases: &'static [&'static str]) -> Metric {
        Metric { aliases, ..self }
    }

    const fn of(self, workloads: WorkloadsOfMetric) -> Metric {
        Metric { workloads, ..self }
    }

    const fn read(self, value: fn(&Record) -> Option<f64>) -> Metric {
        Metric { value: Some(value), ..self }
    }

    const fn sliced(self, slice: fn(&Slice) -> Option<f64>) -> Metric {
        Metric { slice: Some(slice), ..self }
    }

    const fn compared(self) -> Metric {
        Metric { is_compared: true, ..self }
    }

    const fn simulated(self) -> Metric {
        Metric { is_simulated: true, ..self }
    }

    const fn charted(self, charts: MetricCharts) -> Metric {
        Metric { charts: Some(charts), ..self }
    }

    const fn summed(self) -> Metric {
        Metric { has_interval: false, ..self }
    }
}

impl Metric {
    /// The metric with this name.
    pub fn named(name: &str) -> Option<&'static Metric> {
        METRICS.iter().find(|metric| metric.name == name)
    }

    /// What to say after the name of a metric that nothing has: the metric of `known` that was probably meant, or all of them.
    pub fn instead_of(got: &str, known: &[&'static Metric]) -> String {
        let names = |metric: &&'static Metric| [&[metric.name], metric.aliases].concat();
        let all: Vec<&str> = known.iter().flat_map(names).collect();
        match similar_to(got, &all) {
            Some(name) => format!("did you mean {name}?"),
            None => {
                // The short name of each; several metrics may share it.
                let mut names: Vec<&str> = Vec::new();
                for metric in known {
                    let name = metric.aliases.first().copied().unwrap_or(metric.name);
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                format!("there are {}", names.join(", "))
            }
        }
    }

    /// Its value in a record; `None` if the run did not observe it.
    pub fn of_record(&self, record: &Record) -> Option<f64> {
        self.value.and_then(|value| value(record))
    }

    /// Its value in a slice of a duet; `None` if the slice does not have it.
    pub fn of_slice(&self, slice: &Slice) -> Option<f64> {
        self.slice.and_then(|value| value(slice))
    }

    /// Throughput and CPU time of server and crowd: per operation if the workload has operations, else per message.
    pub fn of_score(has_operations: bool) -> [&'static Metric; 2] {
        let names = if has_operations {
            [OPERATIONS_PER_S, CPU_PER_OPERATION]
        } else {
            [MESSAGES_PER_S, CPU_PER_MESSAGE]
        };
        names.map(|name| Metric::named(name).expect("the list has the metrics of the score"))
    }

    /// The metric that is this one in the unit of work of a workload: per message of `chat`, per operation of the others.
    #[must_use]
    pub fn in_unit_of(&'static self, kind: WorkloadKind) -> &'static Metric {
        let name = match kind {
            WorkloadKind::Chat => self.name.replace("operation", "message"),
            _ => self.name.replace("message", "operation"),
        };
        Metric::named(&name).filter(|other| other.value.is_some()).unwrap_or(self)
    }

    /// Whether the whole list of trials has an estimate of it, with an interval.
    pub fn is_estimated(&self) -> bool {
        self.value.is_some() && self.has_interval
    }

    /// Its title with this name of one unit of work, such as `request`.
    pub fn title_of(&self, unit_of_work: &str) -> String {
        self.title.replace("message", unit_of_work).replace("operation", unit_of_work)
    }

    /// The unit of its values; empty for numbers and ratios.
    pub fn unit(&self) -> &'static str {
        match self.quantity {
            Quantity::Rate => match self.name {
                OPERATIONS_PER_S => "operations/s",
                MESSAGES_PER_S => "messages/s",
                _ => "1/s",
            },
            Quantity::CpuTime | Quantity::Latency | Quantity::QueueTime => "µs",
            Quantity::Seconds => "s",
            Quantity::Bytes => "bytes",
            Quantity::Share | Quantity::Number => "",
        }
    }
}

/// Messages of a slice; `None` if there was none, and so nothing per message and no ratio.
fn messages(slice: &Slice) -> Option<f64> {
    (slice.messages > 0).then_some(slice.messages as f64)
}

fn operations(record: &Record, value: impl FnOnce(&Operations) -> Option<f64>) -> Option<f64> {
    record.operations.as_ref().and_then(value)
}

fn server(record: &Record, value: fn(&Usage) -> f64) -> Option<f64> {
    record.usage.server.as_ref().map(value)
}

fn joining(record: &Record, value: fn(&Joining) -> Option<f64>) -> Option<f64> {
    record.joining.as_ref().and_then(value)
}

fn latency(record: &Record, value: fn(&Latency) -> f64) -> Option<f64> {
    record.latency.as_ref().map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_source_and_its_unit_last() {
        for metric in METRICS {
            let Metric { name, quantity, .. } = metric;
            assert!(metric.value.is_some() || metric.is_simulated, "{name}: no result has it");
            assert_eq!(
                METRICS.iter().filter(|other| other.name == *name).count(),
                1,
                "{name} is there twice"
            );
            let is_named_for = |unit: &str| name.contains(unit);
            let has_unit = match quantity {
                Quantity::Rate => name.ends_with("_per_s"),
                Quantity::CpuTime => is_named_for("_us_per_"),
                Quantity::Latency | Quantity::QueueTime => name.ends_with("_us"),
                Quantity::Seconds => name.ends_with("_s"),
                Quantity::Bytes => is_named_for("_bytes"),
                Quantity::Share => name.ends_with("_share"),
                Quantity::Number => true,
            };
            assert!(has_unit, "{name}: {quantity:?}");
            assert!(metric.help.len() > 8 && !metric.help.ends_with('.'), "{name}: {}", metric.help);
        }
    }

    #[test]
    fn an_alias_means_one_metric_of_each_unit_of_work() {
        for alias in METRICS.iter().flat_map(|metric| metric.aliases) {
            assert!(Metric::named(alias).is_none(), "{alias} is a name");
            let of: Vec<&Metric> = METRICS.iter().filter(|metric| metric.aliases.contains(alias)).collect();
            let workloads: Vec<_> = of.iter().map(|metric| metric.workloads).collect();
            let all_and_operations = [WorkloadsOfMetric::All, WithOperations];
            assert!(of.len() == 1 || workloads == all_and_operations, "{alias}: {workloads:?}");
        }
    }

    #[test]
    fn the_unit_of_work_follows_the_workload() {
        let name = |name: &str, kind| Metric::named(name).unwrap().in_unit_of(kind).name;
        assert_eq!(name(MESSAGES_PER_S, WorkloadKind::Rr), OPERATIONS_PER_S);
        assert_eq!(name(CPU_PER_OPERATION, WorkloadKind::Chat), CPU_PER_MESSAGE);
        assert_eq!(name("switches_per_message", WorkloadKind::Web), "switches_per_message");
        assert_eq!(Metric::named(SERVER_CPU).unwrap().title_of("request"), "server CPU per request");
    }

    /// The page of the reference.
    fn reference() -> String {
        let mut text = "# Metrics\n\n\
            Each metric is declared once, in `crates/record/src/metric.rs`. Estimates of studies, comparisons, duets, requirements, charts, CSV and JSON\n\
            have the names of these declarations, and so has this page. The unit is the last word of a name: `us` is µs. The other names are for\n\
            [requirements](../guide/ci.md).\n\n\
            Kinds of result: `run` has a value in every record, and studies an estimate with an interval over the trials or starts; `sum` has the sum\n\
            over the trials; `compare` is a row of `klatch compare`; `duet` is read from every slice of a duet; `simulated` is of simulated studies\n\
            alone or of them as well. A run that did not observe a metric has no value.\n\n\
            | metric | what it is | unit | better | workloads | results | other names |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
        for metric in METRICS {
            let workloads = match metric.workloads {
                WorkloadsOfMetric::All => "all",
                WorkloadsOfMetric::WithServer => "all but `files`",
                WorkloadsOfMetric::WithOperations => "all but `chat`",
                WorkloadsOfMetric::Only(kind) => &format!("`{kind}`"),
            };
            let results = [
                ("run", metric.is_estimated()),
                ("sum", metric.value.is_some() && !metric.has_interval),
                ("compare", metric.is_compared),
                ("duet", metric.slice.is_some()),
                ("simulated", metric.is_simulated),
            ];
            let results: Vec<&str> =
                results.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
            let aliases: Vec<String> = metric.aliases.iter().map(|alias| format!("`{alias}`")).collect();
            text += &format!(
                "| `{}` | {} | {} | {} | {workloads} | {} | {} |\n",
                metric.name,
                metric.help,
                metric.unit(),
                metric.better.name(),
                results.join(", "),
                aliases.join(", ")
            );
        }
        text
    }

    #[test]
    fn the_reference_has_the_table_of_the_declarations() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
        klatch_testing::assert_committed(&path, &reference(), "KLATCH_WRITE_REFERENCE");
    }
}
