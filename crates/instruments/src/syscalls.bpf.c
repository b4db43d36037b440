/* System calls by process, and what yields lead to. */
#include "klatch.bpf.h"

/* Its number, which no header for BPF has. */
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

/* The yield that is under way on a CPU. */
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

static __always_inline struct yielding *here(void)
{
    u32 zero = 0;

    return bpf_map_lookup_elem(&yielding, &zero);
}

/* The yield of a task on this CPU, which is over with this. */
static __always_inline struct yields *ended(struct yielding *now, u32 pid)
{
    if (!now || !now->pid || now->pid != pid)
        return 0;
    now->pid = 0;
    return now->window == this_window() ? bpf_map_lookup_elem(&yields, &now->side) : 0;
}

static __always_inline void yield_begins(u64 id, u32 side)
{
    struct yields *all = bpf_map_lookup_elem(&yields, &side);
    struct yielding *now = here();

    if (!all || !now)
        return;
    all->all++;
    now->pid = id;
    now->side = side;
    now->window = this_window();
    now->length = queue_length(bpf_get_current_task_btf());
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enters, struct pt_regs *registers, long number)
{
    u64 id = bpf_get_current_pid_tgid();
    u32 side = side_of(id >> 32);
    u32 key = side * CALLS + ((u32)number & (CALLS - 1));
    u64 *calls_so_far;

    if (side == OTHERS || !this_window())
        return 0;
    calls_so_far = bpf_map_lookup_elem(&calls, &key);
    if (calls_so_far)
        ++*calls_so_far;
    if (number == SCHED_YIELD)
        yield_begins(id, side);
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
    struct yields *all = ended(here(), prev->pid);

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

/* No switch came between. */
SEC("tp_btf/sys_exit")
int BPF_PROG(leaves)
{
    struct yielding *now = here();
    struct yields *all = ended(now, bpf_get_current_pid_tgid());

    if (!now || !all)
        return 0;
    if (now->length > 1)
        all->itself++;
    else
        all->only++;
    return 0;
}
