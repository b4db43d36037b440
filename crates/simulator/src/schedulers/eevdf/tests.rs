//! The definition: an example of the paper, rules worked by hand, and what holds in every schedule.

use super::*;
use crate::random::Random;

const MS: i64 = 1_000_000;
const SLICE_NS: i64 = 3 * MS;
const LINUX_6_18: Rules = Rules { runs_to_parity: true, delays_dequeue: true, yield_forfeits: true };

/// One CPU and its tasks.
struct OneCpu {
    queue: Queue,
    tasks: Vec<Task>,
    now_ns: u64,
}

impl OneCpu {
    fn new(rules: Rules, slices_ns: &[i64]) -> Self {
        let tasks = slices_ns.iter().map(|&slice_ns| Task::new(slice_ns)).collect();
        Self { queue: Queue::new(rules), tasks, now_ns: 0 }
    }

    /// Tasks that are all in the queue.
    fn with_all(rules: Rules, tasks: usize) -> Self {
        let mut cpu = Self::new(rules, &vec![SLICE_NS; tasks]);
        (0..tasks as TaskId).for_each(|task| cpu.queue.join(&mut cpu.tasks, task, None));
        cpu
    }

    fn run_for(&mut self, ns: i64) -> bool {
        self.now_ns += ns as u64;
        self.queue.charge(&mut self.tasks, self.now_ns)
    }

    fn decide(&mut self) -> Option<TaskId> {
        let next = loop {
            match self.queue.pick(&self.tasks) {
                Some(task) if self.tasks[task as usize].delayed => {
                    self.queue.expire(&mut self.tasks, task);
                }
                next => break next,
            }
        };
        self.queue.run(&mut self.tasks, next);
        next
    }

    fn wake(&mut self, task: TaskId) {
        match self.tasks[task as usize].delayed {
            true => self.queue.rejoin(&mut self.tasks, task),
            false => self.queue.join(&mut self.tasks, task, None),
        }
    }

    fn lag_ns(&self, task: TaskId) -> i64 {
        self.queue.virtual_ns() - self.tasks[task as usize].ran_ns
    }
}

