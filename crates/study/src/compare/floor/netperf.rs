//! Netperf's request/response test, if it is installed: it has a server of its own, and a process at each end of each connection.

use std::net::IpAddr;
use std::time::Instant;

use klatch_platforms::{
    Launch, PlatformError, Process, Processes, ResolvedKnobs, free_port, installed_program,
    wait_until_accepting,
};
use klatch_record::{ExchangeCost, Workload};
use klatch_runner::{Plan, PlatformPlan, RunError};

use super::Sample;
use super::clients::{deadline_after, launch_of_crowd, requests_of, sample};

/// The platform after whose runs it is measured, so that it is once in each block.
const BESIDE: &str = "native-epoll";
const CLIENT: &str = "netperf";
const SERVER: &str = "netserver";

/// One run with the connections, size and duration of this plan. `None` if the plan has another platform or workload or several requests
/// in flight, netperf is not installed, or a client did not report its rate.
///
/// # Errors
/// Its server or a client cannot be started.
pub(super) fn run_beside(
    plan: &Plan,
    processes: &Processes,
    exchange: &ExchangeCost,
) -> Result<Option<Sample>, RunError> {
    let (Workload::Rr(rr), Some(own)) = (&plan.workload, plan.subject.platform()) else { return Ok(None) };
    let is_here = [CLIENT, SERVER].iter().all(|program| installed_program(program).is_some());
    if own.request.name.as_deref() != Some(BESIDE) || rr.depth > 1 || !is_here {
        return Ok(None);
    }
    let knobs = ResolvedKnobs::for_native_crowd(&own.request.settings).map_err(PlatformError::from)?;
    let mut servers = Vec::new();
    for _ in 0..rr.connections {
        let Some(server) = start_server(own, processes, &knobs.launch)? else { return Ok(None) };
        servers.push(server);
    }
    // netperf takes whole seconds.
    let seconds = rr.duration_s.ceil();
    let launch = launch_of_crowd(plan)?;
    let pids: Vec<u32> = servers.iter().map(|(server, _)| server.pid()).collect();
    sample(CLIENT.to_owned(), &pids, plan, exchange, || {
        let ports = servers.iter().map(|(_, port)| *port);
        let clients: Result<Vec<Process>, _> = ports
            .map(|port| processes.start(&client(own.listen, port, seconds, rr.size_bytes), &launch))
            .collect();
        let deadline = deadline_after(seconds);
        Ok(clients?.into_iter().map(|client| requests_of(client, deadline, transactions)).sum())
    })
}

/// Starts a server for one connection, on a port of its own: the CPU time of a server's children would be lost when they end. `None` if it
/// does not accept connections.
fn start_server(
    own: &PlatformPlan,
    processes: &Processes,
    launch: &Launch,
) -> Result<Option<(Process, u16)>, RunError> {
    let port = free_port(own.listen).map_err(RunError::LoopbackProbe)?;
    let (host, port_text) = (own.listen.to_string(), port.to_string());
    let command = [SERVER, "-D", "-f", "-L", &host, "-p", &port_text].map(str::to_owned);
    let server = processes.start(&command, launch)?;
    let deadline = Instant::now() + own.ready_timeout;
    let accepts = wait_until_accepting(&server, (own.listen, port).into(), deadline);
    Ok(accepts.then_some((server, port)))
}

fn client(listen: IpAddr, port: u16, seconds: f64, size_bytes: u32) -> Vec<String> {
    let (host, port, seconds) = (listen.to_string(), port.to_string(), seconds.to_string());
    let sizes = format!("{size_bytes},{size_bytes}");
    [CLIENT, "-H", &host, "-p", &port, "-t", "TCP_RR", "-P", "0", "-l", &seconds, "--", "-r", &sizes]
        .map(str::to_owned)
        .into()
}

/// From `16384  131072 4        4       2.00     18052.11`: the last two numbers are the elapsed seconds and the transactions in one.
fn transactions(line: &str) -> Option<f64> {
    let numbers: Vec<f64> = line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let [_, _, _, _, elapsed_s, per_s] = numbers[..] else { return None };
    Some(elapsed_s * per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_those_of_the_line_with_six_numbers() {
        assert_eq!(transactions("16384  131072 4        4       2.00     18052.50   "), Some(36_105.0));
        assert_eq!(transactions("16384  131072"), None);
        assert_eq!(transactions("establish control: are you sure there is a netserver listening?"), None);
    }
}
