/* fifo: the null model. One queue in order of arrival, a fixed time slice.
 *
 * No priorities, no affinity, no preemption: a free CPU takes the task that has waited longest. The cost of its decisions is
 * the cost of any decision under sched_ext, and the baseline for the other schedulers. It models no historical kernel. */
#include "klatch.bpf.h"

#define QUEUE 0

enum { SLICE_MS };
KNOBS = { { "slice_ms", "time slice, ms", 20, 1, 1000 } };

enum { DECISIONS, YIELDS };
STATS = {
    { "decisions", "scheduling decisions" },
    { "yields", "calls of sched_yield" },
};

SEC("struct_ops/select_cpu")
s32 BPF_PROG(fifo_select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    return last;
}

SEC("struct_ops/enqueue")
void BPF_PROG(fifo_enqueue, struct task_struct *p, u64 flags)
{
    scx_bpf_dsq_insert(p, QUEUE, knobs[SLICE_MS].value * MS, flags);
    kick_idle_cpu(p);
}

SEC("struct_ops/dispatch")
void BPF_PROG(fifo_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 started_ns = bpf_ktime_get_ns();
    s32 length = scx_bpf_dsq_nr_queued(QUEUE);

    count(DECISIONS);
    if (!scx_bpf_dsq_move_to_local(QUEUE) && prev && is_runnable(prev))
        set_slice(prev, knobs[SLICE_MS].value * MS);
    record_decision(started_ns, length);
}

SEC("struct_ops/yield")
bool BPF_PROG(fifo_yield, struct task_struct *from, struct task_struct *to)
{
    count(YIELDS);
    if (scx_bpf_dsq_nr_queued(QUEUE))
        set_slice(from, 0);
    return false;
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(fifo_cpu_offline, s32 cpu)
{
    drain_queue(cpu, QUEUE, false);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(fifo_init)
{
    return scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER(.select_cpu = (void *)fifo_select_cpu, .enqueue = (void *)fifo_enqueue,
          .dispatch = (void *)fifo_dispatch, .yield = (void *)fifo_yield, .cpu_offline = (void *)fifo_cpu_offline,
          .init = (void *)fifo_init, .name = "klatch_fifo");
