//! What the machine's own loopback takes for the lines of the benchmark: a send and a receive, and nothing else.
//!
//! Two threads, one on the server's CPU and one on the crowd's, hold the ends of as many connections as a run has. One
//! writes to each of its connections while the other waits; then that one reads from each. What a thread's own CPU clock
//! says of that is the price of the calls, with the cache misses of data that comes from another CPU, and without the
//! waking of anybody.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Barrier;
use std::thread;

use klatch_record::LoopbackCost;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// The CPUs that `studies/floor.toml` gives to server and crowd.
const SERVER_CPU: usize = 0;
const CROWD_CPU: usize = 1;
/// As many as 10 rooms of 20 users have.
const CONNECTIONS: usize = 200;
/// Users of a room but the speaker: so many lines can come together under `rounds`.
const BATCH_LINES: usize = 19;
/// `PRIVMSG #klatch-1 :` and a text of 60 bytes, with CR LF.
const SAID_BYTES: usize = 81;
/// `:r1u10!r1u10@127.0.0.1 PRIVMSG #klatch-1 :` and the same.
const DELIVERED_BYTES: usize = 104;
/// Each connection is used so often for each size. The cheapest of these rounds counts: what a machine is disturbed by is
/// no part of its floor.
const ROUNDS: usize = 60;
const NULL_CALLS: u32 = 200_000;

/// Measures; takes about a third of a second.
///
/// # Errors
/// One of the two CPUs is not ours, or a connection cannot be had.
pub(crate) fn probe() -> io::Result<LoopbackCost> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (mut server, mut crowd) = (Vec::new(), Vec::new());
    for _ in 0..CONNECTIONS {
        let one = TcpStream::connect(listener.local_addr()?)?;
        let (other, _) = listener.accept()?;
        one.set_nodelay(true)?;
        other.set_nodelay(true)?;
        crowd.push(one);
        server.push(other);
    }
    let turn = Barrier::new(2);
    let sizes = [DELIVERED_BYTES, BATCH_LINES * DELIVERED_BYTES];
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            // The other thread waits for this one also when its CPU is not to be had.
            let pinned = pin(SERVER_CPU);
            let hear_us = side(&server, &turn, SAID_BYTES, false);
            let [one_us, batch_us] = sizes.map(|bytes| side(&server, &turn, bytes, true));
            pinned.and(Ok([hear_us?, one_us?, batch_us?, null_us()]))
        });
        let crowd = scope.spawn(|| {
            let pinned = pin(CROWD_CPU);
            let say_us = side(&crowd, &turn, SAID_BYTES, true);
            let [one_us, batch_us] = sizes.map(|bytes| side(&crowd, &turn, bytes, false));
            pinned.and(Ok([say_us?, one_us?, batch_us?]))
        });
        let died = |_| io::Error::other("a thread of the probe died");
        let server: io::Result<[f64; 4]> = server.join().map_err(died)?;
        let crowd: io::Result<[f64; 3]> = crowd.join().map_err(died)?;
        let ([said_receive_us, delivery_send_us, batch_send_us, null_call_us], crowd) = (server?, crowd?);
        let [said_send_us, delivery_receive_us, batch_receive_us] = crowd;
        Ok(LoopbackCost {
            null_call_us,
            said_send_us,
            said_receive_us,
            delivery_send_us,
            delivery_receive_us,
            batch_lines: BATCH_LINES as u32,
            batch_send_us,
            batch_receive_us,
        })
    })
}

/// One side's part of all rounds with messages of so many bytes: its CPU time of a call in the cheapest, µs.
fn side(ends: &[TcpStream], turn: &Barrier, bytes: usize, sends: bool) -> io::Result<f64> {
    let mut buffer = vec![b'x'; bytes];
    let (mut least_ns, mut done) = (u64::MAX, Ok(()));
    for _ in 0..ROUNDS {
        if !sends {
            turn.wait();
        }
        let before_ns = cpu_ns();
        for mut end in ends {
            let moved = if sends { end.write_all(&buffer) } else { end.read_exact(&mut buffer) };
            done = done.and(moved);
        }
        least_ns = least_ns.min(cpu_ns() - before_ns);
        if sends {
            turn.wait();
        }
        // The next round begins when both are through with this one.
        turn.wait();
    }
    done.map(|()| least_ns as f64 / 1e3 / ends.len() as f64)
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
            "CPU {cpu} is not to be had for the loopback's cost: {}",
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
    fn a_call_costs_something_and_nineteen_lines_less_than_nineteen_calls() {
        let cost = probe().unwrap();
        let all = [cost.null_call_us, cost.said_send_us, cost.said_receive_us, cost.delivery_receive_us];
        assert!(all.iter().all(|&us| us > 0.01 && us < 1000.0), "{cost:?}");
        assert!(cost.null_call_us < cost.delivery_send_us, "{cost:?}");
        assert!(cost.batch_send_us < 19.0 * cost.delivery_send_us, "{cost:?}");
    }
}
