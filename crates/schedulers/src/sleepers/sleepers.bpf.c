/* sleepers: one queue whose head is for tasks that sleep, within a budget. The example of docs/guide/own-policy.md.
 *
 * A woken task goes to the head of the queue until it has run for its budget; then it goes to the tail once. Tasks that yield or
 * use up their slice go to the tail. It models no historical kernel. */
#include "klatch.bpf.h"
#include <policies/sleepers.h>

#define QUEUE 0

enum { SLICE_MS, BUDGET_US };
KNOBS = {
    { "slice_ms", "time slice, ms", 20, 1, 1000 },
    { "budget_us", "CPU time of a sleeping task before it goes to the tail, us", 1000, 0, 1000000 },
};

enum { DECISIONS, YIELDS, HEADS };
STATS = {
    { "decisions", "scheduling decisions" },
    { "yields", "calls of sched_yield" },
    { "heads", "tasks that entered the queue at its head" },
};

struct task_data {
    struct sleepers_task policy;
    u64 started_ns;
};
TASKS(struct task_data)

SEC("struct_ops/select_cpu")
s32 BPF_PROG(sleepers_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    return last;
}

SEC("struct_ops/enqueue")
void BPF_PROG(sleepers_enqueue, struct task_struct *p, u64 flags)
{
    bool is_woken = flags & KERNEL_VALUE(scx_enq_flags, SCX_ENQ_WAKEUP);
    u64 budget_ns = knobs[BUDGET_US].value * 1000;
    struct task_data *task = task_of(p);

    if (task && sleepers_end(&task->policy, is_woken ? WOKEN : EXPIRED, budget_ns) == HEAD) {
        flags |= KERNEL_VALUE(scx_enq_flags, SCX_ENQ_HEAD);
        count(HEADS);
    }
    scx_bpf_dsq_insert(p, QUEUE, knobs[SLICE_MS].value * MS, flags);
    kick_idle_cpu(p);
}

SEC("struct_ops/dispatch")
void BPF_PROG(sleepers_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 started_ns = bpf_ktime_get_ns();
    s32 length = scx_bpf_dsq_nr_queued(QUEUE);

    count(DECISIONS);
    if (!scx_bpf_dsq_move_to_local(QUEUE) && prev && is_runnable(prev))
        set_slice(prev, knobs[SLICE_MS].value * MS);
    record_decision(started_ns, length);
}

SEC("struct_ops/running")
void BPF_PROG(sleepers_running, struct task_struct *p)
{
    struct task_data *task = task_of(p);

    if (task)
        task->started_ns = bpf_ktime_get_ns();
}

SEC("struct_ops/stopping")
void BPF_PROG(sleepers_stopping, struct task_struct *p, bool runnable)
{
    struct task_data *task = task_of(p);

    if (task)
        sleepers_charge(&task->policy, bpf_ktime_get_ns() - task->started_ns);
}

SEC("struct_ops/yield")
bool BPF_PROG(sleepers_yield, struct task_struct *from, struct task_struct *to)
{
    count(YIELDS);
    if (scx_bpf_dsq_nr_queued(QUEUE))
        set_slice(from, 0);
    return false;
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(sleepers_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    return create_task(p) ? 0 : -12 /* -ENOMEM */;
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(sleepers_cpu_offline, s32 cpu)
{
    drain_queue(cpu, QUEUE, false);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(sleepers_init)
{
    return scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER(.select_cpu = (void *)sleepers_select_cpu, .enqueue = (void *)sleepers_enqueue,
          .dispatch = (void *)sleepers_dispatch, .running = (void *)sleepers_running,
          .stopping = (void *)sleepers_stopping, .yield = (void *)sleepers_yield,
          .init_task = (void *)sleepers_init_task, .cpu_offline = (void *)sleepers_cpu_offline,
          .init = (void *)sleepers_init, .name = "klatch_sleepers");
