/* o1: Molnar's O(1) scheduler of early Linux 2.5, two arrays of lists by priority for each CPU.
 *
 * A decision takes the first task of the best list in the CPU's active array. A task with an expired slice goes to the
 * expired array, unless it sleeps much; when the active array is empty, the two swap. Priority is the nice value and a bonus
 * of up to 5 for sleep. CPUs that are idle, or have a much lower load, pull tasks from the one with the highest load. The
 * policy is in policies/o1.h. The knobs are the changes of the 2005 paper: where a yielding task goes (1 behind the next task, 2 to
 * the tail of its list, 3 to the expired array), and whether an idle CPU may pull a task that is cache-warm elsewhere (D7).
 *
 * Differences from the original:
 * - There are 40 lists, not 140, because the kernel schedules real-time tasks.
 * - An idle CPU has no tick here. It looks for tasks at the ticks of each CPU where some wait.
 * - A busy CPU whose balance is due decides again; the original balanced in the tick.
 * - Slices end when the kernel checks, 250 times a second; sleep is counted in ns, not in ticks as the run time is.
 * - A running task is in no list here. A preempted one is inserted at the head of its list, where it was in the original. */
#include "klatch.bpf.h"
#include <policies/o1.h>

enum { YIELD, IDLE_PULLS_WARM, WARM_US, BALANCE_MS };
KNOBS = {
    { "yield", "a yielding task goes 1 behind the next task, 2 to the tail of its list, 3 to the expired array", 3, 1, 3 },
    { "idle_pulls_warm", "1: an idle CPU also pulls cache-warm tasks (D7); 0: it does not", 0, 0, 1 },
    { "warm_us", "how long after it ran a task counts as cache-warm, microseconds", 2500, 0, 1000000 },
    { "balance_ms", "how often a busy CPU balances, milliseconds", 250, 1, 10000 },
};

enum {
    DECISIONS, SWAPS, CONTINUED, SWITCHES, YIELDS, YIELD_ONLY, YIELD_SAME, YIELD_HIGHER, YIELD_LOWER,
    EXPIRED_STAYED, PREEMPTIONS, PULLED_IDLE, PULLED_BUSY, WARM, TOO_LATE,
};
STATS = {
    { "decisions", "scheduling decisions" },
    { "swaps", "swaps of the active and the expired array" },
    { "continued", "decisions to continue the previous task" },
    { "switches", "times that a CPU began to run another task" },
    { "yields", "calls of sched_yield" },
    { "yield_only", "yields after which the same task ran on" },
    { "yield_same", "yields after which a task of the same priority ran" },
    { "yield_higher", "yields after which a task of a better priority ran" },
    { "yield_lower", "yields after which a task of a worse priority ran" },
    { "expired_stayed", "expired slices after which the task stayed active because it sleeps much" },
    { "preemptions", "woken tasks that preempted another task" },
    { "pulled_idle", "tasks pulled by idle CPUs" },
    { "pulled_busy", "tasks pulled by busy CPUs" },
    { "warm", "tasks not pulled because they were cache-warm elsewhere" },
    { "too_late", "lists that another CPU emptied before the decision took a task" },
};

#include "../o1/cpu.bpf.h"
#include "../o1/balance.bpf.h"

static __always_inline void charge(struct o1_task *task)
{
    u64 now = bpf_ktime_get_ns();

    charge_run(task, ticks_between(task->started_ns, now));
    task->started_ns = task->ran_at_ns = now;
}

static __always_inline bool starving(struct cpu *cpu)
{
    return cpu->expired_since_ns && is_starving(bpf_ktime_get_ns() - cpu->expired_since_ns, cpu->queued + 1);
}

static __always_inline enum reason reason_of(const struct o1_task *task)
{
    return task->yielded ? YIELDED : task->slice_ns ? PREEMPTED : EXPIRED;
}

