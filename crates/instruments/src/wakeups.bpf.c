/* Latency from wake-up to running, with preemptions by woken tasks and migrations.
 *
 * sched_waking is attached in windows and sched_switch throughout, so every wait that began in a window is timed to its end. */
#include "klatch.bpf.h"

struct woken {
    u32 pid; /* the thread that uses this slot */
    u64 ns;  /* time of the wake-up, 0 once the thread runs */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PID_SLOTS);
    __type(key, u32);
    __type(value, struct woken);
} woken SEC(".maps");

struct wakeups {
    struct histogram latency_ns;
    u64 wakeups;
    u64 preemptions;
    u64 migrations;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, SIDES);
    __type(key, u32);
    __type(value, struct wakeups);
} wakeups SEC(".maps");

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
    u32 side = side_of(task->tgid), slot = pid_slot(task->pid);
    struct wakeups *all;
    struct woken *entry;

    if (side == OTHERS || !this_window())
        return 0;
    all = bpf_map_lookup_elem(&wakeups, &side);
    entry = bpf_map_lookup_elem(&woken, &slot);
    if (!all || !entry)
        return 0;
    all->wakeups++;
    entry->pid = task->pid;
    entry->ns = bpf_ktime_get_ns();
    return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
    u32 slot = pid_slot(prev->pid), side;
    struct woken *entry = bpf_map_lookup_elem(&woken, &slot);
    struct wakeups *all;
    u64 woken_ns;

    /* A task that was woken while it still ran did not wait. */
    if (entry && entry->pid == prev->pid)
        entry->ns = 0;
    slot = pid_slot(next->pid);
    entry = bpf_map_lookup_elem(&woken, &slot);
    if (!entry || entry->pid != next->pid || !entry->ns)
        return 0;
    woken_ns = entry->ns;
    entry->ns = 0;
    side = side_of(next->tgid);
    all = bpf_map_lookup_elem(&wakeups, &side);
    if (!all)
        return 0;
    histogram_add(&all->latency_ns, bpf_ktime_get_ns() - woken_ns);
    if (prev->pid && (preempt || !state_of(prev)))
        all->preemptions++;
    return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *task)
{
    u32 side = side_of(task->tgid);
    struct wakeups *all = side == OTHERS ? 0 : bpf_map_lookup_elem(&wakeups, &side);

    if (all && this_window())
        all->migrations++;
    return 0;
}
