//! CPU time, context switches and memory of a process at one moment.

use klatch_record::Usage;
use rustix::param::clock_ticks_per_second;
use thiserror::Error;

use crate::machine::cpu_clock::{cpu_time_ns, own_switches};
use crate::machine::gc::GcTime;
use crate::machine::proc_files::{ProcessStat, ProcessStatus, thread_ids};
use crate::machine::process_tree::process_tree;

/// The counters of a process cannot be read.
#[derive(Debug, Error)]
#[error("cannot read the counters of process {pid}: {why}")]
pub struct SnapshotError {
    pid: u32,
    why: String,
}

/// The counters of a process with its descendants, summed over their threads.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    cpu_ns: u64,
    user_ticks: u64,
    system_ticks: u64,
    /// `None`, as below, if the kernel does not tell.
    switches_voluntary: Option<u64>,
    switches_involuntary: Option<u64>,
    threads: u64,
    memory_bytes: Option<u64>,
    memory_peak_bytes: Option<u64>,
    gc: Option<GcTime>,
}

impl Snapshot {
    /// Reads the counters of process `pid` and of its descendants, also of those that have ended and were waited for.
    ///
    /// The CPU time includes threads that have ended, but the context switches do not: read before threads end.
    ///
    /// # Errors
    /// The process has ended, or this user may not read its files in `/proc`.
    pub fn take(pid: u32) -> Result<Snapshot, SnapshotError> {
        let tree = process_tree(pid);
        let mut sum = Snapshot::take_one(pid)?;
        // A descendant may end at any moment; its parent then has its time.
        tree[1..]
            .iter()
            .filter_map(|&child| Snapshot::take_one(child).ok())
            .for_each(|child| sum.add(&child));
        Ok(sum)
    }

    /// Reads the counters of this process, with the context switches of its threads that have ended. It must have no children.
    ///
    /// # Errors
    /// This user may not read files in `/proc`.
    pub fn take_own() -> Result<Snapshot, SnapshotError> {
        let own = Snapshot::take_one(std::process::id())?;
        let Some((voluntary, involuntary)) = own_switches() else { return Ok(own) };
        let (voluntary, involuntary) = (Some(voluntary), Some(involuntary));
        Ok(Snapshot { switches_voluntary: voluntary, switches_involuntary: involuntary, ..own })
    }

    fn take_one(pid: u32) -> Result<Snapshot, SnapshotError> {
        let failed = |why: String| SnapshotError { pid, why };
        let cpu_ns = cpu_time_ns(pid).map_err(|error| failed(error.to_string()))?;
        let one = read(pid).map_err(|error| failed(error.to_string()))?;
        Ok(Snapshot { cpu_ns: cpu_ns + one.cpu_ns, ..one })
    }

    fn add(&mut self, other: &Snapshot) {
        self.cpu_ns += other.cpu_ns;
        self.user_ticks += other.user_ticks;
        self.system_ticks += other.system_ticks;
        let sum = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
        self.switches_voluntary = sum(self.switches_voluntary, other.switches_voluntary);
        self.switches_involuntary = sum(self.switches_involuntary, other.switches_involuntary);
        self.threads += other.threads;
        self.memory_bytes = sum(self.memory_bytes, other.memory_bytes);
        self.memory_peak_bytes = sum(self.memory_peak_bytes, other.memory_peak_bytes);
    }

    /// Threads that were alive, of the process and its descendants.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// CPU time since the process and its descendants began, s.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_ns as f64 / 1e9
    }

    /// Resident memory of the process and its descendants, bytes; `None` if the kernel does not tell.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory_bytes
    }

    /// The resources used since `earlier`, in total and for each of `messages` messages.
    pub fn since(&self, earlier: &Snapshot, messages: u64) -> Usage {
        let cpu_s = self.cpu_ns.saturating_sub(earlier.cpu_ns) as f64 / 1e9;
        let user_ticks = self.user_ticks.saturating_sub(earlier.user_ticks) as f64;
        let system_ticks = self.system_ticks.saturating_sub(earlier.system_ticks) as f64;
        // The clock is exact. The ticks are coarse, so they only split its time into user and system.
        let user_share =
            if user_ticks + system_ticks > 0.0 { user_ticks / (user_ticks + system_ticks) } else { 0.0 };
        let (user_s, system_s) = (cpu_s * user_share, cpu_s * (1.0 - user_share));
        let since = |later: Option<u64>, earlier: Option<u64>| Some(later?.saturating_sub(earlier?));
        let switches_voluntary = since(self.switches_voluntary, earlier.switches_voluntary);
        let switches_involuntary = since(self.switches_involuntary, earlier.switches_involuntary);
        let switches = switches_voluntary.zip(switches_involuntary);
        let each = |sum: f64| if messages == 0 { 0.0 } else { sum / messages as f64 };
        Usage {
            cpu_s,
            user_s,
            system_s,
            cpu_us_per_message: each(cpu_s * 1e6),
            user_us_per_message: each(user_s * 1e6),
            system_us_per_message: each(system_s * 1e6),
            switches_voluntary,
            switches_involuntary,
            switches_per_message: switches
                .map(|(voluntary, involuntary)| each((voluntary + involuntary) as f64)),
            threads: self.threads,
            memory_peak_bytes: self.memory_peak_bytes,
            gc_s: self.gc.zip(earlier.gc).map(|(later, earlier)| later.paused_s_since(&earlier)),
        }
    }
}

