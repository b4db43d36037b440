/* The policy of Linux 2.3 and 2.4: the goodness of a task, and the recalculation when all slices are used up.
 *
 * Counters hold nanoseconds. The policy reads them in ticks, rounded up. */
#pragma once

#include "types.h"

#define SAME_CPU_BONUS 15 /* PROC_CHANGE_PENALTY of i386, in kernels built for several CPUs */
#define NO_TASK -1000
#define EPOCHS_MAX 12

enum version { LINUX_2_3 = 23, LINUX_2_4 = 24 };

/* The policy's data of a task. What a walk reads are the first 24 bytes, so that they fit into a cache line of 32 although the
 * kernel's records of such data do not begin with a line. */
struct goodness_task {
    u64 counter_ns;
    u64 mm;
    u32 epoch;
    s16 nice;
    s16 cpu; /* the last one it ran on */
    u64 started_ns;
    u64 slice_avg_ns;
    u32 yielded;
    u32 sync; /* the waker is about to sleep */
};

POLICY s32 ticks_of(u64 counter_ns)
{
    return (counter_ns + TICK_NS - 1) / TICK_NS;
}

POLICY s32 priority_of(s32 nice)
{
    return 20 - nice;
}

/* The slice that a recalculation adds: at nice 0, 20 ticks in 2.3 and 6 in 2.4. */
POLICY u64 full_slice_ns(s32 nice, u64 version)
{
    return (version == LINUX_2_3 ? priority_of(nice) : (priority_of(nice) >> 2) + 1) * TICK_NS;
}

/* Applies the recalculations that the task has missed. The original recalculated all tasks at once. After a few epochs a
 * counter no longer changes. */
POLICY void catch_up(struct goodness_task *task, u64 epoch, u64 version)
{
    u32 behind = (u32)epoch - task->epoch;
    u32 i;

    if (!behind)
        return;
    for (i = 0; i < EPOCHS_MAX; i++) {
        if (i < behind)
            task->counter_ns = task->counter_ns / 2 + full_slice_ns(task->nice, version);
    }
    task->epoch = epoch;
}

/* Charges `ns` of run time. */
POLICY void charge_run(struct goodness_task *task, u64 ns)
{
    task->counter_ns = ns < task->counter_ns ? task->counter_ns - ns : 0;
}

/* Goodness of a task on `cpu` after a task with the memory `mm`. `bonus` is for the CPU where it ran last. */
POLICY s32 goodness(const struct goodness_task *task, s32 cpu, u64 mm, u64 version, s32 bonus)
{
    s32 worth = ticks_of(task->counter_ns);

    if (!worth)
        return 0;
    if (task->cpu == cpu)
        worth += bonus;
    if (task->mm == mm || (version == LINUX_2_4 && !task->mm))
        worth += 1;
    return worth + priority_of(task->nice);
}

/* Goodness of the previous task. In 2.3 a task that has yielded counts as 0 once. If no other task can run, that is
 * mistaken for used-up slices: the needless recalculation that IBM reported. In 2.4 it stays the worst after a recalculation. */
POLICY s32 goodness_of_previous(struct goodness_task *task, s32 cpu, u64 version, s32 bonus)
{
    if (!task->yielded)
        return goodness(task, cpu, task->mm, version, bonus);
    if (version == LINUX_2_4)
        return -1;
    task->yielded = 0;
    return 0;
}

/* Strict, so the previous task wins ties, then the earliest in the queue. */
POLICY int is_better(s32 worth, s32 best)
{
    return worth > best;
}

/* Whether all slices are used up. In 2.4 a best of -1 is a task that has yielded, and starts no epoch. */
POLICY int must_recalculate(s32 best)
{
    return best == 0;
}

/* In 2.4 a yield has no effect when no task waits. */
POLICY int yield_has_effect(u64 waiting, u64 version)
{
    return version == LINUX_2_3 || waiting > 0;
}

/* The end of the queue where a task is inserted. For an expired slice it only decides ties. */
POLICY enum end queue_end(enum reason reason)
{
    return reason == YIELDED || reason == EXPIRED ? TAIL : HEAD;
}

/* By how much a woken task is better than the current task of `cpu`. */
POLICY s32 preemption_gain(const struct goodness_task *woken, const struct goodness_task *current, s32 cpu, u64 version,
                           s32 bonus)
{
    return goodness(woken, cpu, current->mm, version, bonus) - goodness(current, cpu, current->mm, version, bonus);
}

/* A larger gain preempts. */
POLICY s32 preemption_threshold(u64 version)
{
    return version == LINUX_2_4 ? 1 : 0;
}

/* Whether a task that gave up its CPU and is still runnable is offered to the others, as a woken one is. */
POLICY int is_offered(enum reason reason, u64 version)
{
    return version == LINUX_2_3 || reason != YIELDED;
}

/* 2.3: when both tasks run only briefly, the woken one keeps its cache by waiting for its own CPU. */
POLICY int should_wait_for_cpu(u64 slice_avg_ns, u64 slice_avg_of_current_ns, u64 cache_flush_ns)
{
    return slice_avg_ns + slice_avg_of_current_ns < cache_flush_ns;
}

POLICY u64 new_average(u64 slice_avg_ns, u64 this_ns)
{
    return (slice_avg_ns + this_ns) / 2;
}

/* Halves the parent's counter at fork, so that forking gains no time. Returns the child's half, which has the odd tick. */
POLICY u64 split_with_child(u64 *parents_ns)
{
    u64 ticks = ticks_of(*parents_ns), childs = (ticks + 1) / 2;

    *parents_ns = ticks / 2 * TICK_NS;
    return childs * TICK_NS;
}
