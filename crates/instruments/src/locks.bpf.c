/* Waiting for locks of the kernel: by kind, and by caller for one of some. Beginnings are looked at by windows, ends always:
 * so a wait is seen to its end. */
#include "klatch.bpf.h"

/* From the kernel's trace/events/lock.h. */
#define LCB_F_SPIN 1
#define LCB_F_READ 2
#define LCB_F_WRITE 4
#define LCB_F_RT 8
#define LCB_F_PERCPU 16
#define LCB_F_MUTEX 32

enum { SPINLOCK, RWLOCK, MUTEX, RWSEM, RTMUTEX, PERCPU_RWSEM, OTHER, KINDS };

/* A look at the stack costs some µs. */
#define SAMPLED_ONE_IN 4

struct wait {
    u64 lock; /* 0: none */
    u64 ns;
    u32 pid; /* who has this place, in the table of threads */
    u32 kind;
    __s32 stack; /* negative: not looked at */
};

/* The wait of a CPU that spins, and the waits of threads that sleep. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wait);
} spinning SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PLACES);
    __type(key, u32);
    __type(value, struct wait);
} sleeping SEC(".maps");

struct kind {
    struct histogram wait_ns;
    u64 sides[4]; /* of which SIDES are used */
    u64 untimed;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, KINDS);
    __type(key, u32);
    __type(value, struct kind);
} kinds SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_STACK_TRACE);
    __uint(max_entries, 4096);
    __uint(key_size, sizeof(u32));
    __uint(value_size, 16 * sizeof(u64));
} stacks SEC(".maps");

struct caller {
    __s32 stack;
    u32 kind;
};

struct waited {
    u64 waits;
    u64 ns;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, struct caller);
    __type(value, struct waited);
} callers SEC(".maps");

static __always_inline u32 kind_of(u32 flags)
{
    if (flags & LCB_F_MUTEX)
        return MUTEX;
    if (flags & LCB_F_SPIN)
        return flags & (LCB_F_READ | LCB_F_WRITE) ? RWLOCK : SPINLOCK;
    if (flags & LCB_F_PERCPU)
        return PERCPU_RWSEM;
    if (flags & LCB_F_RT)
        return RTMUTEX;
    return flags & (LCB_F_READ | LCB_F_WRITE) ? RWSEM : OTHER;
}

/* Where the wait for a lock of this kind is kept: a mutex may spin, and then sleep. */
static __always_inline struct wait *wait_of(bool spins)
{
    u32 place = spins ? 0 : PLACE(bpf_get_current_pid_tgid());

    if (spins)
        return bpf_map_lookup_elem(&spinning, &place);
    return bpf_map_lookup_elem(&sleeping, &place);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(begins, void *lock, unsigned int flags)
{
    u32 kind = kind_of(flags), pid = bpf_get_current_pid_tgid();
    bool spins = kind == SPINLOCK || kind == RWLOCK;
    struct wait *wait = wait_of(spins);
    struct kind *all;

    if (!wait || !this_window())
        return 0;
    if (wait->lock && (spins || wait->pid == pid)) {
        /* A mutex that gives up spinning begins again; anything else is a wait within a wait. */
        if (wait->lock != (u64)lock && (all = bpf_map_lookup_elem(&kinds, &kind)))
            all->untimed++;
        return 0;
    }
    wait->lock = (u64)lock;
    wait->pid = pid;
    wait->kind = kind;
    wait->ns = bpf_ktime_get_ns();
    wait->stack = -1;
    if (bpf_get_prandom_u32() % SAMPLED_ONE_IN == 0)
        wait->stack = bpf_get_stackid(ctx, &stacks, 0);
    return 0;
}

static __always_inline void waited(struct wait *wait, u64 ns)
{
    struct caller caller = { .stack = wait->stack, .kind = wait->kind };
    struct waited *so_far = bpf_map_lookup_elem(&callers, &caller);
    struct waited first = { .waits = 1, .ns = ns };

    if (so_far) {
        __sync_fetch_and_add(&so_far->waits, 1);
        __sync_fetch_and_add(&so_far->ns, ns);
    } else {
        bpf_map_update_elem(&callers, &caller, &first, BPF_NOEXIST);
    }
}

SEC("tp_btf/contention_end")
int BPF_PROG(ends, void *lock)
{
    u64 now, id = bpf_get_current_pid_tgid();
    struct wait *wait = wait_of(1);
    struct kind *all;
    u32 side;

    if (!wait || wait->lock != (u64)lock) {
        wait = wait_of(0);
        if (!wait || wait->lock != (u64)lock || wait->pid != (u32)id)
            return 0;
    }
    now = bpf_ktime_get_ns();
    side = side_of(id >> 32) & 3;
    wait->lock = 0;
    all = bpf_map_lookup_elem(&kinds, &wait->kind);
    if (!all)
        return 0;
    take(&all->wait_ns, now - wait->ns);
    all->sides[side]++;
    if (wait->stack >= 0)
        waited(wait, now - wait->ns);
    return 0;
}
