/* Time of a scheduling decision, and of the whole of __schedule, by the length of the run queue. */
#include "klatch.bpf.h"

/* Lengths up to 63 are told apart; above there are eight groups an octave, up to 1,023. */
#define GROUPS 96

struct cost {
    struct histogram ns;
    u64 lengths; /* the sum of the queue's lengths */
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

/* The __schedule that is under way on a CPU. */
struct under_way {
    u64 entry_ns; /* 0: none */
    u64 length;
    u64 window;   /* in which it was entered */
    u64 total_ns; /* of all */
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct under_way);
} under_way SEC(".maps");

static __always_inline struct under_way *here(void)
{
    u32 zero = 0;

    return bpf_map_lookup_elem(&under_way, &zero);
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

static __always_inline void costs(void *map, struct under_way *way, u64 now)
{
    u32 group = group_of(way->length);
    struct cost *cost = bpf_map_lookup_elem(map, &group);

    if (!cost)
        return;
    take(&cost->ns, now - way->entry_ns);
    cost->lengths += way->length;
}

SEC("tp_btf/sched_entry_tp")
int BPF_PROG(entry)
{
    struct under_way *way = here();

    if (!way)
        return 0;
    way->window = this_window();
    way->entry_ns = 0;
    if (!way->window)
        return 0;
    way->length = queue_length(bpf_get_current_task_btf());
    way->entry_ns = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(chosen)
{
    struct under_way *way = here();

    if (way && way->entry_ns && way->window == this_window())
        costs(&decisions, way, bpf_ktime_get_ns());
    return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(leaves, bool is_switch)
{
    struct under_way *way = here();
    u64 now;

    if (!way || !way->entry_ns || way->window != this_window())
        return 0;
    now = bpf_ktime_get_ns();
    if (is_switch)
        costs(&whole, way, now);
    way->total_ns += now - way->entry_ns;
    way->entry_ns = 0;
    return 0;
}
