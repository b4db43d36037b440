/* multiqueue: Kravetz and Franke's MQ for Linux 2.4, a queue for each CPU and nearly the same decisions.
 *
 * Each decision walks the CPU's own queue only, and compares its best task with the best task that each other queue
 * publishes. If one of those is better by more than the affinity bonus, it is stolen. Slices, epochs and yields are those
 * of Linux 2.4 (policies/goodness.h); the rest is in policies/multiqueue.h.
 *
 * The cost of a decision still grows with the length of the CPU's own queue: on one CPU this is the old scheduler. It avoids
 * the tasks of other CPUs and the wait for the one lock.
 *
 * Differences from the original, besides those of ../goodness:
 * - There is no trylock on a queue. Here a steal fails when the task is gone; it failed when the lock was taken.
 * - A wake-up takes any idle CPU, not the one that has been idle longest.
 * - There is no common queue for real-time tasks, because the kernel schedules them. */
#include "../goodness/tasks.bpf.h"
#include <policies/multiqueue.h>

#define version() LINUX_2_4

enum { STEALS_TRIED };
KNOBS = { { "steals_tried", "queues of other CPUs that a decision may try to steal from", 4, 0, 64 } };

enum {
    DECISIONS, EXAMINED, RECALCULATIONS, STOLEN, STEALS_FAILED, TAKEN_WHEN_IDLE, CONTINUED, YIELDS, YIELDS_IGNORED, PREEMPTIONS,
};
STATS = {
    { "decisions", "scheduling decisions" },
    { "examined", "tasks whose goodness was computed" },
    { "recalculations", "epochs started because all slices were used up" },
    { "stolen", "tasks taken from another CPU's queue because they were better" },
    { "steals_failed", "attempts to steal a task that was gone" },
    { "taken_when_idle", "tasks taken from another CPU's queue because the own was empty" },
    { "continued", "decisions to continue the previous task" },
    { "yields", "calls of sched_yield" },
    { "yields_ignored", "yields without effect because no task waited" },
    { "preemptions", "woken tasks that preempted another task" },
};

/* A CPU; its queue has the same number. */
struct cpu {
    struct mq_cache published;
    struct mq_walk walk; /* the current one */
    struct running now;
    s32 na_best; /* na_goodness of the best task of the walk, if that waits */
    s32 bound, at; /* of the current search; in memory because the verifier would track every value of locals */
};

CPUS(struct cpu);
#include "../goodness/running.bpf.h"

/* Chooses the CPU of a woken task: its own if idle, another idle one, or the one with the lowest preempt_cost if it is worth it. */
SEC("struct_ops/select_cpu")
s32 BPF_PROG(multiqueue_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    struct cpu *scratch = cpu_of(bpf_get_smp_processor_id()), *cpu;
    struct goodness_task *task = task_of(p);
    struct goodness_task current;
    s32 i;

    if (!task || !scratch || scx_bpf_test_and_clear_cpu_idle(last))
        return last;
    i = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
    if (i >= 0)
        return i;
    catch_up(task, epoch, LINUX_2_4);
    scratch->bound = na_goodness(task);
    scratch->at = -1;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        s32 cost;

        cpu = cpu_of(i);
        if (!cpu || !cpu->now.busy || !may_run(p, i))
            continue;
        current = now_of(&cpu->now, LINUX_2_4);
        cost = preempt_cost(na_goodness(&current), i == last);
        if (cost < scratch->bound) {
            scratch->bound = cost;
            scratch->at = i;
        }
    }
    cpu = cpu_of(scratch->at);
    if (!cpu)
        return last;
    current = now_of(&cpu->now, LINUX_2_4);
    if (!mq_preempts(task, &current, scratch->at))
        return last;
    task->sync = 1; /* makes enqueue preempt that CPU */
    return scratch->at;
}

