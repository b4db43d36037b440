/* Asks the kernel for the slab cache of addresses, and for the run queue of each CPU. */
#include "klatch.bpf.h"

#define ADDRESSES 4096
#define CPUS 64
#define NAME 32

struct address {
    u64 address;
    char cache[NAME]; /* empty if it is in no slab */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ADDRESSES);
    __type(key, u32);
    __type(value, struct address);
} addresses SEC(".maps");

/* Addresses of the run queue of each CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, CPUS);
    __type(key, u32);
    __type(value, u64);
} queues SEC(".maps");

struct kmem_cache {
    const char *name;
} KERNEL_TYPE;

extern struct kmem_cache *bpf_get_kmem_cache(u64 address) __ksym;
extern const struct rq runqueues __ksym;

static long name_cache(u32 at, void *context)
{
    struct address *address = bpf_map_lookup_elem(&addresses, &at);
    struct kmem_cache *cache = address ? bpf_get_kmem_cache(address->address) : 0;

    if (!address)
        return 1;
    address->cache[0] = 0;
    if (cache)
        bpf_probe_read_kernel_str(address->cache, NAME, cache->name);
    return 0;
}

/* Names the first *count addresses. */
SEC("syscall")
int name_caches(u32 *count)
{
    bpf_loop(*count, name_cache, 0, 0);
    return 0;
}

static long find_queue(u32 cpu, void *context)
{
    u64 *queue = bpf_map_lookup_elem(&queues, &cpu);

    if (!queue)
        return 1;
    *queue = (u64)bpf_per_cpu_ptr(&runqueues, cpu);
    return 0;
}

SEC("syscall")
int find_queues(void *context)
{
    bpf_loop(CPUS, find_queue, 0, 0);
    return 0;
}
