//! Reads what `perf script` prints of a recording by `perf sched record`.

use std::collections::BTreeMap;

use thiserror::Error;

use super::file::{TraceEvent, TraceFile, TraceKind};

/// The output of `perf script` cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PerfError {
    /// A line of a known event has another form.
    #[error("line {line}: this is no event of the scheduler as perf script prints it: {text}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// The line without leading spaces.
        text: String,
    },
    /// There is no line of a known event.
    #[error("there is no sched_switch in it; record with `perf sched record`, and print with `perf script`")]
    Empty,
}

/// The events of a recording that can be read.
const READ: [&str; 6] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_process_fork",
    "sched_migrate_task",
];

/// What was read of a recording by perf.
#[derive(Debug, PartialEq)]
pub struct PerfScript {
    /// Its switches, wake-ups and migrations.
    pub trace: TraceFile,
    /// Number of the events that a trace has no place for, by name.
    pub left_out: BTreeMap<String, u64>,
}

/// Reads switches, wake-ups and migrations. perf does not print processes, so each thread is taken for one. Names of tasks may be
/// anything.
///
/// The kernel reports a wake-up twice: as it begins (`sched_waking`) by the task that causes it, and later (`sched_wakeup`), maybe on the
/// CPU of the woken task. perf records one of the two; if both are there, the first counts. A new task is woken by the one that forks it:
/// `sched_wakeup_new`, or without that `sched_process_fork`.
///
/// # Errors
/// A line has another form, or there is no switch.
pub fn read_perf_script(text: &str) -> Result<PerfScript, PerfError> {
    let mut script = Script::default();
    for (number, line) in text.lines().enumerate() {
        let torn = || PerfError::Line { line: number + 1, text: line.trim().to_owned() };
        match Head::of(line) {
            Some(head) => script.read(&head).ok_or_else(torn)?,
            // Without a head there is an event in it only if it is torn.
            None if READ.iter().any(|event| line.contains(&format!(" sched:{event}:"))) => return Err(torn()),
            None => {}
        }
    }
    script.finish()
}

/// The events of a recording so far.
#[derive(Default)]
struct Script {
    events: Vec<TraceEvent>,
    /// Wake-ups that count if there is none of a better kind.
    late: Vec<TraceEvent>,
    of_new: Vec<TraceEvent>,
    forks: Vec<TraceEvent>,
    names: BTreeMap<u32, String>,
    left_out: BTreeMap<String, u64>,
}

impl Script {
    /// `None` if the event has another form.
    fn read(&mut self, head: &Head<'_>) -> Option<()> {
        let names = &mut self.names;
        match head.event {
            "sched_switch" => self.events.push(switch(head, names)?),
            "sched_waking" => self.events.push(waking(head, names)?),
            "sched_wakeup" => self.late.push(waking(head, names)?),
            "sched_wakeup_new" => self.of_new.push(waking(head, names)?),
            "sched_process_fork" => self.forks.push(fork(head, names)?),
            "sched_migrate_task" => self.events.push(migrate(head, names)?),
            other => *self.left_out.entry(other.to_owned()).or_default() += 1,
        }
        Some(())
    }

    fn finish(mut self) -> Result<PerfScript, PerfError> {
        let has = |kind| self.events.iter().any(|event| event.kind == kind);
        if !has(TraceKind::Switch) {
            return Err(PerfError::Empty);
        }
        let (late, forks) = (!has(TraceKind::Waking), self.of_new.is_empty());
        let counts = |count: bool, events: Vec<TraceEvent>| events.into_iter().filter(move |_| count);
        self.events.extend(self.of_new);
        self.events.extend(counts(late, self.late));
        self.events.extend(counts(forks, self.forks));
        self.events.sort_by_key(|event| event.ns);
        let trace = TraceFile { events: self.events, lost: None, names: self.names };
        Ok(PerfScript { trace, left_out: self.left_out })
    }
}

/// What a line begins with: `name 123 [001] 12.345678: sched:sched_switch: …`. The name of a task can contain all of these signs, but has
/// at most 15 bytes, so the first place where the rest fits is the right one.
struct Head<'a> {
    thread: u32,
    cpu: u16,
    ns: u64,
    /// `sched_switch`.
    event: &'a str,
    details: &'a str,
}

