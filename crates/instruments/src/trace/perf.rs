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

/// Reads switches and wake-ups. Lines of other events are skipped. perf does not print processes, so each thread is taken for one.
/// Names of tasks may be anything.
///
/// # Errors
/// A line has another form, or there is no switch.
pub fn read_perf_script(text: &str) -> Result<TraceFile, PerfError> {
    let (mut events, mut names) = (Vec::new(), BTreeMap::new());
    for (number, line) in text.lines().enumerate() {
        let Some(head) = Head::of(line) else {
            // Without a head there is an event in it only if it is torn.
            if line.contains(" sched:sched_switch:") || line.contains(" sched:sched_waking:") {
                return Err(PerfError::Line { line: number + 1, text: line.trim().to_owned() });
            }
            continue;
        };
        let parsed = match head.event {
            "sched_switch" => switch(&head, &mut names),
            "sched_waking" => waking(&head, &mut names),
            _ => continue,
        };
        let error = || PerfError::Line { line: number + 1, text: line.trim().to_owned() };
        events.push(parsed.ok_or_else(error)?);
    }
    if !events.iter().any(|event| event.kind == TraceKind::Switch) {
        return Err(PerfError::Empty);
    }
    events.sort_by_key(|event| event.ns);
    Ok(TraceFile { events, lost: None, names })
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
    let (ns, kind) = (head.ns, TraceKind::Waking);
    Some(TraceEvent { ns, kind, state: 0, cpu: head.cpu, task: woken, other: head.thread, tgid: woken })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let trace = read_perf_script(FIELDS).unwrap();
        let event =
            |ns, kind, state, task, other, tgid| TraceEvent { ns, kind, state, cpu: 1, task, other, tgid };
        let expected = [
            event(100_000_005_000, TraceKind::Switch, 0, 0, 7, 7),
            event(100_000_007_000, TraceKind::Waking, 0, 8, 7, 8),
            event(100_000_009_000, TraceKind::Switch, 1, 7, 8, 8),
        ];
        assert_eq!((trace.events.as_slice(), trace.name(7)), (expected.as_slice(), "a name:7".to_owned()));
        assert_eq!(read_perf_script(SHORT).unwrap().events, trace.events);
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
                let trace = read_perf_script(text).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(trace.events, read_perf_script(FIELDS).unwrap().events, "{name}");
                assert_eq!(trace.name(7), format!("{}:7", name.trim()).as_str(), "{name}");
            }
        }
    }

    #[test]
    fn threads_are_read_with_their_process_or_without_a_number() {
        let with_process = FIELDS.replace(" 7 [001]", " 7/7 [001]").replace("     0 [001]", " -1/-1 [001]");
        assert_eq!(read_perf_script(&with_process).unwrap().events, read_perf_script(FIELDS).unwrap().events);
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        assert_eq!(read_perf_script("hello\n"), Err(PerfError::Empty));
        let torn = FIELDS.replace("next_pid=7", "next_pid=seven");
        let error = read_perf_script(&torn).unwrap_err().to_string();
        assert!(error.starts_with("line 1: this is no event of the scheduler"), "{error}");
    }
}
