/* The policy of MQ, Kravetz and Franke's multi-queue scheduler for Linux 2.4: the best task that each queue publishes. Slices
 * and epochs are those of 2.4. */
#pragma once

#include "goodness.h"

/* Goodness on any CPU: without the bonuses for memory and CPU. */
POLICY s32 na_goodness(const struct goodness_task *task)
{
    s32 ticks = ticks_of(task->counter_ns);

    if (task->yielded)
        return -1;
    return ticks ? ticks + priority_of(task->nice) : 0;
}

/* Goodness in its own queue: with the bonus for memory. */
POLICY s32 local_goodness(const struct goodness_task *task, u64 mm)
{
    s32 worth = na_goodness(task);

    return worth > 0 && (task->mm == mm || !task->mm) ? worth + 1 : worth;
}

/* The goodness that another queue's best task must exceed to be stolen. */
POLICY s32 with_affinity(s32 best)
{
    return best > 0 ? best + SAME_CPU_BONUS : best;
}

/* The best waiting task of a queue, published to the other CPUs. */
struct mq_cache {
    s32 worth; /* NO_TASK if the queue publishes none */
    s32 pid;
};

/* Replaces the cached task if this one is better. */
POLICY void offer_to_cache(struct mq_cache *cache, s32 worth, s32 pid)
{
    if (worth > cache->worth) {
        cache->worth = worth;
        cache->pid = pid;
    }
}

POLICY void clear_cache(struct mq_cache *cache)
{
    cache->worth = NO_TASK;
    cache->pid = 0;
}

/* The best two tasks of a walk. */
struct mq_walk {
    struct mq_cache best, second;
};

/* Adds a task to the walk. Returns whether it is the best so far. */
POLICY int offer_to_walk(struct mq_walk *walk, s32 worth, s32 pid)
{
    if (worth > walk->best.worth) {
        walk->second = walk->best;
        walk->best.worth = worth;
        walk->best.pid = pid;
        return 1;
    }
    offer_to_cache(&walk->second, worth, pid);
    return 0;
}

/* Cost of preempting a CPU's current task for a woken one: the goodness of the current task, plus 15 on a CPU other than the
 * woken task's own. The woken task goes to the CPU with the lowest cost below its own goodness. */
POLICY s32 preempt_cost(s32 worth_of_current, int is_own_cpu)
{
    return worth_of_current + (is_own_cpu ? 0 : SAME_CPU_BONUS);
}

/* Whether a woken task preempts the current task of `cpu`: any gain does. */
POLICY int mq_preempts(const struct goodness_task *woken, const struct goodness_task *current, s32 cpu)
{
    return goodness(woken, cpu, current->mm, LINUX_2_4, SAME_CPU_BONUS)
           > goodness(current, cpu, current->mm, LINUX_2_4, SAME_CPU_BONUS);
}
