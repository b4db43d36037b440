use super::*;

/// Tasks of one process, of which `running` have a CPU each and the others wait, the last one first.
fn goodness(knobs: GoodnessKnobs, tasks: usize, running: usize) -> Goodness {
    let mut goodness =
        Goodness::new(knobs, Placement::new(running, &vec![1; tasks], &[]), &vec![1; tasks], running);
    for task in 0..tasks as TaskId {
        goodness.queue.push_front(&mut goodness.links, task);
    }
    for task in 0..running {
        goodness.flags[task] |= RUNNING;
        goodness.tasks[task].cpu = task as i16;
    }
    goodness
}

/// The first CPU, whose task is 0, decides. All CPUs are busy.
fn decide(goodness: &mut Goodness, running: usize, cause: Cause) -> Decision {
    let current: Vec<_> = (0..running as TaskId).map(Some).collect();
    goodness.decide(0, Some(0), cause, &busy(&current, &vec![false; running], &vec![0; running]))
}

fn busy<'a>(current: &'a [Option<TaskId>], idle: &'a [bool], idle_since_ns: &'a [u64]) -> View<'a> {
    View { current, idle, idle_cpus: 0, idle_since_ns, now_ns: 0 }
}

#[test]
fn a_tie_goes_to_the_previous_task_or_to_the_earliest_in_the_queue() {
    for (knobs, next) in [(GoodnessKnobs::LINUX_2_4_14, 0), (GoodnessKnobs::LINUX_2_4_17, 1)] {
        let mut goodness = goodness(knobs, 2, 1);
        assert_eq!(decide(&mut goodness, 1, Cause::Preemption).next, Some(next));
    }
}

#[test]
fn a_better_task_at_a_later_place_wins_without_ties() {
    let mut goodness = goodness(GoodnessKnobs::LINUX_2_4_17, 2, 1);
    goodness.tasks[1].charge_run(10_000_000);
    assert_eq!(decide(&mut goodness, 1, Cause::Preemption).next, Some(0));
    assert_eq!(goodness.flags[0] & RUNNING, RUNNING, "it runs again");
}

#[test]
fn a_task_that_yielded_alone_runs_on() {
    let mut goodness = goodness(GoodnessKnobs::LINUX_2_4_17, 1, 1);
    goodness.tasks[0].yielded = 1;
    let decision = decide(&mut goodness, 1, Cause::Yield);
    assert_eq!((decision.next, decision.recalculated), (Some(0), 0));
}

#[test]
fn a_preempted_task_is_offered_to_other_cpus_if_there_are_any() {
    for (running, offers) in [(1, false), (2, true)] {
        let mut goodness = goodness(GoodnessKnobs::LINUX_2_4_17, 3, running);
        assert_eq!(decide(&mut goodness, running, Cause::Preemption).offers, offers);
    }
}

#[test]
fn a_task_that_yielded_is_offered_only_by_the_kernels_with_the_yield_bug() {
    for (offers_yielded, offers) in [(false, false), (true, true)] {
        let mut goodness = goodness(GoodnessKnobs { offers_yielded, ..GoodnessKnobs::LINUX_2_4_14 }, 3, 2);
        goodness.tasks[0].yielded = 1;
        assert_eq!(decide(&mut goodness, 2, Cause::Yield).offers, offers);
    }
}

#[test]
fn an_offered_task_preempts_its_successor_if_that_is_worse() {
    let mut goodness = goodness(GoodnessKnobs::LINUX_2_4_14, 3, 2);
    goodness.tasks[0].yielded = 1;
    goodness.tasks[2].charge_run(30_000_000);
    assert_eq!(decide(&mut goodness, 2, Cause::Yield).next, Some(2));
    let (current, none, never) = ([Some(2), Some(1)], [false; 2], [0; 2]);
    let view = busy(&current, &none, &never);
    assert_eq!(goodness.offer(0, &view).kick, Some(0));
    assert_eq!(goodness.offer(2, &view).kick, None, "it runs");
}

#[test]
fn a_task_that_yielded_competes_only_with_the_patch_and_loses_ties() {
    // The other task's goodness is as high, or lower.
    for (yielded_competes, ran_ns, next) in [(false, 10_000_000, 1), (true, 10_000_000, 0), (true, 0, 1)] {
        let mut goodness = goodness(GoodnessKnobs { yielded_competes, ..GoodnessKnobs::LINUX_2_4_17 }, 2, 1);
        goodness.tasks[0].yielded = 1;
        goodness.tasks[1].charge_run(ran_ns);
        assert_eq!(decide(&mut goodness, 1, Cause::Yield).next, Some(next), "{yielded_competes}, {ran_ns}");
    }
}

#[test]
fn a_task_that_yielded_is_the_worst_after_a_recalculation_too_in_2_4() {
    for knobs in [GoodnessKnobs::LINUX_2_4_14, GoodnessKnobs::LINUX_2_4_17] {
        let mut goodness = goodness(knobs, 2, 1);
        goodness.tasks[0].yielded = 1;
        goodness.tasks[1].charge_run(u64::MAX);
        let decision = decide(&mut goodness, 1, Cause::Yield);
        assert_eq!((decision.next, decision.recalculated), (Some(1), 2));
    }
}
