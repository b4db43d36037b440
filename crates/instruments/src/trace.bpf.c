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

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 24);
} events SEC(".maps");

/* Events for which the buffer had no room. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} lost SEC(".maps");

static __always_inline int note(__u8 kind, __u8 state, u32 task, u32 other, u32 tgid)
{
    struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
    u32 zero = 0;
    u64 *count;

    if (!event) {
        count = bpf_map_lookup_elem(&lost, &zero);
        if (count)
            ++*count;
        return 0;
    }
    event->ns = bpf_ktime_get_ns();
    event->kind = kind;
    event->state = state;
    event->cpu = bpf_get_smp_processor_id();
    event->task = task;
    event->other = other;
    event->tgid = tgid;
    /* The reader comes by itself: waking it would be seen here. */
    bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
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
