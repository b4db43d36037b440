//! Load generators of other projects, against a server that Klatch's crowd measures too: `wrk` and `redis-benchmark`.

use std::time::{Duration, Instant};

use klatch_host::machine::{Snapshot, children_cpu_s};
use klatch_platforms::{
    Launch, Line, PlatformError, Process, Processes, ResolvedKnobs, Server, installed_program,
};
use klatch_record::{ExchangeCost, FloorLoad, Workload, WorkloadKind};
use klatch_runner::{Plan, ResolvedSubject, RunError, check_plan};

use super::Sample;

/// Longest time for a client to end after its duration.
const PATIENCE: Duration = Duration::from_secs(30);
/// A file of the mean size, about.
const MEAN_FILE: &str = "/file_set/dir00000/class2_0";

/// A load generator that is known.
struct Client {
    program: &'static str,
    /// The platform that it runs against.
    platform: &'static str,
    workload: WorkloadKind,
    /// Its arguments, given host, port, connections and seconds.
    arguments: fn(&str, u16, u32, f64) -> Vec<String>,
    /// Finds the number of requests in a line of its output.
    requests: fn(&str) -> Option<f64>,
}

const CLIENTS: [Client; 3] = [
    Client {
        program: "wrk",
        platform: "nginx",
        workload: WorkloadKind::Rr,
        arguments: |host, port, connections, seconds| {
            wrk(host, port, connections, seconds, "/echo?payload=abcd")
        },
        requests: wrk_requests,
    },
    Client {
        program: "wrk",
        platform: "nginx",
        workload: WorkloadKind::Web,
        arguments: |host, port, connections, seconds| wrk(host, port, connections, seconds, MEAN_FILE),
        requests: wrk_requests,
    },
    Client {
        program: "redis-benchmark",
        platform: "redis",
        workload: WorkloadKind::Rr,
        arguments: redis_benchmark,
        requests: redis_requests,
    },
];

/// Requests of a call of redis-benchmark, which takes no duration.
const REDIS_REQUESTS: u32 = 400_000;

fn wrk(host: &str, port: u16, connections: u32, seconds: f64, path: &str) -> Vec<String> {
    let seconds = seconds.ceil();
    [
        "-t1".to_owned(),
        format!("-c{connections}"),
        format!("-d{seconds}s"),
        format!("http://{host}:{port}{path}"),
    ]
    .into()
}

/// From `  517587 requests in 4.00s, 615.30MB read`.
fn wrk_requests(line: &str) -> Option<f64> {
    line.split_once(" requests in ")?.0.trim().parse().ok()
}

fn redis_benchmark(host: &str, port: u16, connections: u32, _: f64) -> Vec<String> {
    let (port, connections, requests) =
        (port.to_string(), connections.to_string(), REDIS_REQUESTS.to_string());
    ["-h", host, "-p", &port, "-c", &connections, "-n", &requests, "-q", "ECHO", "abcd"]
        .map(str::to_owned)
        .into()
}

/// From `ECHO abcd: 120000.00 requests per second, p50=0.2 msec`: the number is that of the call.
fn redis_requests(line: &str) -> Option<f64> {
    line.contains("requests per second").then_some(f64::from(REDIS_REQUESTS))
}

/// Runs the clients that belong to the platform and the workload of this plan and are installed. Server and client are on the CPUs
/// that the plan gives to server and crowd.
///
/// # Errors
/// The server or a client cannot be started.
pub(super) fn run_beside(
    plan: &Plan,
    processes: &Processes,
    exchange: &ExchangeCost,
) -> Result<Vec<Sample>, RunError> {
    let mut samples = Vec::new();
    let Some(own) = plan.subject.platform() else { return Ok(samples) };
    for client in &CLIENTS {
        let belongs =
            client.workload == plan.workload.kind() && own.request.name.as_deref() == Some(client.platform);
        if belongs && installed_program(client.program).is_some() {
            samples.extend(run(client, plan, processes, exchange)?);
        }
    }
    Ok(samples)
}

