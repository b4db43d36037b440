//! Warns if the crowd and not the server limited the score.

use klatch_record::{CrowdProgram, Record, Warning, WarningKind};

use super::warning;

/// A crowd is saturated above this share of the CPUs it could use.
const CROWD_BUSY: f64 = 0.9;
/// A server is not saturated below this share of the CPUs it could use.
const SERVER_IDLE: f64 = 0.8;

/// Warns if the crowd's CPUs were saturated and the server's were not.
///
/// The number of CPUs that a server can use is only bounded: by its threads, and by what the crowd leaves. A server with one
/// busy loop and idle threads therefore gets a false warning, which is why this is no verdict.
pub(super) fn guard(record: &Record) -> Option<Warning> {
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    let elapsed_s = record.score.elapsed_s;
    // The CPUs of a shard on another machine are not those of this record.
    let remote = record.shards.iter().any(|shard| shard.environment.is_some());
    if elapsed_s <= 0.0 || remote {
        return None;
    }
    let cpus = record.environment.usable_cpus();
    let (server_cpus, crowd_cpus) = (server.cpu_s / elapsed_s, crowd.cpu_s / elapsed_s);
    let crowd_could = loops(record).unwrap_or(cpus).min(cpus);
    let server_could = (server.threads as f64).min(cpus - crowd_cpus).max(0.0);
    if crowd_cpus < CROWD_BUSY * crowd_could || server_cpus > SERVER_IDLE * server_could {
        return None;
    }
    let message = format!(
        "the crowd used {crowd_cpus:.2} of the {crowd_could:.0} CPUs it could, the server {server_cpus:.2}: the crowd may limit the score"
    );
    let advice =
        "raise the number of shards or of the crowd's loops, or compare the server's CPU µs per message";
    Some(warning(WarningKind::CrowdLimit, message, advice))
}

/// Event loops of all native crowd processes.
fn loops(record: &Record) -> Option<f64> {
    let loops: Option<u32> = record.shards.iter().map(|shard| shard.loops).sum();
    loops.filter(|_| record.crowd.kind == CrowdProgram::Native).map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::{record, shard, usage};

    fn guarded(server_s: f64, crowd_s: f64) -> Option<Warning> {
        let mut record = record(1, 1, 100_000.0);
        record.environment.cpus = 4;
        record.shards = vec![shard()];
        record.usage.server = Some(usage(server_s));
        record.usage.crowd = Some(usage(crowd_s));
        guard(&record)
    }

    #[test]
    fn a_saturated_crowd_and_an_idle_server_give_a_warning() {
        // The run takes 4 s, and the server has one thread.
        let message = guarded(2.0, 3.9).unwrap().message;
        assert!(
            message.starts_with("the crowd used 0.97 of the 1 CPUs it could, the server 0.50"),
            "{message}"
        );
    }

    #[test]
    fn a_saturated_server_or_an_idle_crowd_gives_no_warning() {
        assert_eq!(guarded(3.9, 3.9), None);
        assert_eq!(guarded(2.0, 2.0), None);
    }
}