impl<'a> Head<'a> {
    fn of(line: &'a str) -> Option<Head<'a>> {
        line.match_indices(" [").find_map(|(at, _)| Head::at(&line[..at], &line[at + 2..]))
    }

    fn at(before: &str, rest: &'a str) -> Option<Head<'a>> {
        let (cpu, rest) = rest.split_once(']')?;
        let (time, rest) = rest.trim_start().split_once(": ")?;
        // With flags of the interrupt state, the time is the last word.
        let (seconds, fraction) = time.split_whitespace().last()?.split_once('.')?;
        // perf prints microseconds, or nanoseconds with --ns.
        let fraction_ns = format!("{fraction:0<9}").get(..9)?.parse::<u64>().ok()?;
        let ns = seconds.parse::<u64>().ok()? * 1_000_000_000 + fraction_ns;
        let (_, rest) = rest.split_once("sched:")?;
        let (event, details) = rest.split_once(':')?;
        // `123`, or `120/123` with the process; -1 where perf does not know it.
        let thread = before.split_whitespace().last()?.rsplit('/').next()?.parse::<i64>().ok()?;
        Some(Head { thread: u32::try_from(thread).unwrap_or(0), cpu: cpu.parse().ok()?, ns, event, details })
    }
}

/// A task as `comm=a name pid=7 …`, or as `a name:7 [120] …`, and what follows it.
fn task<'a>(text: &'a str, prefix: &str) -> Option<(u32, String, &'a str)> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix(&format!("{prefix}comm=")) {
        let (name, rest) = rest.rsplit_once(&format!(" {prefix}pid="))?;
        let (id, rest) = rest.split_once(' ')?;
        return Some((id.parse().ok()?, name.trim().to_owned(), rest));
    }
    let (task, rest) = text.rsplit_once(" [")?;
    let (name, id) = task.rsplit_once(':')?;
    Some((id.parse().ok()?, name.trim().to_owned(), rest.split_once(']')?.1))
}

fn switch(head: &Head<'_>, names: &mut BTreeMap<u32, String>) -> Option<TraceEvent> {
    // A name may contain the arrow, but then one side of it is no task.
    let both = head.details.match_indices(" ==> ").find_map(|(at, arrow)| {
        let (previous, next) = (&head.details[..at], &head.details[at + arrow.len()..]);
        Some((task(previous, "prev_")?, task(next, "next_")?))
    });
    let ((from, from_name, rest), (to, to_name, _)) = both?;
    let state = rest.rsplit_once("prev_state=").map_or(rest, |(_, state)| state).trim();
    names.extend([(from, from_name), (to, to_name)]);
    // R and R+: it could go on.
    let state = u8::from(!state.starts_with('R'));
    let kind = TraceKind::Switch;
    Some(TraceEvent { ns: head.ns, kind, state, cpu: head.cpu, task: from, other: to, tgid: to })
}

fn waking(head: &Head<'_>, names: &mut BTreeMap<u32, String>) -> Option<TraceEvent> {
    let (woken, name, _) = task(head.details, "")?;
    names.insert(woken, name);
    Some(wake(head, woken))
}

/// `comm=a name pid=7 child_comm=a name child_pid=8`.
fn fork(head: &Head<'_>, names: &mut BTreeMap<u32, String>) -> Option<TraceEvent> {
    // The name of the parent may look like the rest; that of a new child is the same.
    let (rest, child) = head.details.trim().rsplit_once(" child_pid=")?;
    let (_, name) = rest.rsplit_once("child_comm=")?;
    let child = child.parse().ok()?;
    names.insert(child, name.trim().to_owned());
    Some(wake(head, child))
}

/// `comm=a name pid=7 prio=120 orig_cpu=0 dest_cpu=1`.
fn migrate(head: &Head<'_>, names: &mut BTreeMap<u32, String>) -> Option<TraceEvent> {
    let (task, name, rest) = task(head.details, "")?;
    let to: u16 = rest.rsplit_once("dest_cpu=")?.1.trim().parse().ok()?;
    names.insert(task, name);
    Some(TraceEvent { kind: TraceKind::Migrate, other: to.into(), ..wake(head, task) })
}

