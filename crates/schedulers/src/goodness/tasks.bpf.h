/* Slices, epochs and yields of tasks, shared by goodness, head and multiqueue. The policy is in policies/goodness.h. */
#pragma once

#include "klatch.bpf.h"
#include <policies/goodness.h>

#define LINE_MAX 64 /* bytes of a cache line */

/* What a walk reads of a task, a line for each field, as in the task_struct of Linux 2.2 and 2.3. */
struct spread_task {
    struct {
        u64 value;
        u64 epoch; /* of the counter only */
        u8 unused[LINE_MAX - 2 * sizeof(u64)];
    } counter_ns, mm, nice, cpu;
};

/* The kernel's record of this is 8 or 16 bytes behind the start of a line. `unused` moves the first 24 bytes of the task into one
 * line of 32 bytes in both cases. */
struct task_data {
    u8 unused[24];
    struct goodness_task task;
    u8 unused_too[2 * LINE_MAX - 24 - sizeof(struct goodness_task)];
    struct spread_task spread;
};

STORED_TASKS(struct task_data, struct goodness_task, task);

static u64 epoch;

/* Starts an epoch when all slices are used up. Each task catches up when it is examined next. */
static __always_inline void start_epoch(void)
{
    __sync_fetch_and_add(&epoch, 1);
}

/* Charges the ticks since the task was charged last: as in the original, one that runs at a tick pays for the whole of it. */
static __always_inline void charge(struct goodness_task *task, u64 version)
{
    u64 now = bpf_ktime_get_ns();

    catch_up(task, epoch, version);
    charge_run(task, ticks_between(task->started_ns, now));
    task->started_ns = now;
}

/* The memory that a CPU has loaded after this task, also if it sleeps. A thread of the kernel leaves that of the task before it. */
static __always_inline u64 loaded_mm(struct task_struct *prev)
{
    return prev ? (u64)prev->active_mm : 0;
}

/* Charges the ticks of a decision to a task that went to sleep. In the original the timer interrupt waited until the queue's lock was
 * released, and then that was still the current task. A runnable task is charged when it stops. */
static __always_inline void charge_decision(struct task_struct *prev, u64 version)
{
    struct goodness_task *task = prev && !is_runnable(prev) ? task_of(prev) : NULL;

    if (task)
        charge(task, version);
}

/* The current task of a CPU; running.bpf.h maintains it. */
struct running {
    u32 busy;
    u32 taken; /* `task` was chosen, and runs as soon as the one before it has stopped */
    u64 since_ns;
    struct goodness_task task;
};

/* The current task of a CPU with what it has used until now. */
static __always_inline struct goodness_task now_of(const struct running *now, u64 version)
{
    struct goodness_task task = now->task;

    charge(&task, version);
    return task;
}

/* Updates the data of a task that enters the queue, and returns the reason. */
static __always_inline enum reason on_enqueue(struct goodness_task *task, struct task_struct *p, u64 flags, u64 version)
{
    bool yielded = task->yielded;

    catch_up(task, epoch, version);
    /* A yield counts for one decision, and that has been made. */
    task->yielded = 0;
    task->mm = (u64)p->mm;
    task->nice = nice_of(p);
    if (flags & KERNEL_VALUE(scx_enq_flags, SCX_ENQ_WAKEUP))
        return WOKEN;
    if (yielded)
        return YIELDED;
    return task->counter_ns ? PREEMPTED : EXPIRED;
}

/* Marks the current task as yielding and ends its slice, so that a decision follows. */
static __always_inline void start_yield(struct goodness_task *task, struct task_struct *p, u64 version)
{
    charge(task, version);
    task->yielded = 1;
    set_slice(p, 0);
}

/* How long a task runs. With a counter of 0 it does until the next tick, as in the original. */
static __always_inline u64 slice_of(const struct goodness_task *task)
{
    return task->counter_ns ? task->counter_ns : TICK_NS;
}

/* Lets the previous task run on. */
static __always_inline void keep_running(struct running *now, struct goodness_task *task, struct task_struct *p)
{
    task->yielded = 0;
    now->task = *task;
    set_slice(p, slice_of(task));
}

/* Creates the data of a task; a forked one gets half of its parent's counter. Returns 0 or an error. */
static __always_inline s32 init_task(struct task_struct *p, const struct scx_init_task_args *args, u64 version)
{
    struct goodness_task *task = create_task(p), *parent = parent_of(args);

    if (!task)
        return -12; /* -ENOMEM */
    task->nice = nice_of(p);
    task->mm = (u64)p->mm;
    task->cpu = -1;
    task->epoch = epoch;
    if (!parent) {
        task->counter_ns = full_slice_ns(task->nice, version);
        return 0;
    }
    charge(parent, version);
    task->counter_ns = split_with_child(&parent->counter_ns);
    set_current_slice(parent->counter_ns);
    return 0;
}
