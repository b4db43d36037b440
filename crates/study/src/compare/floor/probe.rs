//! Measures what the machine's own loopback costs for the lines of the benchmark: sends and receives, and nothing else.
//!
//! Two threads hold the ends of as many connections as a run has, one on the server's CPU and one on the crowd's. They
//! send and receive in the order of a pacing: some users of each room send a line, then all receivers get theirs. While
//! one thread works, the other waits. The CPU clock of a thread gives the cost of the calls. It includes cache misses on
//! data from another CPU and TCP acknowledgements, but neither readiness calls nor wake-ups.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Barrier;
use std::thread;

use klatch_record::{ExchangeCost, LoopbackCost};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// The CPUs that `studies/floor.toml` gives to server and crowd.
const SERVER_CPU: usize = 0;
const CROWD_CPU: usize = 1;
const ROOMS: usize = 10;
const USERS: usize = 20;
/// Deliveries in one batch under `rounds`: those of all other users.
const BATCH_LINES: usize = USERS - 1;
/// Length of `PRIVMSG #klatch-1 :`, a text of 60 bytes and CR LF.
const SENT_BYTES: usize = 81;
/// Length of `:r1u10!r1u10@127.0.0.1 PRIVMSG #klatch-1 :` and the same.
const DELIVERED_BYTES: usize = 104;
/// Measured repetitions of all steps. The cheapest repetition counts, as disturbances are no part of the floor.
const CYCLES: usize = 5;
/// Steps before the measured ones. TCP acknowledges the first 16 segments of a connection at once and at the sender's
/// cost, which is negligible in a run.
const STEPS_BEFORE: usize = 20;
/// Steps of a cycle under `rounds`, in each of which every user sends. Under `turns` there is one step per user of a room.
const ROUNDS: usize = 4;
const NULL_CALLS: u32 = 200_000;

/// The connections that send a line, by number, and then those that receive deliveries.
struct Step {
    senders: Vec<usize>,
    receivers: Vec<usize>,
}

/// CPU time per call on one side, µs. The server receives messages and sends deliveries; the crowd does the opposite.
struct Calls {
    message_us: f64,
    delivery_us: f64,
}

/// Measures the loopback, which takes about half a second.
///
/// # Errors
/// One of the two CPUs is not available to this process, or a connection failed.
pub(crate) fn probe() -> io::Result<LoopbackCost> {
    let all = || 0..ROOMS * USERS;
    let one_sender = |user| {
        let (senders, receivers) = all().partition(|place| place % USERS == user);
        Step { senders, receivers }
    };
    let all_send = |_| Step { senders: all().collect(), receivers: all().collect() };
    let turns: Vec<Step> = (0..USERS).map(one_sender).collect();
    let rounds: Vec<Step> = (0..ROUNDS).map(all_send).collect();
    let connections = ROOMS * USERS;
    let (server, crowd) = calls(&turns, connections, SENT_BYTES, DELIVERED_BYTES)?;
    let (batch_server, batch_crowd) = calls(&rounds, connections, SENT_BYTES, BATCH_LINES * DELIVERED_BYTES)?;
    Ok(LoopbackCost {
        null_call_us: null_us(),
        line_send_us: crowd.message_us,
        line_receive_us: server.message_us,
        delivery_send_us: server.delivery_us,
        delivery_receive_us: crowd.delivery_us,
        batch_lines: BATCH_LINES as u32,
        batch_line_send_us: Some(batch_crowd.message_us),
        batch_line_receive_us: Some(batch_server.message_us),
        batch_send_us: batch_server.delivery_us,
        batch_receive_us: batch_crowd.delivery_us,
    })
}

/// Measures requests and replies of these sizes: all connections send a request, and then all get their reply. It takes about as long
/// as [`probe`].
///
/// # Errors
/// One of the two CPUs is not available to this process, or a connection failed.
pub(crate) fn probe_exchange(
    connections: u32,
    request_bytes: u32,
    reply_bytes: u32,
) -> io::Result<ExchangeCost> {
    let count = connections as usize;
    let all_send = |_| Step { senders: (0..count).collect(), receivers: (0..count).collect() };
    let steps: Vec<Step> = (0..ROUNDS).map(all_send).collect();
    let (server, crowd) = calls(&steps, count, request_bytes as usize, reply_bytes as usize)?;
    Ok(ExchangeCost {
        connections,
        request_bytes,
        reply_bytes,
        request_send_us: crowd.message_us,
        request_receive_us: server.message_us,
        reply_send_us: server.delivery_us,
        reply_receive_us: crowd.delivery_us,
    })
}

