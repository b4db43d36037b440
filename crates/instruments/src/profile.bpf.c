/* A sample of the kernel and the user stack at each perf event. */
#define FRAMES 64
#define STACKS 49152
#include "stacks.bpf.h"

struct key {
    u64 kernel; /* from stack_of */
    u64 user;
    u32 tgid;
    u32 side;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 32768);
    __type(key, struct key);
    __type(value, u64);
} samples SEC(".maps");

/* Samples by side, including those lost because `samples` was full. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SIDES);
    __type(key, u32);
    __type(value, u64);
} taken SEC(".maps");

SEC("perf_event")
int sample(void *ctx)
{
    u64 id = bpf_get_current_pid_tgid(), one = 1, *count;
    struct key key = { .tgid = id >> 32 };

    /* The idle task is not sampled. */
    if (!(u32)id)
        return 0;
    key.side = side_of(key.tgid);
    count = bpf_map_lookup_elem(&taken, &key.side);
    if (count)
        ++*count;
    key.kernel = stack_of(ctx, 0);
    key.user = stack_of(ctx, BPF_F_USER_STACK);
    count = bpf_map_lookup_elem(&samples, &key);
    if (count)
        __sync_fetch_and_add(count, 1);
    else if (bpf_map_update_elem(&samples, &key, &one, BPF_NOEXIST)) {
        /* Another CPU inserted the key first, or the table is full. */
        count = bpf_map_lookup_elem(&samples, &key);
        if (count)
            __sync_fetch_and_add(count, 1);
    }
    return 0;
}
