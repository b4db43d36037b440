/* Slices, epochs and yields of tasks as goodness, head and multiqueue keep them. The policy is in policy.h. */
#pragma once

#include "klatch.bpf.h"
#include "policy.h"

TASKS(struct goodness_task);

static u64 epoch;

/* All slices are used up. Each task makes up for it when it is looked at next. */
static __always_inline void turn_epoch(void)
{
    __sync_fetch_and_add(&epoch, 1);
}

/* Charges what was used since the last look. */
static __always_inline void charge(struct goodness_task *task, u64 version)
{
    u64 now = bpf_ktime_get_ns(), used = now - task->started_ns;

    catch_up(task, epoch, version);
    task->counter_ns = used < task->counter_ns ? task->counter_ns - used : 0;
    task->started_ns = now;
}

/* What a CPU runs (running.bpf.h). */
struct running {
    u32 busy;
    struct goodness_task task;
};

/* Brings what is known of a task up to date as it comes to the queue. Why it comes. */
static __always_inline enum reason comes(struct goodness_task *task, struct task_struct *p, u64 flags, u64 version)
{
    bool yielded = task->yielded;

    catch_up(task, epoch, version);
    /* The flag was for the decision that has been made. */
    task->yielded = 0;
    task->mm = (u64)p->mm;
    task->nice = nice_of(p);
    if (flags & OF_KERNEL(scx_enq_flags, SCX_ENQ_WAKEUP))
        return WOKEN;
    if (yielded)
        return YIELDED;
    return task->counter_ns ? PREEMPTED : EXPIRED;
}

/* The task that ran until now yields, and a decision follows. */
static __always_inline void yields_now(struct goodness_task *task, struct task_struct *p, u64 version)
{
    charge(task, version);
    task->yielded = 1;
    set_slice(p, 0);
}

/* The task that ran until now goes on: with nothing left, until the next tick, as it did then. */
static __always_inline void goes_on(struct goodness_task *task, struct task_struct *p)
{
    task->yielded = 0;
    set_slice(p, task->counter_ns ? task->counter_ns : TICK_NS);
}

/* A new task; one that is forked shares what its parent has left. 0, or an error. */
static __always_inline s32 begins(struct task_struct *p, const struct scx_init_task_args *args, u64 version)
{
    struct goodness_task *task = task_made(p), *parent = parent_of(args);

    if (!task)
        return -12; /* -ENOMEM */
    task->nice = nice_of(p);
    task->mm = (u64)p->mm;
    task->cpu = -1;
    task->epoch = epoch;
    if (!parent) {
        task->counter_ns = fresh_ns(task->nice, version);
        return 0;
    }
    charge(parent, version);
    task->counter_ns = childs_share(&parent->counter_ns);
    cut_current(parent->counter_ns);
    return 0;
}
