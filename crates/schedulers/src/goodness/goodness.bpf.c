/* goodness: the scheduler of Linux 2.2 to 2.4, the one that the papers measured.
 *
 * One run queue for all CPUs. Each decision walks the whole of it and takes the task that is worth most: what is left of
 * its time slice, its priority, 15 for the CPU where it ran last, 1 for the same memory. When all slices are used up,
 * every task in the system gets half of what it had and a new slice. Woken tasks join at the head, those that yield at
 * the tail. The policy is in policy.h; version=23 is Linux 2.3 with the bug of yielding that IBM found, 24 is 2.4.
 *
 * What is not as it was:
 * - A task that runs is not in the queue here, and was there. So lengths do not count it, and one that was preempted
 *   comes back to the head instead of the place it had. That is seen in ties alone.
 * - The recalculation of counters walked all tasks at once. Here each task makes up for it when it is looked at next: the
 *   same counters, but the cost is spread.
 * - Counters go down by the time used, not by ticks that were met, and the kernel looks at them 250 times a second.
 * - The lock of the one queue is held for each step of the walk, not throughout: CPUs do not wait for each other as long.
 * - Real-time tasks are the kernel's own business, and were in this queue.
 * - The idle CPU that is told of a woken task is any one, not the one that was idle longest. */
#include "klatch.bpf.h"
#include "../goodness/policy.h"

#define QUEUE 0

#ifndef NAMED
#define NAMED "klatch_goodness"
#define TAKE_FIRST 0 /* the first that may run is taken, without a walk: see ../head */
#endif

enum { VERSION, CACHE_FLUSH_US };
KNOBS = {
    { "version", "23 is Linux 2.3, 24 is 2.4: slices, goodness, sched_yield, preemption", 23, 23, 24 },
    { "cache_flush_us", "2.3, several CPUs: tasks that run shorter than this together wait for their CPU", 100, 0, 10000 },
};
#define version() (knobs[VERSION].value)

enum { DECISIONS, LOOKED_AT, RECALCULATIONS, RECALCULATIONS_BY_YIELD, KEPT, YIELDS, YIELDS_IGNORED, PREEMPTIONS, TOO_LATE };
STATS = {
    { "decisions", "times that a task was looked for" },
    { "looked_at", "tasks whose goodness was computed" },
    { "recalculations", "times that all slices were used up" },
    { "recalculations_by_yield", "those among them for nothing but a task that had yielded and was alone" },
    { "kept", "decisions for the task that ran before" },
    { "yields", "calls of sched_yield" },
    { "yields_ignored", "those among them that did nothing as nobody waited (2.4)" },
    { "preemptions", "times that a woken task took a CPU from another" },
    { "too_late", "times that the task chosen was gone; the first of the queue was taken" },
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct goodness_task);
} tasks SEC(".maps");

/* What a CPU does. */
struct cpu {
    s32 best; /* of the walk under way; here and not in a local, or the verifier tells every number apart */
    u32 busy;
    struct goodness_task current;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, CPUS_MAX);
    __type(key, u32);
    __type(value, struct cpu);
} cpus SEC(".maps");

static u64 epoch;

static __always_inline struct goodness_task *task_of(struct task_struct *p)
{
    return bpf_task_storage_get(&tasks, p, 0, 0);
}

static __always_inline struct cpu *cpu_of(s32 cpu)
{
    u32 key = cpu;

    return bpf_map_lookup_elem(&cpus, &key);
}

/* Charges what was used since the last look. */
static __always_inline void charge(struct goodness_task *task)
{
    u64 now = bpf_ktime_get_ns(), used = now - task->started_ns;

    catch_up(task, epoch, version());
    task->counter_ns = used < task->counter_ns ? task->counter_ns - used : 0;
    task->started_ns = now;
}

