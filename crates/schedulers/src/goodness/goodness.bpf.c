/* goodness: the scheduler of Linux 2.2 to 2.4, the one that the papers measured.
 *
 * One run queue for all CPUs. Each decision walks the whole of it and takes the task that is worth most: what is left of
 * its time slice, its priority, 15 for the CPU where it ran last, 1 for the same memory. A kernel that was built for one CPU
 * had nothing for the CPU: set same_cpu_bonus=0 for that. When all slices are used up,
 * every task in the system gets half of what it had and a new slice. Woken tasks join at the head, those that yield at
 * the tail. The policy is in policy.h; version=23 is Linux 2.3 with the bug of yielding that IBM found, 24 is 2.4.
 *
 * What is not as it was:
 * - A task that runs is not in the queue here, and was there. So lengths do not count it, and one that was preempted
 *   comes back to the head instead of the place it had. That is seen in ties alone.
 * - The recalculation of counters walked all tasks at once. Here each task makes up for it when it is looked at next: the
 *   same counters, but the cost is spread.
 * - Counters go down by the time used, not by ticks that were met, and the kernel looks at them 250 times a second. The time
 *   that a decision takes is nobody's; it was that of the task that ran next. So tasks that do little but yield keep their
 *   slices, and those with less wait, for longer than they did: with hundreds of tasks, many times as long.
 * - The lock of the one queue is held for each step of the walk, not throughout: CPUs do not wait for each other as long.
 * - Real-time tasks are the kernel's own business, and were in this queue.
 * - The idle CPU that is told of a woken task is any one, not the one that was idle longest. */
#include "../goodness/tasks.bpf.h"

#ifndef NAMED /* or ../head has done this its own way */
#define NAMED "klatch_goodness"
#define TAKE_FIRST 0
#define QUEUE 0
#define queue_of(task) QUEUE
#define waiting() scx_bpf_dsq_nr_queued(QUEUE)
#define waits_aside(cpu) false
#define bring_back()
#define give_back_all(cpu) give_back(cpu, QUEUE, false)
#define create_queues() scx_bpf_create_dsq(QUEUE, -1)
#endif

enum { VERSION, CACHE_FLUSH_US, SAME_CPU };
KNOBS = {
    { "version", "23 is Linux 2.3, 24 is 2.4: slices, goodness, sched_yield, preemption", 23, 23, 24 },
    { "cache_flush_us", "2.3, several CPUs: tasks that run shorter than this together wait for their CPU", 100, 0, 10000 },
    { "same_cpu_bonus", "worth of the CPU where a task ran last; 0 as in a kernel built for one CPU, 15 as for several", SAME_CPU_BONUS, 0, 15 },
};
#define version() (knobs[VERSION].value)
#define same_cpu_bonus() (knobs[SAME_CPU].value)

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

/* What a CPU does. */
struct cpu {
    s32 best; /* of the walk under way; here and not in a local, or the verifier tells every number apart */
    struct running now;
};

CPUS(struct cpu);
#include "../goodness/running.bpf.h"

/* Tells a CPU that there is somebody new: an idle one, or one where he is better than who runs. */
static __always_inline void reschedule_idle(struct task_struct *p, struct goodness_task *task)
{
    s32 home = scx_bpf_task_cpu(p), i;
    struct cpu *cpu = cpu_of(home);

    if (scx_bpf_test_and_clear_cpu_idle(home)) {
        wake(home);
        return;
    }
    if (!cpu)
        return;
    if (version() == LINUX_2_3 && cpu->now.busy
        && is_worth_waiting(task->slice_avg_ns, cpu->now.task.slice_avg_ns, knobs[CACHE_FLUSH_US].value * 1000)
        && scx_bpf_nr_cpu_ids() > 1)
        return;
    if (tell_idle(p))
        return;
    if (cpu->now.busy && preempts(task, &cpu->now.task, home, version(), same_cpu_bonus())) {
        count(PREEMPTIONS);
        preempt(home);
        return;
    }
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        cpu = cpu_of(i);
        if (cpu && cpu->now.busy && i != home && may_run(p, i) && preempts(task, &cpu->now.task, i, version(), same_cpu_bonus())) {
            count(PREEMPTIONS);
            preempt(i);
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

SEC("struct_ops/enqueue")
void BPF_PROG(goodness_enqueue, struct task_struct *p, u64 flags)
{
    struct goodness_task *task = task_of(p);

    if (!task)
        return;
    if (joins(comes(task, p, flags, version())) == HEAD)
        flags |= OF_KERNEL(scx_enq_flags, SCX_ENQ_HEAD);
    scx_bpf_dsq_insert(p, queue_of(task), TICK_NS, flags);
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
        worth = goodness(task, cpu, mm, version(), same_cpu_bonus());
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
    s32 length = waiting();
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
        charge(task, version());
        mm = task->mm;
        yielded = task->yielded;
        here->best = goodness_of_previous(task, cpu, version(), same_cpu_bonus());
        /* Where it joins the queue if it does not stay. */
        task->yielded = yielded;
    }
    if (walk(here, cpu, mm))
        goto out;
    if (here->best < 0 && waits_aside(cpu))
        here->best = 0;
    if (must_recalculate(here->best)) {
        count(RECALCULATIONS);
        if (!length && yielded)
            count(RECALCULATIONS_BY_YIELD);
        turn_epoch();
        bring_back();
        here->best = NOBODY;
        if (task) {
            catch_up(task, epoch, version());
            here->best = goodness(task, cpu, mm, version(), same_cpu_bonus());
        }
        if (walk(here, cpu, mm))
            goto out;
    }
    if (task) {
        count(KEPT);
        goes_on(task, prev);
    }
out:
    decided(began, length);
}

SEC("struct_ops/yield")
bool BPF_PROG(goodness_yield, struct task_struct *from, struct task_struct *to)
{
    struct goodness_task *task = task_of(from);

    count(YIELDS);
    if (!task)
        return false;
    if (!yields(waiting(), version())) {
        count(YIELDS_IGNORED);
        return false;
    }
    yields_now(task, from, version());
    return true;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(goodness_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    return begins(p, args, version());
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(goodness_cpu_offline, s32 cpu)
{
    give_back_all(cpu);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(goodness_init)
{
    s32 error = check_cpus();

    return error ? error : create_queues();
}

SCHEDULER(.select_cpu = (void *)goodness_select_cpu, .enqueue = (void *)goodness_enqueue,
          .dispatch = (void *)goodness_dispatch, .running = (void *)goodness_running,
          .stopping = (void *)goodness_stopping, .yield = (void *)goodness_yield,
          .cpu_offline = (void *)goodness_cpu_offline, .init_task = (void *)goodness_init_task,
          .init = (void *)goodness_init, .name = NAMED);
