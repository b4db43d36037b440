/* o1: Molnar's O(1) scheduler of early Linux 2.5, two arrays of lists by priority for each CPU.
 *
 * A decision takes the first task of the best list of the CPU's active array. Whose slice is used up goes to the expired
 * array, unless it sleeps much; when the active array is empty, the two change places. Priority is the nice value and a
 * bonus of up to 5 for sleeping. CPUs that are idle, or have far less, pull tasks from the one that has most. The policy
 * is in policy.h. Knobs are what the 2005 paper changed: where a task that yields goes (1 behind the one that runs next,
 * 2 to the tail of its list, 3 to the expired array), and whether an idle CPU may take what is still warm elsewhere (D7).
 *
 * What is not as it was:
 * - There are 40 lists, not 140: real-time tasks are the kernel's own business.
 * - An idle CPU is told of a waiting task at once, and once; the original looked every millisecond.
 * - A busy CPU balances when it decides, not at a tick. Of its own earlier loads it keeps the last one for all others.
 * - Slices end when the kernel looks, 250 times a second; sleep is counted in ns, not in ticks.
 * - A running task is in no list here; one that is preempted comes back to the head of its list, as it was there. */
#include "klatch.bpf.h"
#include "../o1/policy.h"

enum { YIELD, IDLE_PULLS_WARM, WARM_US, BALANCE_MS };
KNOBS = {
    { "yield", "who yields goes 1 behind the task that runs next, 2 to the tail of its list, 3 to the expired", 3, 1, 3 },
    { "idle_pulls_warm", "1: an idle CPU also takes tasks that ran a moment ago (D7); 0: it does not", 0, 0, 1 },
    { "warm_us", "how long after it ran a task counts as warm in its CPU's cache", 2500, 0, 1000000 },
    { "balance_ms", "how often a busy CPU looks whether another has far more", 250, 1, 10000 },
};

enum {
    DECISIONS, SWAPS, KEPT, SWITCHES, YIELDS, YIELD_ONLY, YIELD_SAME, YIELD_HIGHER, YIELD_LOWER,
    EXPIRED_STAYED, PREEMPTIONS, PULLED_IDLE, PULLED_BUSY, WARM, TOO_LATE,
};
STATS = {
    { "decisions", "times that a task was looked for" },
    { "swaps", "times that the active and the expired array changed places" },
    { "kept", "decisions for the task that ran before" },
    { "switches", "times that another task began to run than the one that ran before" },
    { "yields", "calls of sched_yield" },
    { "yield_only", "those after which the task itself ran on, as nobody else could be taken" },
    { "yield_same", "those after which a task of the same priority ran" },
    { "yield_higher", "those after which a task of a better priority ran" },
    { "yield_lower", "those after which a task of a worse priority ran" },
    { "expired_stayed", "used-up slices after which the task stayed among the active, as it sleeps much" },
    { "preemptions", "times that a woken task took a CPU from another" },
    { "pulled_idle", "tasks that an idle CPU pulled" },
    { "pulled_busy", "tasks that a busy CPU pulled" },
    { "warm", "tasks that were not pulled as they were warm elsewhere" },
    { "too_late", "lists that were found empty" },
};

TASKS(struct o1_task);

struct array {
    u64 bits; /* of the lists that hold somebody */
};

struct cpu {
    struct array arrays[2];
    u32 active;
    s32 queued; /* tasks that wait */
    s32 load_then;
    s32 pulled, most, from; /* of a balance under way; here, or the verifier tells every number apart */
    s32 busy;
    s32 priority; /* of the task that runs */
    s32 pid;      /* the same, or the last one */
    u64 expired_since_ns;
    u64 balanced_ns;
};

CPUS(struct cpu);

static __always_inline u64 list_of(s32 cpu, u32 array, s32 priority)
{
    return (u64)cpu << 8 | (array & 1) << 7 | (priority & 63);
}

/* The best list that holds somebody, or NONE. Not inline: the verifier looks at a function of its own once, and not at what
 * follows it once more for each bit. */
__noinline s32 best_list(s32 cpu, u32 array)
{
    struct cpu *of = cpu_of(cpu);

    return of ? first_of(of->arrays[array & 1].bits) : NONE;
}

/* Bits are set by whoever brings a task, and cleared by the CPU alone. */
static __always_inline void bring(struct cpu *cpu, u32 array, s32 priority)
{
    __sync_fetch_and_or(&cpu->arrays[array & 1].bits, 1ULL << (priority & 63));
}