/* Tells a CPU that there is somebody new: an idle one, or one where he is better than who runs. */
static __always_inline void reschedule_idle(struct task_struct *p, struct goodness_task *task)
{
    s32 home = scx_bpf_task_cpu(p), idle, i;
    struct cpu *cpu = cpu_of(home);

    if (scx_bpf_test_and_clear_cpu_idle(home)) {
        scx_bpf_kick_cpu(home, OF_KERNEL(scx_kick_flags, SCX_KICK_IDLE));
        return;
    }
    if (!cpu)
        return;
    if (version() == LINUX_2_3 && cpu->busy
        && is_worth_waiting(task->slice_avg_ns, cpu->current.slice_avg_ns, knobs[CACHE_FLUSH_US].value * 1000)
        && scx_bpf_nr_cpu_ids() > 1)
        return;
    idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
    if (idle >= 0) {
        scx_bpf_kick_cpu(idle, OF_KERNEL(scx_kick_flags, SCX_KICK_IDLE));
        return;
    }
    if (cpu->busy && preempts(task, &cpu->current, home, version())) {
        count(PREEMPTIONS);
        scx_bpf_kick_cpu(home, OF_KERNEL(scx_kick_flags, SCX_KICK_PREEMPT));
        return;
    }
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        cpu = cpu_of(i);
        if (cpu && cpu->busy && i != home && may_run(p, i) && preempts(task, &cpu->current, i, version())) {
            count(PREEMPTIONS);
            scx_bpf_kick_cpu(i, OF_KERNEL(scx_kick_flags, SCX_KICK_PREEMPT));
            return;
        }
    }
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(goodness_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    struct goodness_task *task = task_of(p);

    if (task)
        task->sync = version() == LINUX_2_4 && (flags & OF_KERNEL(scx_wake_flags, SCX_WAKE_SYNC));
    return last;
}

static __always_inline enum reason reason_of(const struct goodness_task *task, u64 flags)
{
    if (flags & OF_KERNEL(scx_enq_flags, SCX_ENQ_WAKEUP))
        return WOKEN;
    if (task->yielded)
        return YIELDED;
    return task->counter_ns ? PREEMPTED : EXPIRED;
}

SEC("struct_ops/enqueue")
void BPF_PROG(goodness_enqueue, struct task_struct *p, u64 flags)
{
    struct goodness_task *task = task_of(p);
    enum reason reason;

    if (!task)
        return;
    catch_up(task, epoch, version());
    reason = reason_of(task, flags);
    /* The flag was for the decision that has been made. */
    task->yielded = 0;
    task->mm = (u64)p->mm;
    task->nice = nice_of(p);
    if (joins(reason) == HEAD)
        flags |= OF_KERNEL(scx_enq_flags, SCX_ENQ_HEAD);
    scx_bpf_dsq_insert(p, QUEUE, TICK_NS, flags);
    if (task->sync)
        task->sync = 0;
    else
        reschedule_idle(p, task);
}

/* Walks the queue and takes the best task, if that is better than the previous one. Whether anybody was found. */
static __always_inline bool walk(struct cpu *here, s32 cpu, u64 mm)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p, *best = NULL;
    struct goodness_task *task;
    bool found = false;

    bpf_iter_scx_dsq_new(&it, QUEUE, 0);
    while ((p = bpf_iter_scx_dsq_next(&it))) {
        s32 worth;

        if (!may_run(p, cpu))
            continue;
        task = task_of(p);
        if (!task)
            continue;
        count(LOOKED_AT);
        catch_up(task, epoch, version());
        worth = goodness(task, cpu, mm, version());
        if (is_better(worth, here->best) || (TAKE_FIRST && worth > 0)) {
            here->best = worth;
            best = p;
            if (TAKE_FIRST && worth > 0)
                break;
        }
    }
    if (best && !must_recalculate(here->best)) {
        task = task_of(best);
        if (task)
            scx_bpf_dsq_move_set_slice(&it, task->counter_ns);
        found = scx_bpf_dsq_move(&it, best, SCX_DSQ_LOCAL, 0);
        if (!found) {
            count(TOO_LATE);
            found = scx_bpf_dsq_move_to_local(QUEUE);
        }
    }
    bpf_iter_scx_dsq_destroy(&it);
    return found;
}