/// Two clients of equal weight, as in the example of the paper: one with requests of length 2 from time 0 on, one with requests of length 1
/// from time 1 on, and a quantum of 1. The turns are worked by hand from the paper's definitions.
#[test]
fn the_paper_s_two_clients_take_turns_by_eligibility_and_deadline() {
    let every_quantum = Rules { runs_to_parity: false, ..LINUX_6_18 };
    let mut cpu = OneCpu::new(every_quantum, &[2 * MS, MS]);
    cpu.queue.join(&mut cpu.tasks, 0, None);
    let mut turns = Vec::new();
    for quantum in 0..8 {
        if quantum == 1 {
            cpu.queue.join(&mut cpu.tasks, 1, None);
        }
        // Twice the virtual time, in ms, before each quantum.
        assert_eq!(2 * cpu.queue.virtual_ns() / MS, [0, 2, 3, 4, 5, 6, 7, 8][quantum]);
        turns.push(cpu.decide().unwrap());
        cpu.run_for(MS);
        let requests = [0, 1].map(|client: usize| cpu.tasks[client].deadline_ns / MS);
        // Deadlines: client 1 has 2, 4, 6, and client 2 has 2, 3, 4, 5, 6.
        assert_eq!(
            requests,
            [[2, 0], [2, 3], [4, 3], [4, 4], [4, 4], [4, 5], [6, 5], [6, 6]][quantum],
            "after quantum {quantum}"
        );
    }
    assert_eq!(turns, [0, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn lag_survives_sleep_and_does_not_depend_on_how_many_wait() {
    for members in [1, 2, 7] {
        let mut cpu = OneCpu::with_all(LINUX_6_18, members + 1);
        cpu.decide();
        // Task 0 waits no longer than one that is owed 1 ms.
        cpu.run_for(members as i64 * MS);
        let newcomer = members as TaskId;
        cpu.queue.leave(&mut cpu.tasks, newcomer);
        let lag_ns = cpu.tasks[members].lag_ns;
        assert_eq!(lag_ns, members as i64 * MS / (members as i64 + 1));
        cpu.queue.join(&mut cpu.tasks, newcomer, None);
        assert!((cpu.lag_ns(newcomer) - lag_ns).abs() <= 1, "{members} members: {}", cpu.lag_ns(newcomer));
    }
}

#[test]
fn lag_is_limited_to_two_slices_when_a_task_leaves() {
    let mut cpu = OneCpu::with_all(LINUX_6_18, 2);
    assert_eq!(cpu.decide(), Some(0));
    cpu.run_for(100 * MS);
    assert_eq!(cpu.lag_ns(1), 50 * MS);
    cpu.queue.leave(&mut cpu.tasks, 1);
    assert_eq!(cpu.tasks[1].lag_ns, 2 * SLICE_NS);
    assert_eq!(Task::new(MS).lag_max_ns(), 4 * MS, "a tick");
}

#[test]
fn a_task_that_is_owed_nothing_runs_until_its_slice_is_used_up_unless_it_is_ahead() {
    let mut cpu = OneCpu::with_all(LINUX_6_18, 2);
    assert_eq!(cpu.decide(), Some(0));
    assert!(!cpu.run_for(MS));
    // It is ahead of the other task by 1 ms, so it is not eligible, and not protected.
    assert_eq!(cpu.decide(), Some(1));
    assert!(!cpu.run_for(MS));
    // Both are eligible, and task 0 has the earlier deadline or an equal one. Task 1 is protected.
    assert_eq!(cpu.decide(), Some(1));
    let mut without = OneCpu::with_all(Rules { runs_to_parity: false, ..LINUX_6_18 }, 2);
    assert_eq!(without.decide(), Some(0));
    without.run_for(MS);
    assert_eq!(without.decide(), Some(1));
    without.run_for(MS);
    assert_eq!(without.decide(), Some(0));
    // Alone, a task has its slices one after the other, and nobody is to decide.
    let mut alone = OneCpu::with_all(LINUX_6_18, 1);
    alone.decide();
    assert!(!alone.run_for(2 * SLICE_NS));
    assert_eq!(alone.tasks[0].deadline_ns, 3 * SLICE_NS);
}

#[test]
fn a_task_that_sleeps_while_it_is_ahead_stays_until_it_is_not() {
    let mut cpu = OneCpu::with_all(LINUX_6_18, 2);
    assert_eq!(cpu.decide(), Some(0));
    cpu.run_for(2 * MS);
    cpu.queue.sleep(&mut cpu.tasks);
    assert!(cpu.tasks[0].delayed);
    assert_eq!((cpu.decide(), cpu.queue.members(), cpu.queue.runnable_waiting()), (Some(1), 2, 0));
    // Awake before it has caught up, it has the negative lag that is left.
    cpu.run_for(MS);
    let mut early = OneCpu { queue: cpu.queue.clone(), tasks: cpu.tasks.clone(), ..cpu };
    early.wake(0);
    assert_eq!((early.lag_ns(0), early.queue.runnable_waiting()), (-MS / 2, 1));
    // After that, it starts anew without any.
    cpu.run_for(2 * MS);
    assert_eq!(cpu.lag_ns(0), MS / 2);
    let mut late = OneCpu { queue: cpu.queue.clone(), tasks: cpu.tasks.clone(), ..cpu };
    late.wake(0);
    assert_eq!((late.lag_ns(0), late.queue.members()), (0, 2));
    // Chosen asleep, it leaves without lag.
    cpu.run_for(SLICE_NS);
    assert_eq!((cpu.decide(), cpu.queue.members(), cpu.tasks[0].lag_ns), (Some(1), 1, 0));
}

#[test]
fn without_delayed_dequeue_a_sleeper_takes_its_debt_along() {
    let mut cpu = OneCpu::with_all(Rules { delays_dequeue: false, ..LINUX_6_18 }, 2);
    assert_eq!(cpu.decide(), Some(0));
    cpu.run_for(2 * MS);
    cpu.queue.sleep(&mut cpu.tasks);
    assert_eq!((cpu.queue.members(), cpu.tasks[0].lag_ns), (1, -MS));
    assert_eq!(cpu.decide(), Some(1));
    cpu.run_for(SLICE_NS);
    cpu.wake(0);
    assert_eq!(cpu.lag_ns(0), -MS);
}

#[test]
fn a_yield_uses_up_the_slice_or_puts_off_the_deadline() {
    for (yield_forfeits, ran_ns) in [(true, SLICE_NS), (false, 0)] {
        let mut cpu = OneCpu::with_all(Rules { yield_forfeits, ..LINUX_6_18 }, 2);
        cpu.decide();
        cpu.queue.yields(&mut cpu.tasks);
        assert_eq!((cpu.tasks[0].ran_ns, cpu.tasks[0].deadline_ns), (ran_ns, 2 * SLICE_NS));
        // One that is ahead gives up nothing more.
        cpu.queue.yields(&mut cpu.tasks);
        assert_eq!(cpu.tasks[0].ran_ns, ran_ns);
    }
    let mut alone = OneCpu::with_all(LINUX_6_18, 1);
    alone.decide();
    alone.queue.yields(&mut alone.tasks);
    assert_eq!(alone.tasks[0].ran_ns, 0);
}

/// Tasks that always run: the bounds of the paper, with a slice and a tick in place of a quantum.
#[test]
fn in_every_schedule_lags_add_up_to_zero_and_are_bounded_and_nobody_starves() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let tasks = 2 + random.below(9) as usize;
        let tick_ns = (1 + random.below(4)) as i64 * MS;
        let rules = Rules { runs_to_parity: random.below(2) == 0, ..LINUX_6_18 };
        let mut cpu = OneCpu::with_all(rules, tasks);
        let bound_ns = SLICE_NS + tick_ns;
        let mut waits_since_ns = vec![0; tasks];
        for _ in 0..2_000 {
            let running = cpu.decide().unwrap() as usize;
            let waited_ns = cpu.now_ns - waits_since_ns[running];
            assert!(waited_ns <= tasks as u64 * bound_ns as u64, "task {running} of {tasks}: {waited_ns}");
            cpu.run_for(1 + random.below(tick_ns as u64) as i64);
            waits_since_ns[running] = cpu.now_ns;
            let lags_ns: Vec<i64> = (0..tasks as TaskId).map(|task| cpu.lag_ns(task)).collect();
            // Virtual time is rounded down.
            assert!((-(tasks as i64)..=0).contains(&lags_ns.iter().sum()), "{lags_ns:?}");
            assert!(lags_ns.iter().all(|lag_ns| lag_ns.abs() <= bound_ns), "{lags_ns:?}");
        }
        let share_ns = cpu.now_ns as i64 / tasks as i64;
        for task in &cpu.tasks {
            assert!((task.ran_ns - share_ns).abs() <= bound_ns, "{} of {share_ns}", task.ran_ns);
        }
    }
}

/// Tasks that sleep, wake and yield as well: no member is lost, and somebody is always eligible.
#[test]
fn with_sleepers_and_yields_lags_still_add_up_to_zero() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let tasks = 2 + random.below(9) as usize;
        let [delays_dequeue, yield_forfeits] = [(); 2].map(|()| random.below(2) == 0);
        let mut cpu = OneCpu::with_all(Rules { delays_dequeue, yield_forfeits, ..LINUX_6_18 }, tasks);
        let mut asleep = vec![false; tasks];
        for _ in 0..2_000 {
            let running = cpu.decide();
            assert_eq!(running.is_none(), asleep.iter().all(|asleep| *asleep));
            cpu.run_for(1 + random.below(MS as u64) as i64);
            match (random.below(4), running) {
                (0, Some(running)) => {
                    cpu.queue.sleep(&mut cpu.tasks);
                    asleep[running as usize] = true;
                }
                (1, Some(_)) => cpu.queue.yields(&mut cpu.tasks),
                _ => {
                    let woken = random.below(tasks as u64) as usize;
                    if std::mem::take(&mut asleep[woken]) {
                        cpu.wake(woken as TaskId);
                    }
                }
            }
            let members = (0..tasks).filter(|&task| !asleep[task] || cpu.tasks[task].delayed);
            let members: Vec<TaskId> = members.map(|task| task as TaskId).collect();
            assert_eq!(members.len(), cpu.queue.members() as usize);
            let lags_ns: i64 = members.iter().map(|&task| cpu.lag_ns(task)).sum();
            assert!((-(members.len() as i64)..=0).contains(&lags_ns), "{lags_ns}");
            assert!(cpu.tasks.iter().all(|task| task.lag_ns.abs() <= task.lag_max_ns()));
        }
    }
}

