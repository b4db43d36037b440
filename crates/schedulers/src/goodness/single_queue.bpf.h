/* The scheduler of Linux 2.2 to 2.4, over one queue. goodness and head are this program with different definitions of:
 *
 * - SCHEDULER_NAME, QUEUE: the name for the kernel, and the queue that a decision walks
 * - TAKE_FIRST: 1 ends the walk at the first task with time left
 * - queue_of(task): the queue where a task is inserted
 * - nr_waiting(): waiting tasks in all queues
 * - has_exhausted_waiter(cpu): whether a task without time left waits for `cpu` outside QUEUE
 * - refill_queue(): returns such tasks to QUEUE when an epoch starts
 * - drain_queues(cpu), create_queues()
 *
 * They must be defined before this file is included. */

enum { VERSION, CACHE_FLUSH_US, SAME_CPU, SPREAD, COLOUR };
KNOBS = {
    { "version", "23 is Linux 2.3, 24 is 2.4: slices, goodness, sched_yield, preemption", 23, 23, 24 },
    { "cache_flush_us", "2.3, several CPUs: a woken task waits for its CPU if both tasks together run for less", 100, 0, 10000 },
    { "same_cpu_bonus", "bonus for the CPU where a task ran last: 0 as in kernels built for one CPU, 15 as for several", SAME_CPU_BONUS, 0, 15 },
    { "spread", "what a walk reads of a task: 0: on one line, 1: on four, 2: on four of a block of 8 KiB as in Linux 2.2", 0, 0, 2 },
    { "colour", "1: with spread=2 the lines of tasks lie at 16 distances from the start of the block; 0: at one", 0, 0, 1 },
};
#define version() (knobs[VERSION].value)
#define same_cpu_bonus() (knobs[SAME_CPU].value)

enum {
    DECISIONS, EXAMINED, RECALCULATIONS, RECALCULATIONS_BY_YIELD, CONTINUED, YIELDS, YIELDS_IGNORED, PREEMPTIONS, TOO_LATE,
};
STATS = {
    { "decisions", "scheduling decisions" },
    { "examined", "tasks whose goodness was computed" },
    { "recalculations", "epochs started because all slices were used up" },
    { "recalculations_by_yield", "recalculations only because the single runnable task had yielded" },
    { "continued", "decisions to continue the previous task" },
    { "yields", "calls of sched_yield" },
    { "yields_ignored", "yields without effect because no task waited (2.4)" },
    { "preemptions", "woken tasks that preempted another task" },
    { "too_late", "decisions whose task was gone; the first of the queue ran instead" },
};

/* State of a CPU. */
struct cpu {
    s32 best; /* of the current walk; in memory because the verifier would track every value of a local */
    struct running now;
};

CPUS(struct cpu);
#include "../goodness/running.bpf.h"
#include "../goodness/spread.bpf.h"

/* By how much a woken task is better than the current one of `number`. */
static __always_inline s32 gain_on(const struct goodness_task *task, const struct cpu *cpu, s32 number)
{
    struct goodness_task current;

    if (!cpu->now.busy)
        return NO_TASK;
    current = now_of(&cpu->now, version());
    return preemption_gain(task, &current, number, version(), same_cpu_bonus());
}

/* The busy CPU that a woken task preempts, or -1. In 2.3 it is the last one of the task, else the first whose current task is worse; in 2.4
 * the one whose current task is worse by most. */
static __always_inline s32 preempted_by(struct task_struct *p, const struct goodness_task *task, s32 home)
{
    s32 most = preemption_threshold(version()), worst = -1, i;
    struct cpu *cpu = cpu_of(home);

    if (version() == LINUX_2_3 && cpu && gain_on(task, cpu, home) > most)
        return home;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        s32 gain;

        cpu = cpu_of(i);
        if (!cpu || !may_run(p, i))
            continue;
        gain = gain_on(task, cpu, i);
        if (gain <= most)
            continue;
        most = gain;
        worst = i;
        if (version() == LINUX_2_3)
            break;
    }
    return worst;
}

/* Kicks an idle CPU where `p` may run: in 2.3 the first. Returns whether there is one. */
static __always_inline bool kick_idle(struct task_struct *p)
{
    s32 i;

    if (version() != LINUX_2_3)
        return kick_idle_cpu(p);
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        if (may_run(p, i) && scx_bpf_test_and_clear_cpu_idle(i)) {
            kick_if_idle(i);
            return true;
        }
    }
    return false;
}