SEC("struct_ops/enqueue")
void BPF_PROG(multiqueue_enqueue, struct task_struct *p, u64 flags)
{
    s32 home = scx_bpf_task_cpu(p);
    struct goodness_task *task = task_of(p);
    struct cpu *cpu = cpu_of(home);
    enum reason reason;

    if (!task || !cpu)
        return;
    reason = on_enqueue(task, p, flags, LINUX_2_4);
    if (queue_end(reason) == HEAD)
        flags |= KERNEL_VALUE(scx_enq_flags, SCX_ENQ_HEAD);
    scx_bpf_dsq_insert(p, home, TICK_NS, flags);
    offer_to_cache(&cpu->published, na_goodness(task), p->pid);
    if (task->sync) {
        task->sync = 0;
        count(PREEMPTIONS);
        preempt(home);
    } else if (reason != WOKEN) {
        kick_idle_cpu(p);
    }
}

/* Takes the task `pid` from the queue that `it` walks. Returns whether it was there. */
static __always_inline bool take_task(struct bpf_iter_scx_dsq *it, s32 cpu, s32 pid)
{
    struct task_struct *p = bpf_task_from_pid(pid);
    struct goodness_task *task;
    bool taken = false;

    if (!p)
        return false;
    task = task_of(p);
    if (task && may_run(p, cpu)) {
        catch_up(task, epoch, LINUX_2_4);
        scx_bpf_dsq_move_set_slice(it, slice_of(task));
        taken = scx_bpf_dsq_move(it, p, SCX_DSQ_LOCAL, 0);
    }
    bpf_task_release(p);
    return taken;
}

/* Takes the task `pid` from the queue of `from`, and publishes the first task of that queue instead. */
static __always_inline bool steal(s32 cpu, s32 from, struct cpu *victim, s32 pid)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *first;
    struct goodness_task *task;
    bool taken;

    clear_cache(&victim->published);
    bpf_iter_scx_dsq_new(&it, from, 0);
    taken = take_task(&it, cpu, pid);
    first = bpf_iter_scx_dsq_next(&it);
    if (first) {
        task = task_of(first);
        if (task) {
            catch_up(task, epoch, LINUX_2_4);
            offer_to_cache(&victim->published, na_goodness(task), first->pid);
        }
    }
    bpf_iter_scx_dsq_destroy(&it);
    return taken;
}

/* Steals the best published task if its goodness exceeds `than`. Returns whether it did. */
static __always_inline bool steal_better(struct cpu *here, s32 cpu, s32 than)
{
    s32 i, round;

    bpf_for(round, 0, knobs[STEALS_TRIED].value) {
        struct cpu *victim;

        here->bound = than;
        here->at = -1;
        bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
            victim = cpu_of(i);
            if (victim && i != cpu && victim->published.worth > here->bound) {
                here->bound = victim->published.worth;
                here->at = i;
            }
        }
        victim = cpu_of(here->at);
        if (here->at < 0 || !victim)
            return false;
        if (steal(cpu, here->at, victim, victim->published.pid)) {
            count(STOLEN);
            return true;
        }
        count(STEALS_FAILED);
    }
    return false;
}

/* Takes any waiting task, for a CPU that would be idle. */
static __always_inline bool take_any(s32 cpu)
{
    s32 i;

    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        if (i != cpu && scx_bpf_dsq_nr_queued(i) > 0 && scx_bpf_dsq_move_to_local(i)) {
            count(TAKEN_WHEN_IDLE);
            return true;
        }
    }
    return false;
}

/* Walks the own queue for the best two tasks, and publishes the second if it waits. The previous task, with pid 0, competes first; if it
 * is the second, it is published when it is inserted. */
static __always_inline void walk(struct cpu *here, s32 cpu, s32 worth_of_previous, u64 mm)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;

    here->walk.best.worth = worth_of_previous;
    here->walk.best.pid = 0;
    clear_cache(&here->walk.second);
    bpf_iter_scx_dsq_new(&it, cpu, 0);
    while ((p = bpf_iter_scx_dsq_next(&it))) {
        struct goodness_task *task = task_of(p);

        if (!task || !may_run(p, cpu))
            continue;
        count(EXAMINED);
        catch_up(task, epoch, LINUX_2_4);
        if (offer_to_walk(&here->walk, local_goodness(task, mm), p->pid))
            here->na_best = na_goodness(task);
    }
    bpf_iter_scx_dsq_destroy(&it);
    here->published = here->walk.second;
    if (!here->published.pid)
        clear_cache(&here->published);
}