static __always_inline void clear(struct cpu *cpu, u32 array, s32 priority)
{
    __sync_fetch_and_and(&cpu->arrays[array & 1].bits, ~(1ULL << (priority & 63)));
}

/* Each task counts for the CPU that `queued_on` names, if any: exchanged, as two CPUs may do so at once. */
static __always_inline void counts_for(struct o1_task *task, s32 number)
{
    struct cpu *cpu = cpu_of(number);
    s32 before;

    if (number >= 0 && cpu)
        __sync_fetch_and_add(&cpu->queued, 1);
    before = __sync_lock_test_and_set(&task->queued_on, number);
    cpu = cpu_of(before);
    if (before >= 0 && cpu)
        __sync_fetch_and_add(&cpu->queued, -1);
}

static __always_inline void leave(struct o1_task *task)
{
    counts_for(task, -1);
}

static __always_inline void charge(struct o1_task *task)
{
    u64 now = bpf_ktime_get_ns();

    runs(task, now - task->started_ns);
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

static __always_inline void renew(struct o1_task *task)
{
    task->slice_ns = full_slice_ns(task->nice);
    task->priority = priority_of(task);
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(o1_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    s32 here = bpf_get_smp_processor_id();

    if (flags & OF_KERNEL(scx_wake_flags, SCX_WAKE_SYNC) && bpf_cpumask_test_cpu(here, p->cpus_ptr))
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
    if (flags & OF_KERNEL(scx_enq_flags, SCX_ENQ_WAKEUP)) {
        if (task->slept_at_ns)
            sleeps(task, bpf_ktime_get_ns() - task->slept_at_ns);
        task->slept_at_ns = 0;
        task->priority = priority_of(task);
    } else {
        reason = reason_of(task);
    }
    place = place_of(task, reason, starving(cpu), knobs[YIELD].value);
    if (!task->slice_ns) {
        renew(task);
        if (reason == EXPIRED && !place.expired)
            count(EXPIRED_STAYED);
    }
    task->yielded = 0;
    array = cpu->active ^ place.expired;
    if (place.expired && !cpu->expired_since_ns)
        cpu->expired_since_ns = bpf_ktime_get_ns();
    if (place.end == HEAD)
        flags |= OF_KERNEL(scx_enq_flags, SCX_ENQ_HEAD);
    counts_for(task, home);
    scx_bpf_dsq_insert(p, list_of(home, array, task->priority), task->slice_ns, flags);
    bring(cpu, array, task->priority);
    if (reason == WOKEN && cpu->busy && task->priority < cpu->priority) {
        count(PREEMPTIONS);
        preempt(home);
    } else if (cpu->busy || reason != WOKEN) {
        tell_idle(p);
    }
}

static __always_inline bool is_warm(const struct o1_task *task, u64 now, bool idle)
{
    return !(idle && knobs[IDLE_PULLS_WARM].value) && now - task->ran_at_ns < knobs[WARM_US].value * 1000;
}

static __always_inline s32 load_of(struct cpu *cpu)
{
    return cpu->queued + cpu->busy;
}

/* Pulls tasks from the lists of `from`: first the expired, the best priority first, the tail of a list first. */
static __always_inline void pull(s32 cpu, struct cpu *here, s32 from, struct cpu *victim, s32 wanted, bool idle)
{
    u64 now = bpf_ktime_get_ns();
    s32 i;

    here->pulled = 0;
    bpf_for(i, 0, 2 * PRIORITIES) {
        u32 priority = (u32)i % PRIORITIES;
        u32 expired = i < PRIORITIES, array = victim->active ^ expired, mine = here->active ^ expired;
        struct bpf_iter_scx_dsq it;
        struct task_struct *p;

        if (!(victim->arrays[array & 1].bits & 1ULL << priority))
            continue;
        bpf_iter_scx_dsq_new(&it, list_of(from, array, priority), OF_KERNEL(scx_dsq_iter_flags, SCX_DSQ_ITER_REV));
        while ((p = bpf_iter_scx_dsq_next(&it))) {
            struct o1_task *task = task_of(p);

            if (here->pulled >= wanted)
                break;
            if (!task || !may_run(p, cpu))
                continue;
            if (is_warm(task, now, idle)) {
                count(WARM);
                continue;
            }
            if (!scx_bpf_dsq_move(&it, p, idle ? SCX_DSQ_LOCAL : list_of(cpu, mine, priority), 0))
                continue;
            here->pulled++;
            count(idle ? PULLED_IDLE : PULLED_BUSY);
            if (!idle) {
                bring(here, mine, priority);
                counts_for(task, cpu);
            }
        }
        bpf_iter_scx_dsq_destroy(&it);
        if (here->pulled >= wanted)
            break;
    }
}

static __always_inline void balance(s32 cpu, struct cpu *here, bool idle)
{
    s32 own = load_of(here), wanted, i;
    struct cpu *other;

    if (!idle && here->load_then > own)
        own = here->load_then;
    here->most = 0;
    here->from = -1;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        s32 load;

        other = cpu_of(i);
        if (!other || i == cpu || !other->queued)
            continue;
        load = load_of(other);
        if (!idle && other->load_then < load)
            load = other->load_then;
        if (load > here->most) {
            here->most = load;
            here->from = i;
        }
    }
    here->load_then = load_of(here);
    wanted = to_pull(here->most, own, idle);
    other = cpu_of(here->from);
    if (here->from >= 0 && wanted > 0 && other)
        pull(cpu, here, here->from, other, wanted, idle);
}

static __always_inline void swap(struct cpu *here)
{
    count(SWAPS);
    here->active ^= 1;
    here->expired_since_ns = 0;
}

static __always_inline void count_outcome(enum outcome outcome)
{
    count(outcome == ONLY ? YIELD_ONLY : outcome == SAME ? YIELD_SAME : outcome == HIGHER ? YIELD_HIGHER : YIELD_LOWER);
}

SEC("struct_ops/dispatch")
void BPF_PROG(o1_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 began = bpf_ktime_get_ns();
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
        place = place_of(task, reason_of(task), starving(here), knobs[YIELD].value);
        behind_next = task->yielded && knobs[YIELD].value == YIELD_BEHIND_NEXT;
        previous = task->priority;
    }
    if (began - here->balanced_ns >= knobs[BALANCE_MS].value * MS) {
        here->balanced_ns = began;
        balance(cpu, here, false);
    }
    bpf_for(round, 0, 2 * PRIORITIES) {
        s32 active = best_list(cpu, here->active);
        s32 expired = best_list(cpu, !(here->active & 1));
        enum choice choice = choose(active, expired, previous, place, behind_next);
        s32 chosen = choice == FROM_EXPIRED ? expired : active;
        u64 list;

        if (choice == FROM_EXPIRED || (choice == PREVIOUS && place.expired))
            swap(here);
        if (choice == FROM_ACTIVE || choice == FROM_EXPIRED) {
            list = list_of(cpu, here->active, chosen);
            if (!scx_bpf_dsq_move_to_local(list)) {
                count(TOO_LATE);
                clear(here, here->active, chosen);
                continue;
            }
            if (!scx_bpf_dsq_nr_queued(list))
                clear(here, here->active, chosen);
        }
        if (task && task->yielded)
            count_outcome(outcome_of(choice, previous, chosen));
        if (choice == PREVIOUS) {
            count(KEPT);
            task->yielded = 0;
            if (!task->slice_ns)
                renew(task);
            set_slice(prev, task->slice_ns);
        }
        if (choice == NOTHING)
            balance(cpu, here, true);
        break;
    }
    decided(began, length);
}

