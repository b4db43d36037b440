/* System calls by side, and the outcome of each sched_yield. */
#include "klatch.bpf.h"

/* No header for BPF programs defines system call numbers. */
#ifdef __TARGET_ARCH_x86
#define SCHED_YIELD 24
#else
#define SCHED_YIELD 124 /* asm-generic/unistd.h */
#endif

#define CALLS 512

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SIDES * CALLS);
    __type(key, u32);
    __type(value, u64);
} calls SEC(".maps");

struct yields {
    u64 all;
    u64 only;
    u64 same;
    u64 higher;
    u64 lower;
    u64 itself;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SIDES);
    __type(key, u32);
    __type(value, struct yields);
} yields SEC(".maps");

/* The sched_yield that is in progress on a CPU. */
struct yielding {
    u32 pid; /* 0: none */
    u32 side;
    u64 length;
    u64 window;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct yielding);
} yielding SEC(".maps");

static __always_inline struct yielding *yield_on_this_cpu(void)
{
    u32 zero = 0;

    return bpf_map_lookup_elem(&yielding, &zero);
}

/* Ends the yield of task `pid` on this CPU. Returns its side's counters, or null if it was not counted from its start. */
static __always_inline struct yields *end_yield(struct yielding *yield, u32 pid)
{
    if (!yield || !yield->pid || yield->pid != pid)
        return 0;
    yield->pid = 0;
    return yield->window == this_window() ? bpf_map_lookup_elem(&yields, &yield->side) : 0;
}

static __always_inline void begin_yield(u64 id, u32 side)
{
    struct yields *all = bpf_map_lookup_elem(&yields, &side);
    struct yielding *yield = yield_on_this_cpu();

    if (!all || !yield)
        return;
    all->all++;
    yield->pid = id;
    yield->side = side;
    yield->window = this_window();
    yield->length = queue_length_here();
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs *registers, long number)
{
    u64 id = bpf_get_current_pid_tgid();
    u32 side = side_of(id >> 32);
    u32 key = side * CALLS + ((u32)number & (CALLS - 1));
    u64 *count;

    if (side == OTHERS || !this_window())
        return 0;
    count = bpf_map_lookup_elem(&calls, &key);
    if (count)
        ++*count;
    if (number == SCHED_YIELD)
        begin_yield(id, side);
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
    struct yields *all = end_yield(yield_on_this_cpu(), prev->pid);

    if (!all)
        return 0;
    /* A lower number is a higher priority. */
    if (next->prio == prev->prio)
        all->same++;
    else if (next->prio < prev->prio)
        all->higher++;
    else
        all->lower++;
    return 0;
}

/* The yield returned without a switch. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit)
{
    struct yielding *yield = yield_on_this_cpu();
    struct yields *all = end_yield(yield, bpf_get_current_pid_tgid());

    if (!yield || !all)
        return 0;
    if (yield->length > 1)
        all->itself++;
    else
        all->only++;
    return 0;
}
