//! Groups of senders and receivers, as in hackbench: each sender writes to each receiver of its group.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Write, pipe};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitOptions, getpid, getppid, set_parent_process_death_signal, waitpid};

use super::times::{Stopwatch, Times};
use super::{Done, ProbeError, STACK_BYTES, system, within};

/// The settings of hackbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hackbench {
    /// Groups, 1 to 1,000.
    pub groups: u32,
    /// Senders of a group, and as many receivers, 1 to 1,000.
    pub fds: u32,
    /// Messages of each sender to each receiver, 1 to 100,000,000.
    pub loops: u32,
    /// Size of a message, 8 to 4,096 bytes.
    pub datasize: u32,
    /// What messages pass through.
    pub through: Passage,
    /// Whether each task is a process.
    pub processes: bool,
}

/// What messages of hackbench pass through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// A pipe for each receiver.
    Pipe,
    /// A pair of stream sockets of the Unix domain for each receiver.
    Socket,
}

/// A time and how often it was, as tasks report them.
const REPORT_BYTES: usize = 16;
/// Reports in one write; a pipe does not tear writes of up to 4,096 bytes.
const REPORTS_AT_ONCE: usize = 4_096 / REPORT_BYTES;

impl Hackbench {
    /// Messages of all groups.
    fn messages(self) -> u64 {
        [self.groups, self.fds, self.fds, self.loops].into_iter().map(u64::from).product()
    }
}

pub(super) fn run(settings: Hackbench) -> Result<Done, ProbeError> {
    within("groups", settings.groups, 1_000)?;
    within("fds", settings.fds, 1_000)?;
    within("loops", settings.loops, 100_000_000)?;
    if !(8..=4_096).contains(&settings.datasize) {
        return Err(ProbeError::Datasize(settings.datasize));
    }
    let base = Instant::now();
    let (mut ready_out, ready_in) = pipe().map_err(system("make a pipe"))?;
    let (start_out, start_in) = pipe().map_err(system("make a pipe"))?;
    let (mut reports, reports_in) = pipe().map_err(system("make a pipe"))?;
    let shared = Arc::new(Shared {
        settings,
        base,
        ready: OwnedFd::from(ready_in).into(),
        start: OwnedFd::from(start_out).into(),
        reports: OwnedFd::from(reports_in).into(),
    });
    let mut tasks = Vec::new();
    for _ in 0..settings.groups {
        let mut ways = Vec::new();
        for _ in 0..settings.fds {
            let (from, to) = settings.through.open()?;
            tasks.push(Task { shared: Arc::clone(&shared), role: Role::Receiver(from) });
            ways.push(to);
        }
        let ways = Arc::new(ways);
        let sender = || Task { shared: Arc::clone(&shared), role: Role::Sender(Arc::clone(&ways)) };
        tasks.extend((0..settings.fds).map(|_| sender()));
    }
    drop(shared);
    let count = tasks.len();
    let running = match settings.processes {
        true => Running::processes(tasks, start_in.as_raw_fd())?,
        false => Running::threads(tasks)?,
    };
    ready_out.read_exact(&mut vec![0; count]).map_err(system("wait for the tasks to be ready"))?;
    let watch = Stopwatch::start();
    // All tasks read the end of this pipe.
    drop(start_in);
    let mut text = Vec::new();
    reports.read_to_end(&mut text).map_err(system("read the times of the tasks"))?;
    running.end()?;
    let elapsed = watch.stop();
    let mut times = Times::new();
    let mut received = 0;
    for report in text.as_chunks::<REPORT_BYTES>().0 {
        let [ns, count] =
            [0, 8].map(|at| u64::from_le_bytes(*report[at..].first_chunk().expect("eight bytes")));
        times.add_many(ns, count);
        received += count;
    }
    let expected = settings.messages();
    if received != expected {
        return Err(ProbeError::Lost { received, expected });
    }
    let Hackbench { groups, fds, loops, datasize, through, processes } = settings;
    let numbers = [("groups", groups), ("fds", fds), ("loops", loops), ("datasize", datasize)];
    let done = Done::new("message", expected, elapsed).with("message", times);
    let done = numbers.into_iter().fold(done, |done, (name, value)| done.set(name, value));
    Ok(done
        .set("through", if through == Passage::Pipe { "pipe" } else { "socket" })
        .set("tasks_are", if processes { "processes" } else { "threads" }))
}

impl Passage {
    /// The ends of a receiver and of its senders.
    fn open(self) -> Result<(File, File), ProbeError> {
        let ends: (OwnedFd, OwnedFd) = match self {
            Passage::Pipe => {
                pipe().map(|(from, to)| (from.into(), to.into())).map_err(system("make a pipe"))?
            }
            Passage::Socket => UnixStream::pair()
                .map(|(from, to)| (from.into(), to.into()))
                .map_err(system("make a pair of sockets"))?,
        };
        Ok((ends.0.into(), ends.1.into()))
    }
}