/// The wake-up of a task by the one that runs on the CPU of the event.
fn wake(head: &Head<'_>, woken: u32) -> TraceEvent {
    let (ns, kind) = (head.ns, TraceKind::Waking);
    TraceEvent { ns, kind, state: 0, cpu: head.cpu, task: woken, other: head.thread, tgid: woken }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a recording that has nothing else in it.
    fn read(text: &str) -> Result<TraceFile, PerfError> {
        read_perf_script(text).map(|script| script.trace)
    }

    const FIELDS: &str = "\
        swapper     0 [001] 100.000005: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a name next_pid=7 next_prio=120
        a name     7 [001] 100.000007: sched:sched_waking: comm=other pid=8 prio=120 target_cpu=000
        a name     7 [001] 100.000008: sched:sched_stat_runtime: comm=a name pid=7 runtime=3000 [ns]
        a name     7 [001] 100.000009: sched:sched_switch: prev_comm=a name prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=other next_pid=8 next_prio=120
";

    const SHORT: &str = "\
        swapper     0 [001] 100.000005000: sched:sched_switch: swapper/1:0 [120] R ==> a name:7 [120]
        a name     7 [001] 100.000007000: sched:sched_waking: other:8 [120] CPU:000
        a name     7 [001] 100.000009000: sched:sched_switch: a name:7 [120] S ==> other:8 [120]
";

    #[test]
    fn both_forms_of_perf_script_give_the_same_trace() {
        let trace = read(FIELDS).unwrap();
        let event =
            |ns, kind, state, task, other, tgid| TraceEvent { ns, kind, state, cpu: 1, task, other, tgid };
        let expected = [
            event(100_000_005_000, TraceKind::Switch, 0, 0, 7, 7),
            event(100_000_007_000, TraceKind::Waking, 0, 8, 7, 8),
            event(100_000_009_000, TraceKind::Switch, 1, 7, 8, 8),
        ];
        assert_eq!((trace.events.as_slice(), trace.name(7)), (expected.as_slice(), "a name:7".to_owned()));
        assert_eq!(read(SHORT).unwrap().events, trace.events);
    }

    /// A name is what `prctl(PR_SET_NAME)` was given.
    #[test]
    fn names_may_look_like_the_rest_of_a_line() {
        let names = [
            "[pango] fontcon",
            "x prev_pid=3",
            " sched:",
            "a ==> b:4 [1] S",
            "[001] 1.5: s",
            "comm=x pid=9",
            "caf\u{fffd}",
        ];
        for name in names {
            let (fields, short) = (FIELDS.replace("a name", name), SHORT.replace("a name", name));
            for text in [&fields, &short] {
                let trace = read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(trace.events, read(FIELDS).unwrap().events, "{name}");
                assert_eq!(trace.name(7), format!("{}:7", name.trim()).as_str(), "{name}");
            }
        }
    }

    #[test]
    fn threads_are_read_with_their_process_or_without_a_number() {
        let with_process = FIELDS.replace(" 7 [001]", " 7/7 [001]").replace("     0 [001]", " -1/-1 [001]");
        assert_eq!(read(&with_process).unwrap().events, read(FIELDS).unwrap().events);
    }

    #[test]
    fn every_way_in_which_a_task_is_woken_or_moved_is_read() {
        let line = |event: &str| format!("        a name     7 [001] 100.000008: sched:{event}\n");
        let with = |events: &[&str]| {
            let script = read_perf_script(&(FIELDS.to_owned() + &events.concat())).unwrap();
            let new = |event: &TraceEvent| event.ns == 100_000_008_000;
            (script.trace.events.into_iter().filter(new).collect::<Vec<_>>(), script.left_out)
        };
        let event = |kind, task, other| TraceEvent {
            ns: 100_000_008_000,
            kind,
            state: 0,
            cpu: 1,
            task,
            other,
            tgid: task,
        };
        let wakeup = line("sched_wakeup: comm=x pid=3 y pid=9 prio=120 target_cpu=000");
        let short = line("sched_wakeup: x pid=3 y:9 [120] CPU:000");
        let new = line("sched_wakeup_new: comm=child name pid=9 prio=120 target_cpu=000");
        let forked = line("sched_process_fork: comm=a name pid=7 child_comm=a name child_pid=9");
        let moved = line("sched_migrate_task: comm=other pid=8 prio=120 orig_cpu=1 dest_cpu=0");
        let runtime = BTreeMap::from([("sched_stat_runtime".to_owned(), 1)]);
        // The recording has the beginning of each wake-up, so its end is no other one.
        assert_eq!(with(&[&wakeup]), (Vec::new(), runtime.clone()));
        assert_eq!(with(&[&new]).0, [event(TraceKind::Waking, 9, 7)]);
        assert_eq!(with(&[&forked]).0, [event(TraceKind::Waking, 9, 7)]);
        assert_eq!(with(&[&forked, &new]).0, [event(TraceKind::Waking, 9, 7)]);
        assert_eq!(with(&[&moved]).0, [event(TraceKind::Migrate, 8, 0)]);
        // An older kernel has no beginnings.
        for wakeup in [wakeup, short] {
            let old = FIELDS.replace("sched_waking", "sched_stat_wait") + &wakeup;
            let trace = read(&old).unwrap();
            let woken = trace.events.iter().filter(|event| event.kind == TraceKind::Waking);
            assert_eq!(woken.copied().collect::<Vec<_>>(), [event(TraceKind::Waking, 9, 7)]);
            assert_eq!(trace.name(9), "x pid=3 y:9");
        }
        let torn = read(&(FIELDS.to_owned() + &line("sched_migrate_task: comm=other pid=8 prio=120")));
        assert!(torn.unwrap_err().to_string().starts_with("line 5: "));
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        assert_eq!(read("hello\n"), Err(PerfError::Empty));
        let torn = FIELDS.replace("next_pid=7", "next_pid=seven");
        let error = read(&torn).unwrap_err().to_string();
        assert!(error.starts_with("line 1: this is no event of the scheduler"), "{error}");
    }
}
