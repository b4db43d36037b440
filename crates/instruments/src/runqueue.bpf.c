/* Run queue length at each scheduling decision. */
#include "klatch.bpf.h"

#define LENGTHS 1024

/* Decisions by length. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, LENGTHS);
    __type(key, u32);
    __type(value, u64);
} lengths SEC(".maps");

/* Lengths over time: a ring of slots of 2^28 ns each. */
#define SLOT_BITS 28
#define SLOTS 4096

struct moment {
    u64 decisions;
    u64 sum;
    u64 max;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SLOTS);
    __type(key, u32);
    __type(value, struct moment);
} moments SEC(".maps");

static __always_inline int record_decision(u32 length)
{
    if (!this_window())
        return 0;

    u32 key = length < LENGTHS ? length : LENGTHS - 1;
    u32 slot = (bpf_ktime_get_ns() >> SLOT_BITS) % SLOTS;
    u64 *count = bpf_map_lookup_elem(&lengths, &key);
    struct moment *moment = bpf_map_lookup_elem(&moments, &slot);

    if (count)
        ++*count;
    if (moment) {
        moment->decisions++;
        moment->sum += length;
        if (length > moment->max)
            moment->max = length;
    }
    return 0;
}

/* The length is read at entry, before a task that blocks leaves the queue. */
SEC("tp_btf/sched_entry_tp")
int BPF_PROG(on_entry)
{
    return record_decision(queue_length_here());
}

/* The fallback for kernels without sched_entry_tp. It misses decisions without a switch. A task that blocks has already left
 * the queue, so it is added. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev)
{
    bool blocks = !preempt && state_of(prev);

    return record_decision(queue_length(prev) + blocks);
}