/// One run; `None` if the client did not report its requests or its CPU time is unknown.
fn run(
    client: &Client,
    plan: &Plan,
    processes: &Processes,
    exchange: &ExchangeCost,
) -> Result<Option<Sample>, RunError> {
    let checked = check_plan(plan)?;
    let ResolvedSubject::Platform(own, platform) = checked.subject() else { return Ok(None) };
    let server = Server::start(platform, own.listen, processes, own.ready_timeout)?;
    let (connections, seconds) = match &plan.workload {
        Workload::Rr(rr) => (rr.connections, rr.duration_s),
        Workload::Web(web) => (web.lines, web.duration_s),
        _ => return Ok(None),
    };
    let (host, port) = (server.address.ip().to_string(), server.address.port());
    let mut command = vec![client.program.to_owned()];
    command.extend((client.arguments)(&host, port, connections, seconds));
    let launch = launch_of_crowd(plan)?;
    let name = format!("{} under {}", platform.name, client.program);
    sample(name, &[server.pid], plan, exchange, || {
        let process = processes.start(&command, &launch)?;
        Ok(requests_of(process, deadline_after(seconds), client.requests))
    })
}

/// The latest end of a client that begins now.
pub(super) fn deadline_after(seconds: f64) -> Instant {
    Instant::now() + Duration::from_secs_f64(seconds) + PATIENCE
}

/// Waits for the end of a client, and returns the first number of requests in its output.
pub(super) fn requests_of(
    mut client: Process,
    deadline: Instant,
    requests_in: fn(&str) -> Option<f64>,
) -> Option<f64> {
    let mut requests = None;
    while let Line::Text(line) = client.line(deadline) {
        requests = requests.or(requests_in(&line));
    }
    client.wait_for_exit();
    requests
}

/// How processes in the place of a crowd are started.
pub(super) fn launch_of_crowd(plan: &Plan) -> Result<Launch, RunError> {
    let knobs = ResolvedKnobs::for_native_crowd(&plan.crowd_settings).map_err(PlatformError::from)?;
    Ok(knobs.launch)
}

/// What the processes of a server and its clients used per request. `run` starts clients, waits for their ends, and returns the number of
/// their requests. `None` if they did not report it, or CPU times are unknown.
pub(super) fn sample(
    name: String,
    server: &[u32],
    plan: &Plan,
    exchange: &ExchangeCost,
    run: impl FnOnce() -> Result<Option<f64>, RunError>,
) -> Result<Option<Sample>, RunError> {
    let server_cpu_s =
        || -> Option<f64> { server.iter().map(|&pid| Some(Snapshot::take(pid).ok()?.cpu_s())).sum() };
    let (server_before, clients_before) = (server_cpu_s(), children_cpu_s());
    let requests = run()?;
    let server_s = server_before.zip(server_cpu_s()).map(|(before, after)| after - before);
    // The clients were waited for, and the server still runs, so what was added is the clients'.
    let client_s = clients_before.zip(children_cpu_s()).map(|(before, after)| after - before);
    let (Some(server_s), Some(client_s), Some(requests), Some(load)) =
        (server_s, client_s, requests, FloorLoad::of(&plan.workload))
    else {
        return Ok(None);
    };
    Ok(Some(Sample {
        platform: name,
        class: None,
        peer: true,
        load,
        server_us: server_s * 1e6 / requests,
        crowd_us: client_s * 1e6 / requests,
        floor_us: exchange.per_operation_us(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_requests_is_found_in_what_clients_print() {
        assert_eq!(wrk_requests("  517587 requests in 4.00s, 615.30MB read"), Some(517_587.0));
        assert_eq!(wrk_requests("Requests/sec: 129000.1"), None);
        assert_eq!(redis_requests("ECHO abcd: 120000.00 requests per second, p50=0.2 msec"), Some(400_000.0));
        assert_eq!(redis_requests("ECHO abcd: rps=0.0"), None);
    }
}