/* Takes the best task of the walk, if it is not the previous one. Returns whether a task was taken. */
static __always_inline bool take_best(struct cpu *here, s32 cpu)
{
    struct bpf_iter_scx_dsq it;
    bool taken;

    if (!here->walk.best.pid)
        return false;
    bpf_iter_scx_dsq_new(&it, cpu, 0);
    taken = take_task(&it, cpu, here->walk.best.pid);
    bpf_iter_scx_dsq_destroy(&it);
    return taken;
}

SEC("struct_ops/dispatch")
void BPF_PROG(multiqueue_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 started_ns = bpf_ktime_get_ns(), mm = loaded_mm(prev);
    s32 length = scx_bpf_dsq_nr_queued(cpu), worth = NO_TASK, round;
    struct goodness_task *task = NULL;
    struct cpu *here = cpu_of(cpu);
    bool taken = false;

    if (!here)
        return;
    count(DECISIONS);
    if (prev && is_runnable(prev)) {
        task = task_of(prev);
        if (!task)
            return;
        charge(task, LINUX_2_4);
        worth = local_goodness(task, mm);
    }
    bpf_for(round, 0, 2) {
        walk(here, cpu, worth, mm);
        taken = steal_better(here, cpu, with_affinity(here->walk.best.worth));
        if (taken) {
            if (here->walk.best.pid)
                offer_to_cache(&here->published, here->na_best, here->walk.best.pid);
            break;
        }
        if (!must_recalculate(here->walk.best.worth)) {
            taken = take_best(here, cpu);
            break;
        }
        count(RECALCULATIONS);
        start_epoch();
        if (task) {
            catch_up(task, epoch, LINUX_2_4);
            worth = local_goodness(task, mm);
        }
    }
    if (!taken && task) {
        count(CONTINUED);
        keep_running(&here->now, task, prev);
    } else if (!taken && !scx_bpf_dsq_move_to_local(cpu)) {
        take_any(cpu);
    }
    charge_decision(prev, LINUX_2_4);
    record_decision(started_ns, length);
}

SEC("struct_ops/yield")
bool BPF_PROG(multiqueue_yield, struct task_struct *from, struct task_struct *to)
{
    struct goodness_task *task = task_of(from);
    bool waiting = false;
    s32 i;

    count(YIELDS);
    if (!task)
        return false;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        if (scx_bpf_dsq_nr_queued(i) > 0) {
            waiting = true;
            break;
        }
    }
    if (!yield_has_effect(waiting, LINUX_2_4)) {
        count(YIELDS_IGNORED);
        return false;
    }
    start_yield(task, from, LINUX_2_4);
    return true;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(multiqueue_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    return init_task(p, args, LINUX_2_4);
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(multiqueue_cpu_offline, s32 cpu)
{
    drain_queue(cpu, cpu, true);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(multiqueue_init)
{
    s32 i, error = check_cpus();

    if (error)
        return error;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        struct cpu *cpu = cpu_of(i);

        if (!cpu)
            return -7; /* for the verifier; check_cpus has excluded it */
        clear_cache(&cpu->published);
        error = scx_bpf_create_dsq(i, -1);
        if (error)
            return error;
    }
    return 0;
}

SCHEDULER(.select_cpu = (void *)multiqueue_select_cpu, .enqueue = (void *)multiqueue_enqueue,
          .dispatch = (void *)multiqueue_dispatch, .running = (void *)goodness_running,
          .tick = (void *)goodness_tick, .stopping = (void *)goodness_stopping, .yield = (void *)multiqueue_yield,
          .cpu_offline = (void *)multiqueue_cpu_offline, .init_task = (void *)multiqueue_init_task,
          .init = (void *)multiqueue_init, .name = "klatch_multiqueue");