fn read(pid: u32) -> std::io::Result<Snapshot> {
    let stat = ProcessStat::read(pid)?;
    let (mut voluntary, mut involuntary, mut threads) = (Some(0), Some(0), 0);
    for tid in thread_ids(pid)? {
        // A thread may end while the list is read.
        let Ok(status) = ProcessStatus::read_thread(pid, tid) else { continue };
        let add = |sum: Option<u64>, name: &str| Some(sum? + status.number(name)?);
        voluntary = add(voluntary, "voluntary_ctxt_switches");
        involuntary = add(involuntary, "nonvoluntary_ctxt_switches");
        threads += 1;
    }
    // What children used that have ended, as coarse as ticks.
    let (children_user, children_system) = (stat.children_user_ticks, stat.children_system_ticks);
    let tick_ns = 1_000_000_000 / clock_ticks_per_second().max(1);
    let status = ProcessStatus::read(pid)?;
    // A process that has ended and is not waited for has no memory left.
    let ended = status.text("State").is_some_and(|state| state.starts_with('Z')) && threads <= 1;
    let bytes = |name: &str| status.number(name).or(ended.then_some(0)).map(|kib| kib * 1024);
    Ok(Snapshot {
        cpu_ns: (children_user + children_system) * tick_ns,
        user_ticks: stat.user_ticks + children_user,
        system_ticks: stat.system_ticks + children_system,
        switches_voluntary: voluntary,
        switches_involuntary: involuntary,
        threads,
        memory_bytes: bytes("VmRSS"),
        memory_peak_bytes: bytes("VmHWM"),
        gc: GcTime::of_process(pid),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::machine::cpu_clock::tests::burn;

    #[test]
    fn usage_includes_a_busy_thread() {
        let me = std::process::id();
        let begun = std::time::Instant::now();
        let before = Snapshot::take(me).unwrap();
        burn(0.2);
        let usage = Snapshot::take(me).unwrap().since(&before, 100);
        // Other tests are threads of this process, so their CPU time is included.
        let cpus = std::thread::available_parallelism().unwrap().get() as f64;
        // A shared machine counts time that its host took as CPU time too, so the limit has a margin.
        let most = 1.25 * cpus * begun.elapsed().as_secs_f64();
        assert!((0.2..most).contains(&usage.cpu_s), "{usage:?}");
        assert!((usage.user_s + usage.system_s - usage.cpu_s).abs() < 1e-9);
        assert!((usage.cpu_us_per_message - usage.cpu_s * 1e4).abs() < 1e-6);
    }

    #[test]
    fn own_switches_include_threads_that_have_ended() {
        let before = Snapshot::take_own().unwrap();
        let naps = || (0..20).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(50)));
        std::thread::spawn(naps).join().unwrap();
        let usage = Snapshot::take_own().unwrap().since(&before, 1);
        assert!(usage.switches_voluntary >= Some(20), "{usage:?}");
    }

    #[test]
    fn waiting_threads_add_voluntary_switches() {
        let me = std::process::id();
        let (to, from) = channel();
        let (back, home) = channel();
        let echo = std::thread::spawn(move || from.iter().try_for_each(|ball: u32| back.send(ball)));
        let before = Snapshot::take(me).unwrap();
        for ball in 0..2_000 {
            to.send(ball).unwrap();
            home.recv().unwrap();
        }
        let usage = Snapshot::take(me).unwrap().since(&before, 2_000);
        drop(to);
        echo.join().unwrap().unwrap();
        assert!(usage.switches_voluntary >= Some(1_000), "{usage:?}");
        assert!(usage.threads >= 2 && usage.memory_peak_bytes > Some(100_000), "{usage:?}");
    }

    /// Runs a shell command in a shell that waits for it, in which a child or a grandchild uses CPU time.
    fn used_by(script: &str) -> Usage {
        use std::io::{BufRead, BufReader, Write};
        use std::process::{Command, Stdio};
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let before = Snapshot::take(shell.id()).unwrap();
        let mut input = shell.stdin.take().unwrap();
        writeln!(input, "go").unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
        let usage = Snapshot::take(shell.id()).unwrap().since(&before, 1);
        drop(input);
        shell.wait().unwrap();
        usage
    }

    #[test]
    fn a_child_that_has_ended_is_counted() {
        let usage = used_by(
            "read go; sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo done; read end",
        );
        assert!(usage.cpu_s > 0.05, "{usage:?}");
    }

    #[test]
    fn a_grandchild_that_lives_is_counted() {
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read end";
        let usage = used_by(&format!(
            "read go; exec 3<&0; sh -c 'sh -c \"{}\" <&3; true'; true",
            busy.replace('$', "\\$")
        ));
        assert!(usage.cpu_s > 0.05 && usage.threads >= 3, "{usage:?}");
    }

    #[test]
    fn an_error_names_the_process() {
        let error = Snapshot::take(u32::MAX >> 2).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the counters of process 1073741823: "), "{error}");
    }
}
