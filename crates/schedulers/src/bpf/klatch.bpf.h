/* What the schedulers share: knobs and statistics that describe themselves, the cost of decisions, how it ended. */
#pragma once

#include "scx.bpf.h"
#include "words.h"

#define CPUS_MAX 64
#define LENGTHS 1024

/* What can be set, in order; set before the object is loaded, constant for the verifier from then on. */
struct knob {
    char name[16];
    char what[112];
    u64 value, min, max;
};
#define KNOBS const volatile struct knob knobs[] SEC(".rodata.knobs")

/* Names and meanings of the statistics, in the order of the scheduler's own enum. */
struct stat_text {
    char name[24];
    char what[104];
};
#define STATS const volatile struct stat_text stat_texts[] SEC(".rodata.stats") __attribute__((used))

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 32);
    __type(key, u32);
    __type(value, u64);
} klatch_stats SEC(".maps");

static __always_inline void count(u32 which)
{
    u64 *stat = bpf_map_lookup_elem(&klatch_stats, &which);

    if (stat)
        (*stat)++;
}

/* What decisions cost, by the number of tasks that waited. */
struct cost {
    u64 decisions;
    u64 ns;
    u64 ns_min;
    u64 ns_max;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, LENGTHS);
    __type(key, u32);
    __type(value, struct cost);
} klatch_costs SEC(".maps");

static __always_inline void decided(u64 began_ns, u64 length)
{
    u64 ns = bpf_ktime_get_ns() - began_ns;
    u32 row = length < LENGTHS ? length : LENGTHS - 1;
    struct cost *cost = bpf_map_lookup_elem(&klatch_costs, &row);

    if (!cost)
        return;
    if (!cost->decisions || ns < cost->ns_min)
        cost->ns_min = ns;
    if (ns > cost->ns_max)
        cost->ns_max = ns;
    cost->ns += ns;
    cost->decisions++;
}

/* How it ended. */
struct ending {
    s64 kind;
    s64 code;
    char reason[128];
    char message[512];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct ending);
} klatch_ending SEC(".maps");

SEC("struct_ops/exit")
void BPF_PROG(klatch_exit, struct scx_exit_info *info)
{
    u32 zero = 0;
    struct ending *ending = bpf_map_lookup_elem(&klatch_ending, &zero);

    if (!ending)
        return;
    ending->code = info->exit_code;
    bpf_probe_read_kernel_str(ending->reason, sizeof(ending->reason), info->reason);
    bpf_probe_read_kernel_str(ending->message, sizeof(ending->message), info->msg);
    ending->kind = info->kind;
}

/* Without this and `cpu_offline` the kernel would throw a scheduler out when a CPU comes or goes. */
SEC("struct_ops/cpu_online")
void BPF_PROG(klatch_cpu_online, s32 cpu)
{
}

/* What is kept of each task: `task_of` finds it, NULL for a task that is new; `task_made` makes it. `parent_of` is that of the
 * task which forks, if one does. */
#define TASKS(kept)                                                                             \
    struct {                                                                                    \
        __uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                                \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                   \
        __type(key, int);                                                                       \
        __type(value, kept);                                                                    \
    } tasks SEC(".maps");                                                                       \
                                                                                                \
    static __always_inline kept *task_of(struct task_struct *p)                                 \
    {                                                                                           \
        return bpf_task_storage_get(&tasks, p, 0, 0);                                           \
    }                                                                                           \
                                                                                                \
    static __always_inline kept *task_made(struct task_struct *p)                               \
    {                                                                                           \
        return bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);              \
    }                                                                                           \
                                                                                                \
    static __always_inline kept *parent_of(const struct scx_init_task_args *args)               \
    {                                                                                           \
        return args->fork ? bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0) : NULL; \
    }

/* What is kept of each CPU: `cpu_of` finds it, NULL for none or one too many. */
#define CPUS(kept)                                                                              \
    struct {                                                                                    \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                       \
        __uint(max_entries, CPUS_MAX);                                                          \
        __type(key, u32);                                                                       \
        __type(value, kept);                                                                    \
    } cpus SEC(".maps");                                                                        \
                                                                                                \
    static __always_inline kept *cpu_of(s32 cpu)                                                \
    {                                                                                           \
        u32 key = cpu;                                                                          \
                                                                                                \
        return bpf_map_lookup_elem(&cpus, &key);                                                \
    }

