/* Shared by all schedulers: self-describing knobs and statistics, cost of decisions, reason of the exit, kicks. */
#pragma once

#include "scx.bpf.h"
#include <policies/types.h>

#define CPUS_MAX 64
#define LENGTHS 1024

/* Knobs in order. The loader sets them before it loads the object; from then on they are constants to the verifier. */
struct knob {
    char name[16];
    char what[112];
    u64 value, min, max;
};
#define KNOBS const volatile struct knob knobs[] SEC(".rodata.knobs")

/* Names and descriptions of the statistics, in the order of the scheduler's enum. */
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

static __always_inline void count(u32 stat_index)
{
    u64 *stat = bpf_map_lookup_elem(&klatch_stats, &stat_index);

    if (stat)
        (*stat)++;
}

/* Cost of decisions at one queue length. */
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

/* Adds a decision that began at `started_ns` with `length` waiting tasks. */
static __always_inline void record_decision(u64 started_ns, u64 length)
{
    u64 ns = bpf_ktime_get_ns() - started_ns;
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

/* Why the kernel unloaded the scheduler. */
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

/* Without this and `cpu_offline` the kernel unloads a scheduler when a CPU goes on or off line. */
SEC("struct_ops/cpu_online")
void BPF_PROG(klatch_cpu_online, s32 cpu)
{
}

/* Per-task data: `member` of `stored`, at the same place in each. `task_of` returns it, or NULL for a new task; `create_task`
 * adds it. `parent_of` returns the data of the forking task, or NULL if the task was not forked just now. */
#define STORED_TASKS(stored, data, member)                                                      \
    struct {                                                                                    \
        __uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                                \
        __uint(map_flags, BPF_F_NO_PREALLOC);                                                   \
        __type(key, int);                                                                       \
        __type(value, stored);                                                                  \
    } tasks SEC(".maps");                                                                       \
                                                                                                \
    static __always_inline data *stored_task(struct task_struct *p, u64 flags)                  \
    {                                                                                           \
        stored *all = bpf_task_storage_get(&tasks, p, 0, flags);                                \
                                                                                                \
        return all ? &all->member : NULL;                                                       \
    }                                                                                           \
                                                                                                \
    static __always_inline data *task_of(struct task_struct *p)                                 \
    {                                                                                           \
        return stored_task(p, 0);                                                               \
    }                                                                                           \
                                                                                                \
    static __always_inline data *create_task(struct task_struct *p)                             \
    {                                                                                           \
        return stored_task(p, BPF_LOCAL_STORAGE_GET_F_CREATE);                                  \
    }                                                                                           \
                                                                                                \
    static __always_inline __attribute__((unused)) data *                                       \
    parent_of(const struct scx_init_task_args *args)                                            \
    {                                                                                           \
        return args->fork ? stored_task(bpf_get_current_task_btf(), 0) : NULL;                  \
    }

/* The same if nothing else is stored. */
#define TASKS(data)     \
    struct stored {     \
        data task;      \
    };                  \
    STORED_TASKS(struct stored, data, task)

/* Per-CPU data. `cpu_of` returns it, or NULL for a number outside the table. */
#define CPUS(data)                                                                              \
    struct {                                                                                    \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                       \
        __uint(max_entries, CPUS_MAX);                                                          \
        __type(key, u32);                                                                       \
        __type(value, data);                                                                    \
    } cpus SEC(".maps");                                                                        \
                                                                                                \
    static __always_inline data *cpu_of(s32 cpu)                                                \
    {                                                                                           \
        u32 key = cpu;                                                                          \
                                                                                                \
        return bpf_map_lookup_elem(&cpus, &key);                                                \
    }

/* 0 if the table has room for every CPU, else an error. A CPU outside the table would make no decisions, and tasks bound to
 * it would wait until the kernel unloads the scheduler. */
static __always_inline s32 check_cpus(void)
{
    return scx_bpf_nr_cpu_ids() > CPUS_MAX ? -7 /* -E2BIG */ : 0;
}

/* Makes `cpu` call dispatch. The kernel kicks through an irq_work of the current CPU. A CPU that is going offline no longer
 * receives that interrupt: its request stays queued, blocks all later ones when the CPU returns, and Linux 7.2 then cannot
 * unload the scheduler. So an offline CPU kicks nobody; the kernel itself reschedules the CPU of the task. */
static __always_inline void kick(s32 cpu, u64 flags)
{
    const struct cpumask *online = scx_bpf_get_online_cpumask();
    bool is_online = bpf_cpumask_test_cpu(bpf_get_smp_processor_id(), online);

    scx_bpf_put_cpumask(online);
    if (is_online)
        scx_bpf_kick_cpu(cpu, flags);
}

/* Makes `cpu` call dispatch if it is idle. */
static __always_inline void kick_if_idle(s32 cpu)
{
    kick(cpu, KERNEL_VALUE(scx_kick_flags, SCX_KICK_IDLE));
}

/* Ends the slice of the current task of `cpu`, so that the CPU decides at once. */
static __always_inline void preempt(s32 cpu)
{
    kick(cpu, KERNEL_VALUE(scx_kick_flags, SCX_KICK_PREEMPT));
}

/* Kicks an idle CPU where `p` may run. Returns whether there is one. */
static __always_inline bool kick_idle_cpu(struct task_struct *p)
{
    s32 idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);

    if (idle >= 0)
        kick_if_idle(idle);
    return idle >= 0;
}

/* Moves tasks from `queue` to the kernel's local queues because `cpu` goes offline: the kernel no longer calls the scheduler
 * for it, and waits until its tasks have run or left. If `is_own_queue`, tasks of other CPUs move too, each to its own CPU. */
static __always_inline void drain_queue(s32 cpu, u64 queue, bool is_own_queue)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;

    bpf_iter_scx_dsq_new(&it, queue, 0);
    while ((p = bpf_iter_scx_dsq_next(&it))) {
        s32 home = scx_bpf_task_cpu(p);

        if (home == cpu || is_own_queue) {
            scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL_ON | home, 0);
            preempt(home);
        }
    }
    bpf_iter_scx_dsq_destroy(&it);
}

/* Whether a waiting task may move to `cpu`. The kernel unloads a scheduler that makes a forbidden move. */
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

/* Shortens the slice of the current task, which has shared it with a child. With nothing left, the CPU decides at once. */
static __always_inline void set_current_slice(u64 ns)
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
