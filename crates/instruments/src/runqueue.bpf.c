/* Length of the run queue at each scheduling decision. */
#include "klatch.bpf.h"

#define LENGTHS 1024

/* How often each length was met. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, LENGTHS);
    __type(key, u32);
    __type(value, u64);
} lengths SEC(".maps");

/* The same over time: slots of 2^28 ns, used in turn. */
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

static __always_inline int seen(u32 length)
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

/* Read at the entry: later a task that blocks has left the queue. */
SEC("tp_btf/sched_entry_tp")
int BPF_PROG(entry)
{
    return seen(queue_length(bpf_get_current_task_btf()));
}

/* The fallback: only decisions that lead to a switch, and the task that blocks is added again. */
SEC("tp_btf/sched_switch")
int BPF_PROG(fallback, bool preempt, struct task_struct *prev)
{
    bool blocks = !preempt && prev->__state != 0;

    return seen(queue_length(prev) + blocks);
}
