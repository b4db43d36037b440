//! What it cost to connect the crowds of a run.

use klatch_host::machine::Snapshot;
use klatch_record::Joining;

/// Use of servers and crowds until the gate opens; `None` for a side that could not be measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoiningCost {
    server_cpu_s: Option<f64>,
    server_memory_bytes: Option<f64>,
    crowd_cpu_s: Option<f64>,
}

impl JoiningCost {
    /// The cost between two snapshots of the servers, and in the whole life of the crowds.
    pub(crate) fn new(
        before: &[Option<Snapshot>],
        after: &[Option<Snapshot>],
        crowds: &[Option<Snapshot>],
    ) -> JoiningCost {
        let growth = |of: fn(&Snapshot) -> Option<f64>| -> Option<f64> {
            let spans = before.iter().zip(after);
            let each = spans.map(|(before, after)| Some(of(after.as_ref()?)? - of(before.as_ref()?)?));
            (!before.is_empty()).then(|| each.sum()).flatten()
        };
        JoiningCost {
            server_cpu_s: growth(|snapshot| Some(snapshot.cpu_s())),
            server_memory_bytes: growth(|snapshot| Some(snapshot.memory_bytes()? as f64)),
            crowd_cpu_s: crowds.iter().map(|crowd| crowd.as_ref().map(Snapshot::cpu_s)).sum(),
        }
    }

    /// The cost for each of `connections`, which joined within `join_s`.
    pub(crate) fn per_connection(self, connections: u64, join_s: f64) -> Joining {
        let each = |sum: f64| sum / connections.max(1) as f64;
        Joining {
            connections,
            connections_per_s: if join_s > 0.0 { connections as f64 / join_s } else { 0.0 },
            server_cpu_us_per_connection: self.server_cpu_s.map(|s| each(s * 1e6)),
            crowd_cpu_us_per_connection: self.crowd_cpu_s.map(|s| each(s * 1e6)),
            server_memory_bytes_per_connection: self.server_memory_bytes.map(each),
        }
    }
}
