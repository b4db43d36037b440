/* multiqueue: Kravetz and Franke's MQ for Linux 2.4, a queue for each CPU and nearly the same decisions.
 *
 * Each decision walks the CPU's own queue only, and compares its best task with the one that each other queue has told to be
 * its best. If one of those is better by more than the bonus for affinity, it is stolen. Slices, epochs and yielding are
 * those of Linux 2.4 (../goodness/policy.h); the rest is in policy.h.
 *
 * The cost of a decision still grows with the length of the CPU's own queue: on one CPU this is the old scheduler. What it
 * saves are the other CPUs' tasks, and the wait for the one lock.
 *
 * What is not as it was, besides what ../goodness tells:
 * - A queue's lock cannot be tried for. A steal fails here when the task is gone, as it did when the lock was taken.
 * - Of several idle CPUs any one is told, not the one that was idle longest.
 * - The common queue for real-time tasks is missing: these are the kernel's own business. */
#include "../goodness/tasks.bpf.h"
#include "../multiqueue/policy.h"

#define version() LINUX_2_4

enum { STEALS_TRIED };
KNOBS = { { "steals_tried", "queues of other CPUs that a decision may try to steal from", 4, 0, 64 } };

enum { DECISIONS, LOOKED_AT, RECALCULATIONS, STOLEN, STEALS_FAILED, TAKEN_WHEN_IDLE, KEPT, YIELDS, YIELDS_IGNORED, PREEMPTIONS };
STATS = {
    { "decisions", "times that a task was looked for" },
    { "looked_at", "tasks whose goodness was computed" },
    { "recalculations", "times that all slices were used up" },
    { "stolen", "tasks taken from another CPU's queue as they were better than the own best" },
    { "steals_failed", "times that such a task was gone" },
    { "taken_when_idle", "tasks taken from another CPU's queue as the own was empty" },
    { "kept", "decisions for the task that ran before" },
    { "yields", "calls of sched_yield" },
    { "yields_ignored", "those among them that did nothing as nobody waited" },
    { "preemptions", "times that a woken task took a CPU from another" },
};

/* A CPU and its queue, whose number is the CPU's. */
struct cpu {
    struct mq_cache told;
    struct mq_walk walk; /* the one under way */
    struct running now;
    s32 least, at; /* of a search under way; here and not in locals, or the verifier tells every number apart */
};

CPUS(struct cpu);
#include "../goodness/running.bpf.h"

/* Where a woken task goes: its own CPU if that is idle, another idle one, or the one that minds least. */
SEC("struct_ops/select_cpu")
s32 BPF_PROG(multiqueue_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    struct cpu *scratch = cpu_of(bpf_get_smp_processor_id());
    struct goodness_task *task = task_of(p);
    s32 i;

    if (!task || !scratch || scx_bpf_test_and_clear_cpu_idle(last))
        return last;
    i = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
    if (i >= 0)
        return i;
    catch_up(task, epoch, LINUX_2_4);
    scratch->least = na_goodness(task);
    scratch->at = last;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        struct cpu *cpu = cpu_of(i);
        s32 minds;

        if (!cpu || !cpu->now.busy || !may_run(p, i))
            continue;
        minds = resistance(na_goodness(&cpu->now.task), i == last);
        if (minds < scratch->least && preempts(task, &cpu->now.task, i, LINUX_2_4, SAME_CPU_BONUS)) {
            scratch->least = minds;
            scratch->at = i;
            task->sync = 1; /* take that CPU, see enqueue */
        }
    }
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
    reason = comes(task, p, flags, LINUX_2_4);
    if (joins(reason) == HEAD)
        flags |= OF_KERNEL(scx_enq_flags, SCX_ENQ_HEAD);
    scx_bpf_dsq_insert(p, home, TICK_NS, flags);
    tell(&cpu->told, na_goodness(task), p->pid);
    if (task->sync) {
        task->sync = 0;
        count(PREEMPTIONS);
        preempt(home);
    } else if (reason != WOKEN) {
        tell_idle(p);
    }
}

/* Takes the task of that number from the queue of `from`, and tells that queue's first task instead. */
static __always_inline bool steal(s32 cpu, s32 from, struct cpu *victim, s32 pid)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p, *first;
    struct goodness_task *task;
    bool taken = false;

    forget(&victim->told);
    bpf_iter_scx_dsq_new(&it, from, 0);
    p = bpf_task_from_pid(pid);
    if (p) {
        task = task_of(p);
        if (task && may_run(p, cpu)) {
            scx_bpf_dsq_move_set_slice(&it, task->counter_ns);
            taken = scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL, 0);
        }
        bpf_task_release(p);
    }
    first = bpf_iter_scx_dsq_next(&it);
    if (first) {
        task = task_of(first);
        if (task)
            tell(&victim->told, na_goodness(task), first->pid);
    }
    bpf_iter_scx_dsq_destroy(&it);
    return taken;
}

