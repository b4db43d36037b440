/* Waits for kernel locks by kind, and for a sample of them by caller.
 *
 * contention_begin is attached in windows and contention_end throughout, so every wait that began in a window is timed to
 * its end. */
#define FRAMES 16
#define STACKS 4096
#include "stacks.bpf.h"

/* From the kernel's trace/events/lock.h. */
#define LCB_F_SPIN 1
#define LCB_F_READ 2
#define LCB_F_WRITE 4
#define LCB_F_RT 8
#define LCB_F_PERCPU 16
#define LCB_F_MUTEX 32

enum { SPINLOCK, RWLOCK, MUTEX, RWSEM, RTMUTEX, PERCPU_RWSEM, OTHER, KINDS };

/* Reading a stack takes several µs, so only a sample of the waits reads it. */
#define SAMPLED_ONE_IN 4

struct wait {
    u64 lock; /* 0: none */
    u64 ns;
    u32 pid; /* the thread that uses this slot */
    u32 kind;
    u64 stack; /* from stack_of; NO_STACK: not sampled */
};

/* The current wait of each CPU that spins, and of each thread that sleeps. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct wait);
} spinning SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PID_SLOTS);
    __type(key, u32);
    __type(value, struct wait);
} sleeping SEC(".maps");

struct kind {
    struct histogram wait_ns;
    u64 sides[4]; /* waits; of which SIDES are used */
    u64 side_ns[4];
    u64 untimed;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, KINDS);
    __type(key, u32);
    __type(value, struct kind);
} kinds SEC(".maps");

struct caller {
    u64 stack;
    u32 kind;
    u32 side;
};

struct wait_sum {
    u64 waits;
    u64 ns;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, struct caller);
    __type(value, struct wait_sum);
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

/* The slot for the wait of the current CPU or thread. A mutex counts as sleeping, although it can spin first. */
static __always_inline struct wait *current_wait(bool spins)
{
    u32 slot = spins ? 0 : pid_slot(bpf_get_current_pid_tgid());

    if (spins)
        return bpf_map_lookup_elem(&spinning, &slot);
    return bpf_map_lookup_elem(&sleeping, &slot);
}

SEC("tp_btf/contention_begin")
int BPF_PROG(on_begin, void *lock, unsigned int flags)
{
    u32 kind = kind_of(flags), pid = bpf_get_current_pid_tgid();
    bool spins = kind == SPINLOCK || kind == RWLOCK;
    struct wait *wait = current_wait(spins);
    struct kind *all;

    if (!wait || !this_window())
        return 0;
    if (wait->lock && (spins || wait->pid == pid)) {
        /* A mutex that stops spinning reports a second beginning. Anything else is a nested wait, which is not timed. */
        if (wait->lock != (u64)lock && (all = bpf_map_lookup_elem(&kinds, &kind)))
            all->untimed++;
        return 0;
    }
    wait->lock = (u64)lock;
    wait->pid = pid;
    wait->kind = kind;
    wait->ns = bpf_ktime_get_ns();
    wait->stack = NO_STACK;
    if (bpf_get_prandom_u32() % SAMPLED_ONE_IN == 0)
        wait->stack = stack_of(ctx, 0);
    return 0;
}

static __always_inline void add_caller(struct wait *wait, u32 side, u64 ns)
{
    struct caller caller = { .stack = wait->stack, .kind = wait->kind, .side = side };
    struct wait_sum *sum = bpf_map_lookup_elem(&callers, &caller);
    struct wait_sum first = { .waits = 1, .ns = ns };

    if (sum) {
        __sync_fetch_and_add(&sum->waits, 1);
        __sync_fetch_and_add(&sum->ns, ns);
    } else {
        bpf_map_update_elem(&callers, &caller, &first, BPF_NOEXIST);
    }
}

SEC("tp_btf/contention_end")
int BPF_PROG(on_end, void *lock)
{
    u64 now, id = bpf_get_current_pid_tgid();
    struct wait *wait = current_wait(1);
    struct kind *all;
    u32 side;

    if (!wait || wait->lock != (u64)lock) {
        wait = current_wait(0);
        if (!wait || wait->lock != (u64)lock || wait->pid != (u32)id)
            return 0;
    }
    now = bpf_ktime_get_ns();
    side = side_of(id >> 32) & 3;
    wait->lock = 0;
    all = bpf_map_lookup_elem(&kinds, &wait->kind);
    if (!all)
        return 0;
    histogram_add(&all->wait_ns, now - wait->ns);
    all->sides[side]++;
    all->side_ns[side] += now - wait->ns;
    if (wait->stack != NO_STACK)
        add_caller(wait, side, now - wait->ns);
    return 0;
}