SEC("struct_ops/dispatch")
void BPF_PROG(goodness_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 began = bpf_ktime_get_ns(), mm = 0;
    s32 length = scx_bpf_dsq_nr_queued(QUEUE);
    struct goodness_task *task = NULL;
    struct cpu *here = cpu_of(cpu);
    bool yielded = false, stays = prev && is_runnable(prev);

    if (!here)
        return;
    count(DECISIONS);
    here->best = NOBODY;
    if (stays) {
        task = task_of(prev);
        if (!task)
            return;
        charge(task);
        mm = task->mm;
        yielded = task->yielded;
        here->best = goodness_of_previous(task, cpu, version());
        /* Where it joins the queue if it does not stay. */
        task->yielded = yielded;
    }
    if (walk(here, cpu, mm))
        goto out;
    if (must_recalculate(here->best)) {
        count(RECALCULATIONS);
        if (!length && yielded)
            count(RECALCULATIONS_BY_YIELD);
        __sync_fetch_and_add(&epoch, 1);
        here->best = NOBODY;
        if (task) {
            catch_up(task, epoch, version());
            here->best = goodness(task, cpu, mm, version());
        }
        if (walk(here, cpu, mm))
            goto out;
    }
    if (task) {
        count(KEPT);
        task->yielded = 0;
        set_slice(prev, task->counter_ns ? task->counter_ns : 1);
    }
out:
    decided(began, length);
}

SEC("struct_ops/running")
void BPF_PROG(goodness_running, struct task_struct *p)
{
    struct goodness_task *task = task_of(p);
    s32 cpu = scx_bpf_task_cpu(p);
    struct cpu *here = cpu_of(cpu);

    if (!task || !here)
        return;
    task->cpu = cpu;
    task->started_ns = bpf_ktime_get_ns();
    here->current = *task;
    here->busy = 1;
}

SEC("struct_ops/stopping")
void BPF_PROG(goodness_stopping, struct task_struct *p, bool runnable)
{
    struct goodness_task *task = task_of(p);
    struct cpu *here = cpu_of(scx_bpf_task_cpu(p));

    if (!task || !here)
        return;
    task->slice_avg_ns = new_average(task->slice_avg_ns, bpf_ktime_get_ns() - here->current.started_ns);
    charge(task);
    here->busy = 0;
}

SEC("struct_ops/yield")
bool BPF_PROG(goodness_yield, struct task_struct *from, struct task_struct *to)
{
    struct goodness_task *task = task_of(from);

    count(YIELDS);
    if (!task)
        return false;
    if (!yields(scx_bpf_dsq_nr_queued(QUEUE), version())) {
        count(YIELDS_IGNORED);
        return false;
    }
    charge(task);
    task->yielded = 1;
    set_slice(from, 0);
    return true;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(goodness_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    struct goodness_task *task, *parent = NULL;

    task = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!task)
        return -12; /* -ENOMEM */
    task->nice = nice_of(p);
    task->mm = (u64)p->mm;
    task->cpu = -1;
    task->epoch = epoch;
    if (args->fork)
        parent = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);
    if (parent && parent != task) {
        charge(parent);
        task->counter_ns = childs_share(&parent->counter_ns);
    } else {
        task->counter_ns = fresh_ns(task->nice, version());
    }
    return 0;
}

SEC("struct_ops.s/init")
s32 BPF_PROG(goodness_init)
{
    return scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER(.select_cpu = (void *)goodness_select_cpu, .enqueue = (void *)goodness_enqueue,
          .dispatch = (void *)goodness_dispatch, .running = (void *)goodness_running,
          .stopping = (void *)goodness_stopping, .yield = (void *)goodness_yield,
          .init_task = (void *)goodness_init_task, .init = (void *)goodness_init, .name = NAMED);