/// The cost per call of server and crowd, over so many new connections.
fn calls(
    steps: &[Step],
    connections: usize,
    sent_bytes: usize,
    delivered_bytes: usize,
) -> io::Result<(Calls, Calls)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (mut server, mut crowd) = (Vec::new(), Vec::new());
    for _ in 0..connections {
        let one = TcpStream::connect(listener.local_addr()?)?;
        let (other, _) = listener.accept()?;
        one.set_nodelay(true)?;
        other.set_nodelay(true)?;
        crowd.push(one);
        server.push(other);
    }
    let turn = &Barrier::new(2);
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            let (mut message, delivery) = (vec![0; sent_bytes], vec![b'x'; delivered_bytes]);
            let receive = |place: usize| (&server[place]).read_exact(&mut message);
            cheapest(steps, turn, SERVER_CPU, true, receive, |place| (&server[place]).write_all(&delivery))
        });
        let crowd = scope.spawn(|| {
            let (message, mut delivery) = (vec![b'x'; sent_bytes], vec![0; delivered_bytes]);
            let send = |place: usize| (&crowd[place]).write_all(&message);
            cheapest(steps, turn, CROWD_CPU, false, send, |place| (&crowd[place]).read_exact(&mut delivery))
        });
        let died = |_| io::Error::other("a thread of the loopback probe panicked");
        let (server, crowd) = (server.join().map_err(died)?, crowd.join().map_err(died)?);
        Ok((server?, crowd?))
    })
}

/// One side's part of all cycles: `message` for each sender, then `delivery` for each receiver.
fn cheapest(
    steps: &[Step],
    turn: &Barrier,
    cpu: usize,
    is_server: bool,
    mut message: impl FnMut(usize) -> io::Result<()>,
    mut delivery: impl FnMut(usize) -> io::Result<()>,
) -> io::Result<Calls> {
    let (mut messages, mut deliveries) = (0, 0);
    for step in steps {
        messages += step.senders.len();
        deliveries += step.receivers.len();
    }
    // After a failure this thread goes on, because the other one waits for it.
    let mut done = pin(cpu);
    let mut least_ns = (u64::MAX, 0, 0);
    let cycles_before = STEPS_BEFORE.div_ceil(steps.len());
    for cycle in 0..cycles_before + CYCLES {
        let (mut message_ns, mut delivery_ns) = (0, 0);
        for step in steps {
            if is_server {
                turn.wait();
            }
            message_ns += timed_ns(&step.senders, &mut message, &mut done);
            if !is_server {
                turn.wait();
                turn.wait();
            }
            delivery_ns += timed_ns(&step.receivers, &mut delivery, &mut done);
            if is_server {
                turn.wait();
            }
        }
        if cycle >= cycles_before {
            least_ns = least_ns.min((message_ns + delivery_ns, message_ns, delivery_ns));
        }
    }
    let each_us = |ns: u64, calls: usize| ns as f64 / 1e3 / calls as f64;
    let (_, message_ns, delivery_ns) = least_ns;
    done.map(|()| Calls {
        message_us: each_us(message_ns, messages),
        delivery_us: each_us(delivery_ns, deliveries),
    })
}

/// CPU time of this thread for `call` on each of these connections, ns.
fn timed_ns(
    places: &[usize],
    mut call: impl FnMut(usize) -> io::Result<()>,
    done: &mut io::Result<()>,
) -> u64 {
    let before_ns = cpu_ns();
    for &place in places {
        if let Err(error) = call(place) {
            *done = Err(error);
        }
    }
    cpu_ns() - before_ns
}

fn null_us() -> f64 {
    let before_ns = cpu_ns();
    (0..NULL_CALLS).for_each(|_| {
        std::hint::black_box(rustix::process::getppid());
    });
    (cpu_ns() - before_ns) as f64 / 1e3 / f64::from(NULL_CALLS)
}

fn pin(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| {
        io::Error::other(format!(
            "cannot run on CPU {cpu} to measure the cost of the loopback: {}",
            io::Error::from(error)
        ))
    })
}

/// CPU time of this thread, ns.
fn cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_reply_costs_more() {
        let small = probe_exchange(8, 4, 4).unwrap();
        let large = probe_exchange(8, 4, 60_000).unwrap();
        assert!(small.request_send_us > 0.01 && small.reply_receive_us > 0.01, "{small:?}");
        assert!(large.reply_send_us > small.reply_send_us, "{small:?} {large:?}");
        assert!(large.per_operation_us().1 > small.per_operation_us().1, "{small:?} {large:?}");
    }

    #[test]
    fn calls_have_a_cost_and_a_batch_of_nineteen_costs_less_than_nineteen_calls() {
        let cost = probe().unwrap();
        let all = [cost.null_call_us, cost.line_send_us, cost.line_receive_us, cost.delivery_receive_us];
        assert!(all.iter().all(|&us| us > 0.01 && us < 1000.0), "{cost:?}");
        assert!(cost.null_call_us < cost.delivery_send_us, "{cost:?}");
        assert!(cost.batch_send_us < 19.0 * cost.delivery_send_us, "{cost:?}");
    }
}
