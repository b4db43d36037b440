//! The crowd was the limit.

use klatch_record::{Record, Warning, WarningKind};

use super::warning;

/// Part of its CPUs above which a crowd is called saturated.
const CROWD_BUSY: f64 = 0.9;
/// Part of the CPUs it could have had below which a server is called not saturated.
const SERVER_IDLE: f64 = 0.8;

/// Its CPUs were saturated while the server's were not.
///
/// How many CPUs a server can use is not known: no more than it has threads, nor than the crowd leaves. So a server of
/// one busy loop beside idle threads is warned of where there are CPUs to spare; it is a warning and no verdict.
pub(super) fn guard(record: &Record) -> Option<Warning> {
    let (server, crowd) = (record.usage.server.as_ref()?, record.usage.crowd.as_ref()?);
    let elapsed_s = record.score.elapsed_s;
    // What a shard on another machine could have had does not follow from this one's CPUs.
    let elsewhere = record.shards.iter().any(|shard| shard.environment.is_some());
    if elapsed_s <= 0.0 || elsewhere {
        return None;
    }
    let cpus = f64::from(record.environment.cpus);
    let (server_cpus, crowd_cpus) = (server.cpu_s / elapsed_s, crowd.cpu_s / elapsed_s);
    let crowd_could = loops(record).unwrap_or(cpus).min(cpus);
    let server_could = (server.threads as f64).min(cpus - crowd_cpus).max(0.0);
    if crowd_cpus < CROWD_BUSY * crowd_could || server_cpus > SERVER_IDLE * server_could {
        return None;
    }
    let message = format!(
        "the crowd used {crowd_cpus:.2} of the {crowd_could:.0} CPUs it could, the server {server_cpus:.2}: the score may be the crowd's"
    );
    let advice = "raise --shards or --crowd-loops, or compare the server's CPU µs per message";
    Some(warning(WarningKind::CrowdLimit, message, advice))
}

/// Event loops of a native crowd, from its command line; each shard has as many.
fn loops(record: &Record) -> Option<f64> {
    let words = &record.crowd.command;
    let place = words.iter().position(|word| word == "--loops")?;
    let loops: f64 = words.get(place + 1)?.parse().ok()?;
    Some(loops * record.shards.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::{record, usage};

    fn used(server_s: f64, crowd_s: f64) -> Option<Warning> {
        let mut record = record(1, 1, 100_000.0);
        record.environment.cpus = 4;
        record.crowd.command = ["klatch", "crowd", "--loops", "1"].map(str::to_owned).into();
        record.usage.server = Some(usage(server_s));
        record.usage.crowd = Some(usage(crowd_s));
        guard(&record)
    }

    #[test]
    fn a_saturated_crowd_before_an_idle_server_is_told() {
        // The run takes 4 s, and the server has one thread.
        let told = used(2.0, 3.9).unwrap().message;
        assert!(told.starts_with("the crowd used 0.97 of the 1 CPUs it could, the server 0.50"), "{told}");
    }

    #[test]
    fn a_saturated_server_or_an_idle_crowd_is_not() {
        assert_eq!(used(3.9, 3.9), None);
        assert_eq!(used(2.0, 2.0), None);
    }
}
