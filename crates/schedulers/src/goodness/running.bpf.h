/* Maintains `now`, the current task of each `struct cpu`. Include it after the definitions of that struct and `version()`. */

SEC("struct_ops/running")
void BPF_PROG(goodness_running, struct task_struct *p)
{
    struct goodness_task *task = task_of(p);
    s32 cpu = scx_bpf_task_cpu(p);
    struct cpu *here = cpu_of(cpu);

    if (!task || !here)
        return;
    task->cpu = cpu;
    task->started_ns = here->now.since_ns = bpf_ktime_get_ns();
    here->now.task = *task;
    here->now.busy = 1;
    here->now.taken = 0;
}

SEC("struct_ops/stopping")
void BPF_PROG(goodness_stopping, struct task_struct *p, bool runnable)
{
    struct goodness_task *task = task_of(p);
    struct cpu *here = cpu_of(scx_bpf_task_cpu(p));

    if (!task || !here)
        return;
    task->slice_avg_ns = new_average(task->slice_avg_ns, bpf_ktime_get_ns() - here->now.since_ns);
    charge(task, version());
    here->now.busy = here->now.taken;
}

/* Charges each tick at once, so that a recalculation of another CPU halves what is left of the slice, and extends it. */
SEC("struct_ops/tick")
void BPF_PROG(goodness_tick, struct task_struct *p)
{
    struct goodness_task *task = task_of(p);
    struct cpu *here = cpu_of(scx_bpf_task_cpu(p));

    if (!task || !here)
        return;
    charge(task, version());
    here->now.task = *task;
    set_slice(p, task->counter_ns);
}
