/* head: the paper's question, what if the walk cost nothing? It takes the head of the queue.
 *
 * That is the goodness scheduler with the same slices, epochs, yields and preemption, but it takes the first task in the queue
 * that has something left of its slice, whatever the others are worth.
 *
 * The paper took "the head of the queue" and tells no more. One whose slice is used up cannot be taken here: otherwise two
 * tasks that wake each other would starve the others for ever. It waits aside until the epoch turns, in the same order, so
 * that no decision passes over it: those who are taken are the same, and it costs the same however many wait. The rest is as
 * in ../goodness, with the same list of what is not as it was. */
#define NAMED "klatch_head"
#define TAKE_FIRST 1
#include "../goodness/tasks.bpf.h"

#define QUEUE 0
#define ASIDE 1

static __always_inline u64 queue_of(const struct goodness_task *task)
{
    return task->counter_ns ? QUEUE : ASIDE;
}

static __always_inline s32 waiting(void)
{
    return scx_bpf_dsq_nr_queued(QUEUE) + scx_bpf_dsq_nr_queued(ASIDE);
}

/* Whether somebody waits aside for this CPU. */
static __always_inline bool waits_aside(s32 cpu)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;
    bool waits = false;

    bpf_iter_scx_dsq_new(&it, ASIDE, 0);
    while (!waits && (p = bpf_iter_scx_dsq_next(&it)))
        waits = may_run(p, cpu);
    bpf_iter_scx_dsq_destroy(&it);
    return waits;
}

/* The epoch has turned: all have something left again. */
static __always_inline void bring_back(void)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;

    bpf_iter_scx_dsq_new(&it, ASIDE, 0);
    while ((p = bpf_iter_scx_dsq_next(&it)))
        scx_bpf_dsq_move(&it, p, QUEUE, 0);
    bpf_iter_scx_dsq_destroy(&it);
}

static __always_inline void give_back_all(s32 cpu)
{
    give_back(cpu, QUEUE, false);
    give_back(cpu, ASIDE, false);
}

static __always_inline s32 create_queues(void)
{
    s32 error = scx_bpf_create_dsq(QUEUE, -1);

    return error ? error : scx_bpf_create_dsq(ASIDE, -1);
}

#include "../goodness/goodness.bpf.c"
