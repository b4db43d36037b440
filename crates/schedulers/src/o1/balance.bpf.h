/* Load balancing of o1. Include it after the definitions of the knobs and statistics. */
#pragma once

#include "cpu.bpf.h"

static __always_inline bool is_warm(const struct o1_task *task, u64 now, bool idle)
{
    return !(idle && knobs[IDLE_PULLS_WARM].value) && now - task->ran_at_ns < knobs[WARM_US].value * 1000;
}

static __always_inline s32 load_of(struct cpu *cpu)
{
    return cpu->queued + cpu->busy;
}

/* Pulls tasks from the lists of `from` into the active array: expired before active ones, better priorities first, from the tail of each
 * list. */
static __always_inline void pull(s32 cpu, struct cpu *here, s32 from, struct cpu *victim, s32 wanted, bool idle)
{
    u64 now = bpf_ktime_get_ns();
    s32 i;

    here->pulled = 0;
    bpf_for(i, 0, 2 * PRIORITIES) {
        u32 priority = (u32)i % PRIORITIES;
        u32 expired = i < PRIORITIES, array = victim->active ^ expired;
        struct bpf_iter_scx_dsq it;
        struct task_struct *p;

        if (!(victim->arrays[array & 1].bits & 1ULL << priority))
            continue;
        bpf_iter_scx_dsq_new(&it, list_of(from, array, priority), KERNEL_VALUE(scx_dsq_iter_flags, SCX_DSQ_ITER_REV));
        while ((p = bpf_iter_scx_dsq_next(&it))) {
            struct o1_task *task = task_of(p);

            if (here->pulled >= wanted)
                break;
            if (!task || !may_run(p, cpu))
                continue;
            if (is_warm(task, now, idle)) {
                count(WARM);
                continue;
            }
            if (!scx_bpf_dsq_move(&it, p, idle ? SCX_DSQ_LOCAL : list_of(cpu, here->active, priority), 0))
                continue;
            here->pulled++;
            count(idle ? PULLED_IDLE : PULLED_BUSY);
            if (!idle) {
                mark_list(here, here->active, priority);
                set_queued_on(task, cpu);
            }
        }
        bpf_iter_scx_dsq_destroy(&it);
        if (here->pulled >= wanted)
            break;
    }
}

/* Pulls tasks from the CPU with the highest load. A busy CPU takes the larger of its present load and that at its last balance, and the
 * smaller of those of the others. */
static __always_inline void balance(s32 cpu, struct cpu *here, bool idle)
{
    s32 own = load_of(here), wanted, i;
    struct cpu *other;

    if (!idle && here->loads[cpu & (CPUS_MAX - 1)] > own)
        own = here->loads[cpu & (CPUS_MAX - 1)];
    here->most = 1;
    here->from = -1;
    bpf_for(i, 0, scx_bpf_nr_cpu_ids()) {
        s32 *before = &here->loads[i & (CPUS_MAX - 1)], load, now;

        other = cpu_of(i);
        if (!other)
            continue;
        load = now = load_of(other);
        if (!idle && *before < load)
            load = *before;
        *before = now;
        if (i != cpu && load > here->most) {
            here->most = load;
            here->from = i;
        }
    }
    wanted = to_pull(here->most, own, idle);
    other = cpu_of(here->from);
    if (here->from >= 0 && wanted > 0 && other)
        pull(cpu, here, here->from, other, wanted, idle);
}
