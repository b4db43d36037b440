//! How many users fit into this machine's limits, and the limits of its network.

use klatch_host::machine::limits::{local_ports, sysctl, tcp_memory_pages};
use klatch_platforms::{CapacityError, PlatformError, PlatformRequest, Side, check_capacity, resolve};
use klatch_record::{CONNECTIONS_PER_SOURCE, Workload};

use super::finding::Finding;

const TOPIC: &str = "Size";
/// The server whose need is checked; others need more.
const SERVER: &str = "native-epoll";
/// Numbers of users in one server process and one crowd process. The first is the default of `klatch run`.
const USERS: [u64; 4] = [200, 2_000, 20_000, 200_000];
/// Limits of a process bind less where there are several.
const SPLIT: &str = "or several processes: --servers N --shards N";
/// Connections that wait to be accepted: joining crowds open up to this number at a time.
const BACKLOG_MIN: u64 = 4_096;

pub(super) fn findings() -> Result<Vec<Finding>, PlatformError> {
    let request = PlatformRequest { name: Some(SERVER.to_owned()), ..PlatformRequest::default() };
    let server = resolve(&request, &Workload::default())?;
    let fits = |users: u64| {
        let sides = [server.side(1, users), Side::for_native_crowd(1, users)];
        let name = format!("{users} users");
        match check_capacity(&sides, users.min(CONNECTIONS_PER_SOURCE.into())) {
            Ok(()) => Finding::works(TOPIC, name, format!("{SERVER} and its crowd fit")),
            Err(error) => too_many(name, error),
        }
    };
    Ok(USERS.into_iter().map(fits).chain(network()).collect())
}

/// Both sides meet most limits, which are named once.
fn too_many(name: String, CapacityError(mut shortages): CapacityError) -> Finding {
    shortages.dedup_by(|one, other| one.raise == other.raise);
    let states: Vec<String> = shortages.iter().map(|shortage| shortage.state.clone()).collect();
    let raise: Vec<String> = shortages.into_iter().map(|shortage| shortage.raise).collect();
    Finding::gap(TOPIC, name, states.join("; "), format!("{}; {SPLIT}", raise.join("; ")))
}

fn network() -> Vec<Finding> {
    let ports = local_ports().map(|(first, last)| {
        let state = format!("{} for each pair of addresses", last.saturating_sub(first) + 1);
        Finding::works(TOPIC, "local ports", state)
    });
    let backlog = sysctl("net.core.somaxconn").map(|backlog| {
        let state = format!("{backlog} connections wait to be accepted at most");
        if backlog < BACKLOG_MIN {
            let remedy = format!("sysctl -w net.core.somaxconn={BACKLOG_MIN}");
            Finding::gap(TOPIC, "net.core.somaxconn", state, remedy)
        } else {
            Finding::works(TOPIC, "net.core.somaxconn", state)
        }
    });
    // Where connections are tracked, those over loopback are too.
    let tracked = sysctl("net.netfilter.nf_conntrack_max").map(|most| {
        let state = format!("{most} connections are tracked at most");
        Finding::works(TOPIC, "nf_conntrack_max", state)
    });
    // Only bytes that wait need it, a page of each socket at least, so it limits no number of connections.
    let buffers = tcp_memory_pages().map(|pages| {
        Finding::works(TOPIC, "net.ipv4.tcp_mem", format!("{pages} pages for the bytes that wait in sockets"))
    });
    [ports, backlog, tracked, buffers].into_iter().flatten().collect()
}