/* Kicks a CPU for a task that was woken, or left its CPU to another one: an idle CPU, or one whose current task is worse. */
static __always_inline void reschedule_idle(struct task_struct *p, struct goodness_task *task)
{
    s32 home = scx_bpf_task_cpu(p), worst;
    struct cpu *cpu = cpu_of(home);

    if (scx_bpf_test_and_clear_cpu_idle(home)) {
        kick_if_idle(home);
        return;
    }
    if (!cpu)
        return;
    if (version() == LINUX_2_3 && cpu->now.busy
        && should_wait_for_cpu(task->slice_avg_ns, cpu->now.task.slice_avg_ns, knobs[CACHE_FLUSH_US].value * 1000)
        && scx_bpf_nr_cpu_ids() > 1)
        return;
    if (kick_idle(p))
        return;
    worst = preempted_by(p, task, home);
    if (worst >= 0) {
        count(PREEMPTIONS);
        preempt(worst);
    }
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(goodness_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    struct goodness_task *task = task_of(p);

    if (task)
        task->sync = version() == LINUX_2_4 && (flags & KERNEL_VALUE(scx_wake_flags, SCX_WAKE_SYNC));
    return last;
}

SEC("struct_ops/enqueue")
void BPF_PROG(goodness_enqueue, struct task_struct *p, u64 flags)
{
    struct goodness_task *task = task_of(p);
    enum reason reason;

    if (!task)
        return;
    reason = on_enqueue(task, p, flags, version());
    if (queue_end(reason) == HEAD)
        flags |= KERNEL_VALUE(scx_enq_flags, SCX_ENQ_HEAD);
    if (knobs[SPREAD].value != ON_ONE_LINE)
        spread(p, task);
    scx_bpf_dsq_insert(p, queue_of(task), TICK_NS, flags);
    if (task->sync)
        task->sync = 0;
    else if (reason == WOKEN || (is_offered(reason, version()) && scx_bpf_nr_cpu_ids() > 1))
        reschedule_idle(p, task);
}

/* Goodness of a waiting task. */
static __always_inline s32 worth_of(struct task_struct *p, struct goodness_task *task, s32 cpu, u64 mm)
{
    if (knobs[SPREAD].value != ON_ONE_LINE) {
        struct goodness_task seen = gather(p, task, version());

        return goodness(&seen, cpu, mm, version(), same_cpu_bonus());
    }
    catch_up(task, epoch, version());
    return goodness(task, cpu, mm, version(), same_cpu_bonus());
}

/* Walks the queue and takes the best task if it is better than the previous one. Returns whether a task was taken. */
static __always_inline bool walk(struct cpu *here, s32 cpu, u64 mm)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p, *best = NULL;
    struct goodness_task *task;
    bool taken = false;

    bpf_iter_scx_dsq_new(&it, QUEUE, 0);
    while ((p = bpf_iter_scx_dsq_next(&it))) {
        s32 worth;

        if (!may_run(p, cpu))
            continue;
        task = task_of(p);
        if (!task)
            continue;
        count(EXAMINED);
        worth = worth_of(p, task, cpu, mm);
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
        taken = scx_bpf_dsq_move(&it, best, SCX_DSQ_LOCAL, 0);
        if (taken && task) {
            /* In the original the previous task is offered after the switch, also to its own CPU. */
            here->now.task = *task;
            here->now.task.cpu = cpu;
            here->now.task.started_ns = bpf_ktime_get_ns();
            here->now.taken = 1;
        }
        if (!taken) {
            count(TOO_LATE);
            taken = scx_bpf_dsq_move_to_local(QUEUE);
        }
    }
    bpf_iter_scx_dsq_destroy(&it);
    return taken;
}

SEC("struct_ops/dispatch")
void BPF_PROG(goodness_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 started_ns = bpf_ktime_get_ns(), mm = loaded_mm(prev);
    s32 length = nr_waiting();
    struct goodness_task *task = NULL;
    struct cpu *here = cpu_of(cpu);
    bool yielded = false, is_candidate = prev && is_runnable(prev);

    if (!here)
        return;
    count(DECISIONS);
    here->best = NO_TASK;
    if (is_candidate) {
        task = task_of(prev);
        if (!task)
            return;
        charge(task, version());
        yielded = task->yielded;
        here->best = goodness_of_previous(task, cpu, version(), same_cpu_bonus());
        /* It decides where the task is inserted if another one is taken. */
        task->yielded = yielded;
    }
    if (walk(here, cpu, mm))
        goto out;
    if (here->best < 0 && has_exhausted_waiter(cpu))
        here->best = 0;
    if (must_recalculate(here->best)) {
        count(RECALCULATIONS);
        if (!length && yielded)
            count(RECALCULATIONS_BY_YIELD);
        start_epoch();
        refill_queue();
        here->best = NO_TASK;
        if (task) {
            catch_up(task, epoch, version());
            if (version() == LINUX_2_3)
                task->yielded = 0;
            here->best = goodness_of_previous(task, cpu, version(), same_cpu_bonus());
            task->yielded = yielded;
        }
        if (walk(here, cpu, mm))
            goto out;
    }
    if (task) {
        count(CONTINUED);
        keep_running(&here->now, task, prev);
    }
out:
    charge_decision(prev, version());
    record_decision(started_ns, length);
}

SEC("struct_ops/yield")
bool BPF_PROG(goodness_yield, struct task_struct *from, struct task_struct *to)
{
    struct goodness_task *task = task_of(from);

    count(YIELDS);
    if (!task)
        return false;
    if (!yield_has_effect(nr_waiting(), version())) {
        count(YIELDS_IGNORED);
        return false;
    }
    start_yield(task, from, version());
    return true;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(goodness_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    return create_block(p) ? init_task(p, args, version()) : -12 /* -ENOMEM */;
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(goodness_cpu_offline, s32 cpu)
{
    drain_queues(cpu);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(goodness_init)
{
    s32 error = check_cpus();

    return error ? error : create_queues();
}

SCHEDULER(.select_cpu = (void *)goodness_select_cpu, .enqueue = (void *)goodness_enqueue,
          .dispatch = (void *)goodness_dispatch, .running = (void *)goodness_running,
          .tick = (void *)goodness_tick, .stopping = (void *)goodness_stopping, .yield = (void *)goodness_yield,
          .cpu_offline = (void *)goodness_cpu_offline, .init_task = (void *)goodness_init_task,
          .init = (void *)goodness_init, .name = SCHEDULER_NAME);