SEC("struct_ops/running")
void BPF_PROG(o1_running, struct task_struct *p)
{
    struct o1_task *task = task_of(p);
    struct cpu *here = cpu_of(scx_bpf_task_cpu(p));

    if (!task || !here)
        return;
    leave(task);
    task->started_ns = bpf_ktime_get_ns();
    here->priority = task->priority;
    here->busy = 1;
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
        leave(task);
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

SEC("struct_ops.s/init_task")
s32 BPF_PROG(o1_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    struct o1_task *task = task_made(p), *parent = parent_of(args);

    if (!task)
        return -12; /* -ENOMEM */
    task->nice = nice_of(p);
    task->queued_on = -1;
    if (parent) {
        task->sleep_ns = parent->sleep_ns / 100 * 95;
        task->slice_ns = (parent->slice_ns + 1) / 2;
        parent->slice_ns /= 2;
        cut_current(parent->slice_ns);
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
        give_back(cpu, list_of(cpu, i >= PRIORITIES, (u32)i % PRIORITIES), true);
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
          .running = (void *)o1_running, .stopping = (void *)o1_stopping, .quiescent = (void *)o1_quiescent,
          .yield = (void *)o1_yield, .cpu_offline = (void *)o1_cpu_offline, .init_task = (void *)o1_init_task,
          .init = (void *)o1_init, .name = "klatch_o1");