/// What all tasks have.
struct Shared {
    settings: Hackbench,
    /// When time begins in messages.
    base: Instant,
    ready: File,
    start: File,
    reports: File,
}

struct Task {
    shared: Arc<Shared>,
    role: Role,
}

enum Role {
    Sender(Arc<Vec<File>>),
    Receiver(File),
}

impl Task {
    fn run(&self) -> io::Result<()> {
        let Shared { settings, base, .. } = &*self.shared;
        (&self.shared.ready).write_all(&[0])?;
        (&self.shared.start).read_to_end(&mut Vec::new())?;
        let mut message = vec![0; settings.datasize as usize];
        match &self.role {
            Role::Sender(ways) => {
                for _ in 0..settings.loops {
                    for mut way in ways.iter() {
                        let now = base.elapsed().as_nanos() as u64;
                        message[..8].copy_from_slice(&now.to_le_bytes());
                        way.write_all(&message)?;
                    }
                }
                Ok(())
            }
            Role::Receiver(from) => {
                let mut times = Times::new();
                let mut from = from;
                for _ in 0..u64::from(settings.fds) * u64::from(settings.loops) {
                    from.read_exact(&mut message)?;
                    let sent = u64::from_le_bytes(*message.first_chunk().expect("eight bytes"));
                    times.add((base.elapsed().as_nanos() as u64).saturating_sub(sent));
                }
                for counts in times.counts().chunks(REPORTS_AT_ONCE) {
                    let report = |(ns, count): &(u64, u64)| [ns.to_le_bytes(), count.to_le_bytes()].concat();
                    let bytes: Vec<u8> = counts.iter().flat_map(report).collect();
                    (&self.shared.reports).write_all(&bytes)?;
                }
                Ok(())
            }
        }
    }
}

/// Tasks that run.
enum Running {
    Threads(Vec<thread::JoinHandle<io::Result<()>>>),
    Processes(Vec<Pid>),
}

impl Running {
    fn threads(tasks: Vec<Task>) -> Result<Running, ProbeError> {
        let start = |task: Task| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn(move || task.run()).map_err(system("start a thread"))
        };
        Ok(Running::Threads(tasks.into_iter().map(start).collect::<Result<_, _>>()?))
    }

    /// A process for each task, without the end of the pipe that starts them.
    fn processes(tasks: Vec<Task>, start_in: i32) -> Result<Running, ProbeError> {
        let threads = std::fs::read_dir("/proc/self/task").map_err(system("list the threads"))?.count();
        if threads > 1 {
            let why = io::Error::other("this process has other threads, which a copy of it would not have");
            return Err(system("start a process")(why));
        }
        let parent = getpid();
        let mut pids = Vec::new();
        for task in &tasks {
            // SAFETY: this process has one thread, so no lock is held that its copy could wait for.
            match unsafe { libc::fork() } {
                0 => {
                    let dies = set_parent_process_death_signal(Some(Signal::KILL));
                    let is_child = dies.is_ok() && getppid() == Some(parent);
                    // SAFETY: this copy of the descriptor is used by nothing else here, and the process ends without another close.
                    unsafe { libc::close(start_in) };
                    let done = is_child && task.run().is_ok();
                    // SAFETY: ends the copy without what the program does at its end.
                    unsafe { libc::_exit(if done { 0 } else { 1 }) }
                }
                pid => match Pid::from_raw(pid).filter(|_| pid > 0) {
                    Some(pid) => pids.push(pid),
                    None => return Err(system("start a process")(io::Error::last_os_error())),
                },
            }
        }
        Ok(Running::Processes(pids))
    }

    /// Waits for all of them.
    fn end(self) -> Result<(), ProbeError> {
        let failed = || system("run a task")(io::Error::other("it did not end as it should"));
        match self {
            Running::Threads(threads) => threads.into_iter().try_for_each(|thread| {
                thread.join().map_err(|_| failed())?.map_err(system("pass a message"))
            }),
            Running::Processes(pids) => pids.into_iter().try_for_each(|pid| {
                let ended = waitpid(Some(pid), WaitOptions::empty()).map_err(io::Error::from);
                let status = ended.map_err(system("wait for a process"))?.map(|(_, status)| status);
                let is_well = status.is_some_and(|status| status.exit_status() == Some(0));
                if is_well { Ok(()) } else { Err(failed()) }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sender_reaches_every_receiver_of_its_group() {
        for through in [Passage::Pipe, Passage::Socket] {
            let settings =
                Hackbench { groups: 2, fds: 3, loops: 5, datasize: 100, through, processes: false };
            let done = run(settings).unwrap();
            let times: u64 = done.times["message"].counts().iter().map(|(_, count)| count).sum();
            assert_eq!((done.steps, times), (2 * 3 * 3 * 5, 90), "{through:?}");
        }
        let small =
            Hackbench { groups: 1, fds: 1, loops: 1, datasize: 7, through: Passage::Pipe, processes: false };
        assert_eq!(run(small).err().unwrap().to_string(), "datasize must be 8 to 4,096 bytes, got 7");
    }
}