static __always_inline void renew_slice(struct o1_task *task)
{
    task->slice_ns = full_slice_ns(task->nice);
    task->priority = priority_of(task);
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(o1_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    s32 here = bpf_get_smp_processor_id();

    if (flags & KERNEL_VALUE(scx_wake_flags, SCX_WAKE_SYNC) && bpf_cpumask_test_cpu(here, p->cpus_ptr))
        return here;
    return last;
}

SEC("struct_ops/enqueue")
void BPF_PROG(o1_enqueue, struct task_struct *p, u64 flags)
{
    s32 home = scx_bpf_task_cpu(p);
    struct o1_task *task = task_of(p);
    struct cpu *cpu = cpu_of(home);
    enum reason reason = WOKEN;
    struct place place;
    u32 array;

    if (!task || !cpu)
        return;
    task->nice = nice_of(p);
    if (flags & KERNEL_VALUE(scx_enq_flags, SCX_ENQ_WAKEUP)) {
        if (task->slept_at_ns)
            add_sleep(task, bpf_ktime_get_ns() - task->slept_at_ns);
        task->slept_at_ns = 0;
        task->priority = priority_of(task);
    } else {
        reason = reason_of(task);
    }
    place = place_of(task, reason, starving(cpu), knobs[YIELD].value);
    if (!task->slice_ns) {
        renew_slice(task);
        if (reason == EXPIRED && !place.expired)
            count(EXPIRED_STAYED);
    }
    task->yielded = 0;
    array = cpu->active ^ place.expired;
    if (place.expired && !cpu->expired_since_ns)
        cpu->expired_since_ns = bpf_ktime_get_ns();
    if (place.end == HEAD)
        flags |= KERNEL_VALUE(scx_enq_flags, SCX_ENQ_HEAD);
    set_queued_on(task, home);
    scx_bpf_dsq_insert(p, list_of(home, array, task->priority), task->slice_ns, flags);
    mark_list(cpu, array, task->priority);
    if (reason == WOKEN && cpu->busy && task->priority < cpu->priority) {
        count(PREEMPTIONS);
        preempt(home);
    }
}

static __always_inline void swap_arrays(struct cpu *here)
{
    count(SWAPS);
    here->active ^= 1;
    here->expired_since_ns = 0;
}

static __always_inline void count_yield(enum outcome outcome)
{
    count(outcome == ONLY ? YIELD_ONLY : outcome == SAME ? YIELD_SAME : outcome == HIGHER ? YIELD_HIGHER : YIELD_LOWER);
}

SEC("struct_ops/dispatch")
void BPF_PROG(o1_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 started_ns = bpf_ktime_get_ns();
    struct place place = { 0, TAIL };
    struct cpu *here = cpu_of(cpu);
    struct o1_task *task = NULL;
    s32 previous = NONE, length, round;
    bool behind_next = false;

    if (!here)
        return;
    count(DECISIONS);
    length = here->queued;
    if (prev && is_runnable(prev)) {
        task = task_of(prev);
        if (!task)
            return;
        charge(task);
        /* As in the original, the new priority decides whether it sleeps much, and where it goes. */
        if (reason_of(task) == EXPIRED)
            task->priority = priority_of(task);
        place = place_of(task, reason_of(task), starving(here), knobs[YIELD].value);
        behind_next = task->yielded && knobs[YIELD].value == YIELD_BEHIND_NEXT;
        previous = task->priority;
    }
    if (here->balance_is_due && load_of(here))
        balance(cpu, here, false);
    here->balance_is_due = 0;
    bpf_for(round, 0, 2 * PRIORITIES) {
        s32 active = best_list(cpu, here->active);
        s32 expired = best_list(cpu, !(here->active & 1));
        enum choice choice = choose(active, expired, previous, place, behind_next);
        s32 chosen = choice == FROM_EXPIRED ? expired : active;
        u32 array = here->active ^ (choice == FROM_EXPIRED);
        u64 list;

        if (choice == FROM_ACTIVE || choice == FROM_EXPIRED) {
            list = list_of(cpu, array, chosen);
            if (!scx_bpf_dsq_move_to_local(list)) {
                count(TOO_LATE);
                unmark_list(here, array, chosen);
                /* Tasks that the kernel does not give to this CPU go back to the CPUs that they are on: no other would take
                 * them, and RCU may wait for one of them. */
                drain_queue(cpu, list, true);
                continue;
            }
            if (!scx_bpf_dsq_nr_queued(list))
                unmark_list(here, array, chosen);
            if (task && behind_next)
                task->priority = priority_behind(previous, chosen);
        }
        if (choice == FROM_EXPIRED || (choice == PREVIOUS && place.expired))
            swap_arrays(here);
        if (task && task->yielded)
            count_yield(outcome_of(choice, previous, chosen));
        if (choice == PREVIOUS) {
            count(CONTINUED);
            task->yielded = 0;
            if (!task->slice_ns)
                renew_slice(task);
            here->priority = task->priority;
            set_slice(prev, task->slice_ns);
        }
        if (choice == NOTHING) {
            here->period = 0;
            balance(cpu, here, true);
        }
        break;
    }
    record_decision(started_ns, length);
}

/* The number of the current period between two balances of a busy CPU. */
static __always_inline u64 period_now(void)
{
    return bpf_ktime_get_ns() / (knobs[BALANCE_MS].value * MS);
}

SEC("struct_ops/running")
void BPF_PROG(o1_running, struct task_struct *p)
{
    struct o1_task *task = task_of(p);
    struct cpu *here = cpu_of(scx_bpf_task_cpu(p));

    if (!task || !here)
        return;
    clear_queued_on(task);
    task->started_ns = bpf_ktime_get_ns();
    here->priority = task->priority;
    here->busy = 1;
    if (!here->period)
        here->period = period_now();
    if (here->pid != p->pid)
        count(SWITCHES);
    here->pid = p->pid;
}

SEC("struct_ops/stopping")
void BPF_PROG(o1_stopping, struct task_struct *p, bool runnable)
{
    struct o1_task *task = task_of(p);
    struct cpu *here = cpu_of(scx_bpf_task_cpu(p));

    if (!task || !here)
        return;
    charge(task);
    here->busy = 0;
    if (!runnable)
        task->slept_at_ns = task->ran_at_ns;
}

SEC("struct_ops/quiescent")
void BPF_PROG(o1_quiescent, struct task_struct *p, u64 flags)
{
    struct o1_task *task = task_of(p);

    if (task)
        clear_queued_on(task);
}

SEC("struct_ops/yield")
bool BPF_PROG(o1_yield, struct task_struct *from, struct task_struct *to)
{
    struct o1_task *task = task_of(from);

    count(YIELDS);
    if (!task)
        return false;
    task->yielded = 1;
    set_slice(from, 0);
    return true;
}

/* If tasks wait here, idle CPUs look for some. Once in a period, a busy CPU balances if tasks wait elsewhere. */
SEC("struct_ops/tick")
void BPF_PROG(o1_tick, struct task_struct *p)
{
    s32 cpu = scx_bpf_task_cpu(p), i;
    struct cpu *here = cpu_of(cpu);
    u64 period = period_now();

    if (!here)
        return;
    if (here->queued > 0) {
        bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
            if (scx_bpf_test_and_clear_cpu_idle(i))
                kick_if_idle(i);
        }
    }
    if (period == here->period)
        return;
    here->period = period;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        struct cpu *other = cpu_of(i);

        if (other && i != cpu && other->queued > 0)
            here->balance_is_due = 1;
    }
    if (here->balance_is_due)
        set_slice(p, 0);
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(o1_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    struct o1_task *task = create_task(p), *parent = parent_of(args);

    if (!task)
        return -12; /* -ENOMEM */
    task->nice = nice_of(p);
    task->queued_on = -1;
    if (parent) {
        task->sleep_ns = parent->sleep_ns / 100 * 95;
        task->slice_ns = (parent->slice_ns + 1) / 2;
        parent->slice_ns /= 2;
        set_current_slice(parent->slice_ns);
    }
    if (!task->slice_ns)
        task->slice_ns = full_slice_ns(task->nice);
    task->priority = priority_of(task);
    return 0;
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(o1_cpu_offline, s32 cpu)
{
    s32 i;

    bpf_for(i, 0, 2 * PRIORITIES)
        drain_queue(cpu, list_of(cpu, i >= PRIORITIES, (u32)i % PRIORITIES), true);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(o1_init)
{
    s32 cpu, i, error = check_cpus();

    if (error)
        return error;
    bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
        bpf_for(i, 0, 2 * PRIORITIES) {
            error = scx_bpf_create_dsq(list_of(cpu, i >= PRIORITIES, (u32)i % PRIORITIES), -1);
            if (error)
                return error;
        }
    }
    return 0;
}

SCHEDULER(.select_cpu = (void *)o1_select_cpu, .enqueue = (void *)o1_enqueue, .dispatch = (void *)o1_dispatch,
          .running = (void *)o1_running, .tick = (void *)o1_tick, .stopping = (void *)o1_stopping,
          .quiescent = (void *)o1_quiescent, .yield = (void *)o1_yield, .cpu_offline = (void *)o1_cpu_offline,
          .init_task = (void *)o1_init_task, .init = (void *)o1_init, .name = "klatch_o1");
