/* The policy of MQ, Kravetz and Franke's multi-queue scheduler for Linux 2.4: what queues tell each other. Slices and epochs
 * are those of 2.4. */
#pragma once

#include "../goodness/policy.h"

/* What a task is worth to any CPU: goodness without the bonuses for memory and CPU. */
POLICY s32 na_goodness(const struct goodness_task *task)
{
    s32 ticks = ticks_of(task->counter_ns);

    if (task->yielded)
        return -1;
    return ticks ? ticks + priority_of(task->nice) : 0;
}

/* The same in its own queue. */
POLICY s32 local_goodness(const struct goodness_task *task, u64 mm)
{
    s32 worth = na_goodness(task);

    return worth > 0 && (task->mm == mm || !task->mm) ? worth + 1 : worth;
}

/* What the best task of the own queue is compared with others' cached best by. */
POLICY s32 with_affinity(s32 best)
{
    return best > 0 ? best + SAME_CPU_BONUS : best;
}

/* What each queue tells the others: its best task that does not run. */
struct mq_cache {
    s32 worth; /* NOBODY: nothing is known */
    s32 pid;
};

POLICY void tell(struct mq_cache *cache, s32 worth, s32 pid)
{
    if (worth > cache->worth) {
        cache->worth = worth;
        cache->pid = pid;
    }
}

POLICY void forget(struct mq_cache *cache)
{
    cache->worth = NOBODY;
    cache->pid = 0;
}

/* The best and the second best of a walk. */
struct mq_walk {
    struct mq_cache best, second;
};

/* Whether this task is the best so far. */
POLICY int offer(struct mq_walk *walk, s32 worth, s32 pid)
{
    if (worth > walk->best.worth) {
        walk->second = walk->best;
        walk->best.worth = worth;
        walk->best.pid = pid;
        return 1;
    }
    tell(&walk->second, worth, pid);
    return 0;
}

/* How much a CPU would mind to get a woken task: what runs there is worth, and 15 if that is not the task's own CPU. The
 * lowest is taken, if it is below what the woken task is worth. */
POLICY s32 resistance(s32 worth_of_current, int is_own_cpu)
{
    return worth_of_current + (is_own_cpu ? 0 : SAME_CPU_BONUS);
}
