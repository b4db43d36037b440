/* The policy of Linux 2.3 and 2.4: what a task is worth, and what happens when all slices are used up.
 *
 * Counters are kept in nanoseconds and read in ticks of 10 ms, rounded up, as the tick was when HZ was 100. */
#pragma once

#include "../bpf/words.h"

#define TICK_NS (10 * MS)
#define SAME_CPU_BONUS 15 /* PROC_CHANGE_PENALTY of i386, in kernels built for several CPUs */
#define NOBODY -1000
#define EPOCHS_MAX 12

enum version { LINUX_2_3 = 23, LINUX_2_4 = 24 };

/* A task as the policy sees it. */
struct goodness_task {
    u64 counter_ns;
    u64 mm;
    u64 epoch;
    u64 started_ns;
    u64 slice_avg_ns;
    s32 nice;
    s32 cpu; /* where it ran last */
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

/* What a task gets when counters are recalculated: 20 ticks at nice 0 in 2.3, 6 in 2.4. */
POLICY u64 fresh_ns(s32 nice, u64 version)
{
    return (version == LINUX_2_3 ? priority_of(nice) : (priority_of(nice) >> 2) + 1) * TICK_NS;
}

/* The recalculation is of all tasks in the system. Whoever was not looked at meanwhile makes up for it here; after a few
 * epochs a counter does not change any more. */
POLICY void catch_up(struct goodness_task *task, u64 epoch, u64 version)
{
    u64 behind = epoch - task->epoch;
    int i;

    if (!behind)
        return;
    for (i = 0; i < EPOCHS_MAX; i++) {
        if (i < behind)
            task->counter_ns = task->counter_ns / 2 + fresh_ns(task->nice, version);
    }
    task->epoch = epoch;
}

/* What a task is worth on `cpu` after one whose memory is `mm`. `bonus` is for the CPU where it ran last. */
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

/* The same for the task that ran until now. In 2.3 one that has yielded is worth nothing for once, and when nobody else can
 * run that looks as if all slices were used up: the recalculation that IBM found. */
POLICY s32 goodness_of_previous(struct goodness_task *task, s32 cpu, u64 version, s32 bonus)
{
    if (!task->yielded)
        return goodness(task, cpu, task->mm, version, bonus);
    task->yielded = 0;
    return version == LINUX_2_3 ? 0 : -1;
}

/* Strictly better wins: the previous task, then the earliest in the queue, wins ties. */
POLICY int is_better(s32 worth, s32 best)
{
    return worth > best;
}

/* Whether all slices are used up. -1 is not: that is somebody who has yielded in 2.4. */
POLICY int must_recalculate(s32 best)
{
    return best == 0;
}

/* In 2.4 who yields when nobody waits goes on. */
POLICY int yields(u64 waiting, u64 version)
{
    return version == LINUX_2_3 || waiting > 0;
}

/* Where a task joins the queue. Slices that have ended mattered for ties alone. */
POLICY enum end joins(enum reason reason)
{
    return reason == YIELDED || reason == EXPIRED ? TAIL : HEAD;
}

/* Whether a woken task takes the CPU from the one that runs there. */
POLICY int preempts(const struct goodness_task *woken, const struct goodness_task *current, s32 cpu, u64 version,
                    s32 bonus)
{
    s32 gain = goodness(woken, cpu, current->mm, version, bonus) - goodness(current, cpu, current->mm, version, bonus);

    return gain > (version == LINUX_2_4 ? 1 : 0);
}

/* 2.3: two tasks that both run for a moment only do not flush a cache, so the woken one may wait for its CPU. */
POLICY int is_worth_waiting(u64 slice_avg_ns, u64 slice_avg_of_current_ns, u64 cache_flush_ns)
{
    return slice_avg_ns + slice_avg_of_current_ns < cache_flush_ns;
}

POLICY u64 new_average(u64 slice_avg_ns, u64 this_ns)
{
    return (slice_avg_ns + this_ns) / 2;
}

/* fork: what is left is shared, so that nobody gains by it. */
POLICY u64 childs_share(u64 *parents_ns)
{
    u64 ticks = ticks_of(*parents_ns), childs = (ticks + 1) / 2;

    *parents_ns = ticks / 2 * TICK_NS;
    return childs * TICK_NS;
}
