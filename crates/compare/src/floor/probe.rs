//! What the machine's own loopback takes for the lines of the benchmark: a send and a receive, and nothing else.
//!
//! Two threads, one on the server's CPU and one on the crowd's, hold the ends of as many connections as a run has, and send
//! and receive in the order of a pacing: some of each room say a line, and then all who listen get theirs. While one thread
//! does its part the other waits. What a thread's own CPU clock says of its part is the price of the calls, with the
//! cache misses of data that comes from another CPU and the acknowledgements that TCP owes, and without the asking who is
//! next and the waking of anybody.

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
const ROOMS: usize = 10;
const USERS: usize = 20;
/// Deliveries that can come together under `rounds`: those of all the others.
const BATCH_LINES: usize = USERS - 1;
/// `PRIVMSG #klatch-1 :` and a text of 60 bytes, with CR LF.
const SAID_BYTES: usize = 81;
/// `:r1u10!r1u10@127.0.0.1 PRIVMSG #klatch-1 :` and the same.
const DELIVERED_BYTES: usize = 104;
/// How often the steps are made. The cheapest time counts, as a whole: what a machine is disturbed by is no part of its
/// floor.
const CYCLES: usize = 5;
/// So many steps do not count: the first 16 segments of a connection TCP acknowledges at once and at the sender's cost,
/// which is not what a run pays.
const STEPS_BEFORE: usize = 20;
/// Steps of a cycle under `rounds`, in each of which every user speaks; under `turns` there is one for each user of a room.
const ROUNDS: usize = 4;
const NULL_CALLS: u32 = 200_000;

/// Connections, by number, at which a line is said, and then those that get deliveries.
struct Step {
    speakers: Vec<usize>,
    listeners: Vec<usize>,
}

/// CPU time of a call on one side, µs: the server receives what is said and sends deliveries, the crowd the other way round.
struct Calls {
    said_us: f64,
    delivered_us: f64,
}

/// Measures; takes about half a second.
///
/// # Errors
/// One of the two CPUs is not ours, or a connection cannot be had.
pub(crate) fn probe() -> io::Result<LoopbackCost> {
    let all = || 0..ROOMS * USERS;
    let one_each = |user| {
        let (speakers, listeners) = all().partition(|place| place % USERS == user);
        Step { speakers, listeners }
    };
    let together = |_| Step { speakers: all().collect(), listeners: all().collect() };
    let (server, crowd) = calls(&(0..USERS).map(one_each).collect::<Vec<_>>(), DELIVERED_BYTES)?;
    let (batch_server, batch_crowd) =
        calls(&(0..ROUNDS).map(together).collect::<Vec<_>>(), BATCH_LINES * DELIVERED_BYTES)?;
    Ok(LoopbackCost {
        null_call_us: null_us(),
        said_send_us: crowd.said_us,
        said_receive_us: server.said_us,
        delivery_send_us: server.delivered_us,
        delivery_receive_us: crowd.delivered_us,
        batch_lines: BATCH_LINES as u32,
        batch_said_send_us: Some(batch_crowd.said_us),
        batch_said_receive_us: Some(batch_server.said_us),
        batch_send_us: batch_server.delivered_us,
        batch_receive_us: batch_crowd.delivered_us,
    })
}

/// What server and crowd pay, over new connections.
fn calls(steps: &[Step], delivered_bytes: usize) -> io::Result<(Calls, Calls)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (mut server, mut crowd) = (Vec::new(), Vec::new());
    for _ in 0..ROOMS * USERS {
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
            let (mut said, delivery) = (vec![0; SAID_BYTES], vec![b'x'; delivered_bytes]);
            let hear = |place: usize| (&server[place]).read_exact(&mut said);
            cheapest(steps, turn, SERVER_CPU, true, hear, |place| (&server[place]).write_all(&delivery))
        });
        let crowd = scope.spawn(|| {
            let (said, mut delivery) = (vec![b'x'; SAID_BYTES], vec![0; delivered_bytes]);
            let say = |place: usize| (&crowd[place]).write_all(&said);
            cheapest(steps, turn, CROWD_CPU, false, say, |place| (&crowd[place]).read_exact(&mut delivery))
        });
        let died = |_| io::Error::other("a thread of the probe died");
        let (server, crowd) = (server.join().map_err(died)?, crowd.join().map_err(died)?);
        Ok((server?, crowd?))
    })
}

/// One side's part of all cycles: `said` for each speaker and `delivered` for each listener.
fn cheapest(
    steps: &[Step],
    turn: &Barrier,
    cpu: usize,
    serves: bool,
    mut said: impl FnMut(usize) -> io::Result<()>,
    mut delivered: impl FnMut(usize) -> io::Result<()>,
) -> io::Result<Calls> {
    let (mut all_said, mut all_delivered) = (0, 0);
    for step in steps {
        all_said += step.speakers.len();
        all_delivered += step.listeners.len();
    }
    // The other thread waits for this one also when something failed.
    let mut done = pin(cpu);
    let mut least_ns = (u64::MAX, 0, 0);
    let cycles_before = STEPS_BEFORE.div_ceil(steps.len());
    for cycle in 0..cycles_before + CYCLES {
        let (mut said_ns, mut delivered_ns) = (0, 0);
        for step in steps {
            if serves {
                turn.wait();
            }
            said_ns += timed_ns(&step.speakers, &mut said, &mut done);
            if !serves {
                turn.wait();
                turn.wait();
            }
            delivered_ns += timed_ns(&step.listeners, &mut delivered, &mut done);
            if serves {
                turn.wait();
            }
        }
        if cycle >= cycles_before {
            least_ns = least_ns.min((said_ns + delivered_ns, said_ns, delivered_ns));
        }
    }
    let each_us = |ns: u64, calls: usize| ns as f64 / 1e3 / calls as f64;
    let (_, said_ns, delivered_ns) = least_ns;
    done.map(|()| Calls {
        said_us: each_us(said_ns, all_said),
        delivered_us: each_us(delivered_ns, all_delivered),
    })
}

/// CPU time of this thread for `what` at each of these connections, ns.
fn timed_ns(
    places: &[usize],
    mut what: impl FnMut(usize) -> io::Result<()>,
    done: &mut io::Result<()>,
) -> u64 {
    let before_ns = cpu_ns();
    for &place in places {
        if let Err(error) = what(place) {
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
