//! Makes work that can be simulated from a trace: each task in its own CPU time, with wake-ups between tasks.

use std::collections::{BTreeMap, BTreeSet};

use klatch_record::{Replay, ReplayStep, ReplayTask};

use super::file::{TraceEvent, TraceFile, TraceKind};

/// What is known of a task at some moment.
#[derive(Default)]
struct Task {
    steps: Vec<ReplayStep>,
    /// CPU time since the last step.
    ran_ns: u64,
    asleep: bool,
    /// When it was woken, if it has not run since.
    woken_ns: Option<u64>,
    process: u32,
}

#[derive(Default)]
struct Reader {
    tasks: Vec<Task>,
    /// The index of each thread id.
    index: BTreeMap<u32, u32>,
    /// Since when each CPU runs its task, and which.
    running: BTreeMap<u16, (u64, u32)>,
    replay: Replay,
}

/// What the tasks of a trace do, without the times for which they waited for a CPU. A task that was preempted goes on with the same
/// step. Idle time is not work.
pub fn replay(trace: &TraceFile) -> Replay {
    let start_ns = trace.events.first().map_or(0, |event| event.ns);
    let mut reader = Reader::default();
    for event in &trace.events {
        match event.kind {
            TraceKind::Switch => reader.switch(event),
            TraceKind::Waking => reader.waking(event, start_ns),
            TraceKind::Migrate => {}
        }
    }
    reader.finish(trace)
}

impl Reader {
    /// The index of a thread. One that first appears when it is woken has slept before.
    fn task(&mut self, thread: u32, asleep: bool) -> u32 {
        let new = self.tasks.len() as u32;
        *self.index.entry(thread).or_insert_with(|| {
            let steps = if asleep { vec![ReplayStep::Sleep] } else { Vec::new() };
            self.tasks.push(Task { steps, asleep, ..Task::default() });
            new
        })
    }

    fn switch(&mut self, event: &TraceEvent) {
        if let Some((since_ns, task)) = self.running.remove(&event.cpu) {
            let task = &mut self.tasks[task as usize];
            task.ran_ns += event.ns - since_ns;
            if event.state != 0 {
                task.flush();
                task.steps.push(ReplayStep::Sleep);
                task.asleep = true;
            }
        }
        if event.other == 0 {
            return;
        }
        let next = self.task(event.other, false);
        self.running.insert(event.cpu, (event.ns, next));
        let task = &mut self.tasks[next as usize];
        task.process = event.tgid;
        // It was woken while it went to sleep, before its CPU switched: no sleep in effect.
        if std::mem::take(&mut task.asleep) {
            task.steps.pop();
        }
        if let Some(woken_ns) = task.woken_ns.take() {
            self.replay.waits_ns.push(event.ns - woken_ns);
        }
    }

    /// A wake-up counts if it ends a sleep. It belongs to the task that runs on the CPU, or else comes from outside.
    fn waking(&mut self, event: &TraceEvent, start_ns: u64) {
        let woken = self.task(event.task, true);
        let task = &mut self.tasks[woken as usize];
        task.process = event.tgid;
        if !std::mem::take(&mut task.asleep) {
            return;
        }
        task.woken_ns = Some(event.ns);
        match self.running.get_mut(&event.cpu) {
            Some((since_ns, waker)) if event.other != 0 && *waker != woken => {
                let waker = &mut self.tasks[*waker as usize];
                waker.ran_ns += event.ns - *since_ns;
                *since_ns = event.ns;
                waker.flush();
                waker.steps.push(ReplayStep::Wake(woken));
            }
            _ => self.replay.outside.push((event.ns - start_ns, woken)),
        }
    }

    fn finish(mut self, trace: &TraceFile) -> Replay {
        let processes: BTreeSet<u32> = self.tasks.iter().map(|task| task.process).collect();
        let mut names = vec![String::new(); self.tasks.len()];
        self.index.iter().for_each(|(thread, index)| names[*index as usize] = trace.name(*thread));
        for (mut task, name) in self.tasks.into_iter().zip(names) {
            task.flush();
            let process = processes.iter().position(|one| *one == task.process).unwrap_or(0) as u32;
            self.replay.tasks.push(ReplayTask { name, process, steps: task.steps });
        }
        let cpus: BTreeSet<u16> = trace.events.iter().map(|event| event.cpu).collect();
        self.replay.cpus = cpus.len() as u32;
        self.replay.waits_ns.sort_unstable();
        self.replay
    }
}

impl Task {
    /// Turns the CPU time so far into a step.
    fn flush(&mut self) {
        match std::mem::take(&mut self.ran_ns) {
            0 => {}
            ns => self.steps.push(ReplayStep::Run(ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use ReplayStep::{Run, Sleep, Wake};

    use super::*;

    fn event(ns: u64, kind: TraceKind, state: u8, task: u32, other: u32) -> TraceEvent {
        TraceEvent { ns, kind, state, cpu: 0, task, other, tgid: 100 }
    }

    #[test]
    fn preemptions_join_and_wake_ups_belong_to_the_running_task() {
        use TraceKind::{Switch, Waking};
        let events = vec![
            event(100, Switch, 1, 0, 7),
            event(130, Waking, 0, 8, 7),
            event(150, Switch, 0, 7, 8),
            // It is awake: this wake-up ends no sleep.
            event(160, Waking, 0, 7, 8),
            event(170, Switch, 1, 8, 7),
            event(200, Switch, 1, 7, 0),
            // A timer, while the CPU is idle.
            event(300, Waking, 0, 7, 0),
            event(310, Switch, 1, 0, 7),
            // Another CPU wakes it before it has switched.
            event(325, Waking, 0, 7, 9),
            event(330, Switch, 1, 7, 0),
            event(340, Switch, 1, 0, 7),
            event(345, Switch, 1, 7, 0),
        ];
        let trace = TraceFile { events, lost: Some(0), names: BTreeMap::new() };
        let replay = replay(&trace);
        assert_eq!(replay.tasks[0].steps, [Run(30), Wake(1), Run(50), Sleep, Run(20), Run(5), Sleep]);
        assert_eq!(replay.tasks[1].steps, [Sleep, Run(20), Sleep]);
        assert_eq!(replay.outside, [(200, 0)]);
        assert_eq!((replay.waits_ns, replay.cpus), (vec![10, 20], 1));
    }
}
