/* fifo: the null model. One queue, first come first served, a fixed time slice.
 *
 * No priorities, no affinity, no preemption: whoever waits is taken in order by whichever CPU is free. What its decisions cost
 * is what a decision costs under sched_ext at all; the other schedulers are to be read against that. There is no original to
 * be faithful to. */
#include "klatch.bpf.h"

#define QUEUE 0

enum { SLICE_MS };
KNOBS = { { "slice_ms", "time slice, ms", 20, 1, 1000 } };

enum { DECISIONS, YIELDS };
STATS = {
    { "decisions", "times that a task was looked for" },
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
    tell_idle(p);
}

SEC("struct_ops/dispatch")
void BPF_PROG(fifo_dispatch, s32 cpu, struct task_struct *prev)
{
    u64 began = bpf_ktime_get_ns();
    s32 length = scx_bpf_dsq_nr_queued(QUEUE);

    count(DECISIONS);
    if (!scx_bpf_dsq_move_to_local(QUEUE) && prev && is_runnable(prev))
        set_slice(prev, knobs[SLICE_MS].value * MS);
    decided(began, length);
}

SEC("struct_ops/yield")
bool BPF_PROG(fifo_yield, struct task_struct *from, struct task_struct *to)
{
    count(YIELDS);
    set_slice(from, 0);
    return false;
}

SEC("struct_ops/cpu_offline")
void BPF_PROG(fifo_cpu_offline, s32 cpu)
{
    give_back(cpu, QUEUE, false);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(fifo_init)
{
    return scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER(.select_cpu = (void *)fifo_select_cpu, .enqueue = (void *)fifo_enqueue,
          .dispatch = (void *)fifo_dispatch, .yield = (void *)fifo_yield, .cpu_offline = (void *)fifo_cpu_offline,
          .init = (void *)fifo_init, .name = "klatch_fifo");
