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
///
/// # Errors
/// A line has another form, or there is no switch.
pub fn read_perf_script(text: &str) -> Result<TraceFile, PerfError> {
    let (mut events, mut names) = (Vec::new(), BTreeMap::new());
    for (number, line) in text.lines().enumerate() {
        let parsed = match event_name(line) {
            Some("sched_switch") => switch(line, &mut names),
            Some("sched_waking") => waking(line, &mut names),
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

/// The event of a line: `sched_switch` of `… 12.345678: sched:sched_switch: …`.
fn event_name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" sched:")?;
    Some(rest.split_once(':')?.0)
}

/// Thread, CPU and time of a line: `name 123 [001] 12.345678: …`.
fn head(line: &str) -> Option<(u32, u16, u64)> {
    let (before, rest) = line.split_once('[')?;
    let (cpu, rest) = rest.split_once(']')?;
    let time = rest.trim_start().split_once(": ")?.0;
    let (seconds, fraction) = time.split_once('.')?;
    // perf prints microseconds, or nanoseconds with --ns.
    let fraction_ns = format!("{fraction:0<9}").get(..9)?.parse::<u64>().ok()?;
    let ns = seconds.parse::<u64>().ok()? * 1_000_000_000 + fraction_ns;
    Some((before.split_whitespace().last()?.parse().ok()?, cpu.parse().ok()?, ns))
}

/// The value after `name=`, up to the next space.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("{name}="))?;
    rest.split_whitespace().next()
}

/// A task as `comm=a name pid=7`, or as `a name:7 [120]`.
fn task(text: &str, prefix: &str) -> Option<(u32, String)> {
    if let Some((_, rest)) = text.split_once(&format!("{prefix}comm=")) {
        let (name, rest) = rest.split_once(&format!(" {prefix}pid="))?;
        return Some((rest.split_whitespace().next()?.parse().ok()?, name.to_owned()));
    }
    let (task, _) = text.trim().split_once(" [")?;
    let (name, id) = task.rsplit_once(':')?;
    Some((id.parse().ok()?, name.to_owned()))
}

fn switch(line: &str, names: &mut BTreeMap<u32, String>) -> Option<TraceEvent> {
    let (_, cpu, ns) = head(line)?;
    let details = line.split_once("sched_switch:")?.1;
    let (previous, next) = details.split_once("==>")?;
    let state = match field(previous, "prev_state") {
        Some(state) => state,
        None => previous.split_whitespace().last()?,
    };
    let ((from, from_name), (to, to_name)) = (task(previous, "prev_")?, task(next, "next_")?);
    names.extend([(from, from_name), (to, to_name)]);
    // R and R+: it could go on.
    let state = u8::from(!state.starts_with('R'));
    Some(TraceEvent { ns, kind: TraceKind::Switch, state, cpu, task: from, other: to, tgid: to })
}

fn waking(line: &str, names: &mut BTreeMap<u32, String>) -> Option<TraceEvent> {
    let (waker, cpu, ns) = head(line)?;
    let (woken, name) = task(line.split_once("sched_waking:")?.1, "")?;
    names.insert(woken, name);
    Some(TraceEvent { ns, kind: TraceKind::Waking, state: 0, cpu, task: woken, other: waker, tgid: woken })
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
        let short = "\
            swapper     0 [001] 100.000005000: sched:sched_switch: swapper/1:0 [120] R ==> a name:7 [120]
            a name     7 [001] 100.000007000: sched:sched_waking: other:8 [120] CPU:000
            a name     7 [001] 100.000009000: sched:sched_switch: a name:7 [120] S ==> other:8 [120]
";
        assert_eq!(read_perf_script(short).unwrap().events, trace.events);
    }

    #[test]
    fn other_text_is_refused_with_its_line() {
        assert_eq!(read_perf_script("hello\n"), Err(PerfError::Empty));
        let torn = FIELDS.replace("next_pid=7", "next_pid=seven");
        let error = read_perf_script(&torn).unwrap_err().to_string();
        assert!(error.starts_with("line 1: this is no event of the scheduler"), "{error}");
    }
}