/// On several CPUs an idle one pulls a task that is not cache-hot, with the lag that it has.
#[test]
fn an_idle_cpu_pulls_a_waiting_task_and_keeps_its_distance_from_the_deadline() {
    let placement = || Placement::new(2, &[1; 3], &[]);
    let mut eevdf = Eevdf::new(EevdfKnobs::LINUX_6_18, &Topology::flat(2), placement(), 3);
    let busy = [Some(0), None];
    let view =
        |now_ns| View { current: &busy, idle: &[false, false], idle_cpus: 0, idle_since_ns: &[0, 0], now_ns };
    for task in [0, 2] {
        assert_eq!(eevdf.wake(task, &view(0)).kick, Some(0));
    }
    assert_eq!(eevdf.decide(0, None, Cause::Preemption, &view(0)).next, Some(0));
    assert_eq!(eevdf.decide(1, None, Cause::Preemption, &view(1_000)).next, None, "task 2 is cache-hot");
    let decision = eevdf.decide(1, None, Cause::Preemption, &view(CACHE_HOT_NS));
    assert_eq!((decision.next, decision.lines_read), (Some(2), 1));
    let task = &eevdf.tasks[2];
    assert_eq!(task.deadline_ns - task.ran_ns, 2 * BASE_SLICE_NS);
    assert_eq!((eevdf.queue_length(0), eevdf.queue_length(1)), (1, 1));
}
