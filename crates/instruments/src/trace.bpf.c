/* The raw record of what the scheduler did. */
#include "klatch.bpf.h"

enum { SWITCH = 1, WAKING, MIGRATE };

/* As it stands in the file. */
struct event {
    u64 ns;
    __u8 kind;
    __u8 state; /* switch: the state of the task that leaves, 0 if it could go on */
    __u16 cpu;
    u32 task;  /* switch: who leaves; waking: who is woken; migrate: who is moved */
    u32 other; /* switch: who comes; waking: who wakes; migrate: the CPU it is moved to */
    u32 tgid;  /* of the task: of the one who comes, at a switch */
};

/* Each CPU has a ring of its own: one for all would be locked for each event, and be in the cache of another CPU. The reader
 * has them in its memory, and comes by itself: waking it would be seen here. */
const volatile u32 ring_events = 1; /* a power of two; the loader sets it, and the sizes of the tables */

struct ring {
    u64 begun; /* events of which the writing has begun */
    u64 done;  /* … and has ended: where both are the same, all are whole */
    u64 apart[6];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct ring);
} rings SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct event);
} events SEC(".maps");

static __always_inline int note(__u8 kind, __u8 state, u32 task, u32 other, u32 tgid)
{
    u32 cpu = bpf_get_smp_processor_id(), place;
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);
    struct event *event;
    u64 number;

    if (!ring)
        return 0;
    /* Whatever interrupts this one has another number. */
    number = __sync_fetch_and_add(&ring->begun, 1);
    place = cpu * ring_events + (u32)(number & (ring_events - 1));
    event = bpf_map_lookup_elem(&events, &place);
    if (event) {
        event->ns = bpf_ktime_get_ns();
        event->kind = kind;
        event->state = state;
        event->cpu = cpu;
        event->task = task;
        event->other = other;
        event->tgid = tgid;
    }
    /* That its result is used makes it a barrier. */
    number = __sync_fetch_and_add(&ring->done, 1);
    asm volatile("" : : "r"(number));
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
    return note(SWITCH, preempt ? 0 : prev->__state, prev->pid, next->pid, next->tgid);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *task)
{
    return note(WAKING, 0, task->pid, bpf_get_current_pid_tgid(), task->tgid);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(migrated, struct task_struct *task, int cpu)
{
    return note(MIGRATE, 0, task->pid, cpu, task->tgid);
}