/* Whether the tables hold all CPUs: 0, or an error. On a CPU without a place in them nothing would be decided, and the tasks that
 * are bound to it would wait until the kernel throws the scheduler out. */
static __always_inline s32 check_cpus(void)
{
    return scx_bpf_nr_cpu_ids() > CPUS_MAX ? -7 /* -E2BIG */ : 0;
}

/* Makes `cpu` look for a task. The kernel does so by an interrupt that the CPU where this runs sends itself. One that is going
 * gets none any more: what it still asks for would stand before all that is asked for by interrupt when it is back, and
 * never be done (seen on Linux 7.2, which cannot unload the scheduler then). The kernel itself tells the task's own CPU. */
static __always_inline void kick(s32 cpu, u64 flags)
{
    const struct cpumask *online = scx_bpf_get_online_cpumask();
    bool is_heard = bpf_cpumask_test_cpu(bpf_get_smp_processor_id(), online);

    scx_bpf_put_cpumask(online);
    if (is_heard)
        scx_bpf_kick_cpu(cpu, flags);
}

/* Makes an idle CPU look. */
static __always_inline void wake(s32 cpu)
{
    kick(cpu, OF_KERNEL(scx_kick_flags, SCX_KICK_IDLE));
}

/* Makes a CPU decide at once. */
static __always_inline void preempt(s32 cpu)
{
    kick(cpu, OF_KERNEL(scx_kick_flags, SCX_KICK_PREEMPT));
}

/* Tells an idle CPU where `p` may run to look at the queues. Whether there is one. */
static __always_inline bool tell_idle(struct task_struct *p)
{
    s32 idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);

    if (idle >= 0)
        wake(idle);
    return idle >= 0;
}

/* For a CPU that goes the kernel asks no scheduler any more, and waits until all its tasks have run or left: so those among
 * `queue` are given back to the kernel. Those of other CPUs, too, if the queue is for this one `alone`: each goes to its own. */
static __always_inline void give_back(s32 cpu, u64 queue, bool alone)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;

    bpf_iter_scx_dsq_new(&it, queue, 0);
    while ((p = bpf_iter_scx_dsq_next(&it))) {
        s32 home = scx_bpf_task_cpu(p);

        if (home == cpu || alone) {
            scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL_ON | home, 0);
            preempt(home);
        }
    }
    bpf_iter_scx_dsq_destroy(&it);
}

/* Whether a task that waits may be taken to `cpu`. Who asks for what is not allowed is thrown out. */
static __always_inline bool may_run(struct task_struct *p, s32 cpu)
{
    if (scx_bpf_task_cpu(p) == cpu)
        return true;
    return !p->migration_disabled && bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

static __always_inline bool is_runnable(struct task_struct *p)
{
    return p->scx.flags & SCX_TASK_QUEUED;
}

static __always_inline void set_slice(struct task_struct *p, u64 ns)
{
    if (bpf_ksym_exists(scx_bpf_task_set_slice))
        scx_bpf_task_set_slice(p, ns);
    else
        p->scx.slice = ns;
}

/* The task that runs here has this much left, as it has shared with a child; when that is nothing, there is a decision. */
static __always_inline void cut_current(u64 ns)
{
    set_slice(bpf_get_current_task_btf(), ns);
    if (!ns)
        preempt(bpf_get_smp_processor_id());
}

static __always_inline s32 nice_of(struct task_struct *p)
{
    return p->static_prio - 120;
}

#define SCHEDULER(...)                                 \
    SEC(".struct_ops.link")                            \
    struct sched_ext_ops scheduler = {                 \
        .exit = (void *)klatch_exit,                   \
        .cpu_online = (void *)klatch_cpu_online,       \
        .timeout_ms = 30000,                           \
        __VA_ARGS__                                    \
    }
