/* A raw trace of scheduler events. */
#include "klatch.bpf.h"

enum { SWITCH = 1, WAKING, MIGRATE };

/* The layout is also that of the trace file. */
struct event {
    u64 ns;
    __u8 kind;
    __u8 state; /* switch: state of the previous task, 0 if it was still runnable */
    __u16 cpu;
    u32 task;  /* switch: previous task; waking: woken task; migrate: moved task */
    u32 other; /* switch: next task; waking: waker; migrate: destination CPU */
    u32 tgid;  /* process of the task; at a switch, of the next task */
};

/* Each CPU has its own ring: a shared one would need a lock per event, and its cache line would move between CPUs. The reader
 * maps the rings and polls them, because waking it would add events to the trace. */
const volatile u32 ring_events = 1; /* a power of two; set by the loader, like the sizes of the maps */

struct ring {
    u64 begun; /* events whose writing has begun */
    u64 done;  /* events whose writing has ended; if equal to `begun`, all are complete */
    u64 padding[6]; /* to a cache line */
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

/* Events of CPUs without a ring: their numbers have gaps, so they exceed the number of CPUs. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} without_ring SEC(".maps");

/* Names of threads that ended, by the low bits of their ids: /proc has them no more when the trace is complete. */
#define ENDED_SLOTS 8192

struct ended {
    u32 pid;
    char comm[16];
};

struct task_struct___comm {
    char comm[16];
} KERNEL_TYPE;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ENDED_SLOTS);
    __type(key, u32);
    __type(value, struct ended);
} ended SEC(".maps");

static __always_inline int count_without_ring(void)
{
    u32 zero = 0;
    u64 *count = bpf_map_lookup_elem(&without_ring, &zero);

    if (count)
        __sync_fetch_and_add(count, 1);
    return 0;
}

static __always_inline int record_event(__u8 kind, __u8 state, u32 task, u32 other, u32 tgid)
{
    u32 cpu = bpf_get_smp_processor_id(), slot;
    struct ring *ring = bpf_map_lookup_elem(&rings, &cpu);
    struct event *event;
    u64 number;

    if (!ring)
        return count_without_ring();
    /* An interrupt on this CPU that also records an event gets the next number. */
    number = __sync_fetch_and_add(&ring->begun, 1);
    slot = cpu * ring_events + (u32)(number & (ring_events - 1));
    event = bpf_map_lookup_elem(&events, &slot);
    if (event) {
        event->ns = bpf_ktime_get_ns();
        event->kind = kind;
        event->state = state;
        event->cpu = cpu;
        event->task = task;
        event->other = other;
        event->tgid = tgid;
    }
    /* Using the result makes the addition a full barrier. */
    number = __sync_fetch_and_add(&ring->done, 1);
    asm volatile("" : : "r"(number));
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
    return record_event(SWITCH, preempt ? 0 : state_of(prev), prev->pid, next->pid, next->tgid);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
    return record_event(WAKING, 0, task->pid, bpf_get_current_pid_tgid(), task->tgid);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task, int cpu)
{
    return record_event(MIGRATE, 0, task->pid, cpu, task->tgid);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
    u32 slot = task->pid & (ENDED_SLOTS - 1);
    struct ended *one = bpf_map_lookup_elem(&ended, &slot);

    if (!one)
        return 0;
    one->pid = task->pid;
    bpf_core_read(one->comm, sizeof(one->comm), &((struct task_struct___comm *)task)->comm);
    return 0;
}