/* Looks whether another queue's best is better than `than`. */
static __always_inline bool steal_better(struct cpu *here, s32 cpu, s32 than)
{
    s32 i, round;

    bpf_for(round, 0, knobs[STEALS_TRIED].value) {
        struct cpu *victim;

        here->least = than;
        here->at = -1;
        bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
            victim = cpu_of(i);
            if (victim && i != cpu && victim->told.worth > here->least) {
                here->least = victim->told.worth;
                here->at = i;
            }
        }
        victim = cpu_of(here->at);
        if (here->at < 0 || !victim)
            return false;
        if (steal(cpu, here->at, victim, victim->told.pid)) {
            count(STOLEN);
            return true;
        }
        count(STEALS_FAILED);
    }
    return false;
}

/* Rather any task than none. */
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

/* Walks the own queue; takes its best, or a better one of another's, if that is better than the previous task. */
static __always_inline bool walk(struct cpu *here, s32 cpu, s32 worth_of_previous, u64 mm)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p, *best = NULL;
    struct goodness_task *task;
    bool found = false;

    here->walk.best.worth = worth_of_previous;
    here->walk.best.pid = 0;
    forget(&here->walk.second);
    bpf_iter_scx_dsq_new(&it, cpu, 0);
    while ((p = bpf_iter_scx_dsq_next(&it))) {
        task = task_of(p);
        if (!task || !may_run(p, cpu))
            continue;
        count(LOOKED_AT);
        catch_up(task, epoch, LINUX_2_4);
        if (offer(&here->walk, local_goodness(task, mm), p->pid))
            best = p;
    }
    if (!must_recalculate(here->walk.best.worth)) {
        if (best) {
            task = task_of(best);
            if (task)
                scx_bpf_dsq_move_set_slice(&it, task->counter_ns);
            found = scx_bpf_dsq_move(&it, best, SCX_DSQ_LOCAL, 0);
        }
        here->told = here->walk.second;
    }
    bpf_iter_scx_dsq_destroy(&it);
    return found;
}

SEC("struct_ops/dispatch")
void BPF_PROG(multiqueue_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 began = bpf_ktime_get_ns(), mm = 0;
    s32 length = scx_bpf_dsq_nr_queued(cpu), worth = NOBODY, affine;
    struct goodness_task *task = NULL;
    struct cpu *here = cpu_of(cpu);

    if (!here)
        return;
    count(DECISIONS);
    if (prev && is_runnable(prev)) {
        task = task_of(prev);
        if (!task)
            return;
        charge(task, LINUX_2_4);
        mm = task->mm;
        worth = local_goodness(task, mm);
    }
    affine = here->told.worth > worth ? here->told.worth : worth;
    if (steal_better(here, cpu, with_affinity(affine)) || walk(here, cpu, worth, mm))
        goto out;
    if (must_recalculate(here->walk.best.worth)) {
        count(RECALCULATIONS);
        turn_epoch();
        if (task) {
            catch_up(task, epoch, LINUX_2_4);
            worth = local_goodness(task, mm);
        }
        if (walk(here, cpu, worth, mm))
            goto out;
    }
    if (task) {
        count(KEPT);
        goes_on(task, prev);
    } else if (!scx_bpf_dsq_move_to_local(cpu)) {
        take_any(cpu);
    }
out:
    decided(began, length);
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
    if (!yields(waiting, LINUX_2_4)) {
        count(YIELDS_IGNORED);
        return false;
    }
    yields_now(task, from, LINUX_2_4);
    return true;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(multiqueue_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    return begins(p, args, LINUX_2_4);
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(multiqueue_cpu_offline, s32 cpu)
{
    give_back(cpu, cpu, true);
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
            return -7; /* for the verifier: check_cpus has seen to it */
        forget(&cpu->told);
        error = scx_bpf_create_dsq(i, -1);
        if (error)
            return error;
    }
    return 0;
}

SCHEDULER(.select_cpu = (void *)multiqueue_select_cpu, .enqueue = (void *)multiqueue_enqueue,
          .dispatch = (void *)multiqueue_dispatch, .running = (void *)goodness_running,
          .stopping = (void *)goodness_stopping, .yield = (void *)multiqueue_yield,
          .cpu_offline = (void *)multiqueue_cpu_offline, .init_task = (void *)multiqueue_init_task,
          .init = (void *)multiqueue_init, .name = "klatch_multiqueue");
