/* Duration of a scheduling decision, and of the whole __schedule, by run queue length. */
#include "klatch.bpf.h"

/* Lengths up to 63 have a group each; above, there are eight groups per octave, up to 1,023. */
#define GROUPS 96

struct cost {
    struct histogram ns;
    u64 lengths; /* sum of the queue lengths */
};

#define COSTS                                     \
    struct {                                      \
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);  \
        __uint(max_entries, GROUPS);              \
        __type(key, u32);                         \
        __type(value, struct cost);               \
    }

COSTS decisions SEC(".maps");
COSTS whole SEC(".maps");

/* The __schedule call that is in progress on a CPU. */
struct schedule_call {
    u64 entry_ns; /* 0: none */
    u64 length;
    u64 window;   /* open at entry */
    u64 total_ns; /* sum over all calls */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct schedule_call);
} schedule_calls SEC(".maps");

static __always_inline struct schedule_call *on_this_cpu(void)
{
    u32 zero = 0;

    return bpf_map_lookup_elem(&schedule_calls, &zero);
}

static __always_inline u32 group_of(u64 length)
{
    u32 log;

    if (length < 64)
        return length;
    if (length > 1023)
        length = 1023;
    log = log2_of(length);
    return 64 + (log - 6) * 8 + ((length >> (log - 3)) & 7);
}

static __always_inline void record_decision(void *map, struct schedule_call *call, u64 now)
{
    u32 group = group_of(call->length);
    struct cost *cost = bpf_map_lookup_elem(map, &group);

    if (!cost)
        return;
    histogram_add(&cost->ns, now - call->entry_ns);
    cost->lengths += call->length;
}

SEC("tp_btf/sched_entry_tp")
int BPF_PROG(on_entry)
{
    struct schedule_call *call = on_this_cpu();

    if (!call)
        return 0;
    call->window = this_window();
    call->entry_ns = 0;
    if (!call->window)
        return 0;
    call->length = queue_length_here();
    call->entry_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch)
{
    struct schedule_call *call = on_this_cpu();

    if (call && call->entry_ns && call->window == this_window())
        record_decision(&decisions, call, bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(on_exit, bool is_switch)
{
    struct schedule_call *call = on_this_cpu();
    u64 now;

    if (!call || !call->entry_ns || call->window != this_window())
        return 0;
    now = bpf_ktime_get_ns();
    if (is_switch)
        record_decision(&whole, call, now);
    call->total_ns += now - call->entry_ns;
    call->entry_ns = 0;
    return 0;
}
