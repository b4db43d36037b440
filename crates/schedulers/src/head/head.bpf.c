/* head: the paper's question, what if the walk cost nothing? It takes the head of the queue.
 *
 * It is the goodness scheduler with the same slices, epochs, yields and preemption, but a decision takes the first task in
 * the queue that has time left, whatever the goodness of the others.
 *
 * The paper took "the head of the queue" and gives no details. A task without time left cannot be taken here: two tasks that
 * wake each other would starve all others. Such tasks wait in a second queue until the next epoch, in the same order, so no
 * decision walks past them. The choice is the same, and its cost does not depend on the number of waiting tasks. All else,
 * and the list of differences from the original, is in ../goodness. */
#include "../goodness/tasks.bpf.h"

#define SCHEDULER_NAME "klatch_head"
#define TAKE_FIRST 1
#define QUEUE 0
#define EXHAUSTED 1

static __always_inline u64 queue_of(const struct goodness_task *task)
{
    return task->counter_ns ? QUEUE : EXHAUSTED;
}

static __always_inline s32 nr_waiting(void)
{
    return scx_bpf_dsq_nr_queued(QUEUE) + scx_bpf_dsq_nr_queued(EXHAUSTED);
}

static __always_inline bool has_exhausted_waiter(s32 cpu)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;
    bool waits = false;

    bpf_iter_scx_dsq_new(&it, EXHAUSTED, 0);
    while (!waits && (p = bpf_iter_scx_dsq_next(&it)))
        waits = may_run(p, cpu);
    bpf_iter_scx_dsq_destroy(&it);
    return waits;
}

/* At the start of an epoch all tasks have time left. */
static __always_inline void refill_queue(void)
{
    struct bpf_iter_scx_dsq it;
    struct task_struct *p;

    bpf_iter_scx_dsq_new(&it, EXHAUSTED, 0);
    while ((p = bpf_iter_scx_dsq_next(&it)))
        scx_bpf_dsq_move(&it, p, QUEUE, 0);
    bpf_iter_scx_dsq_destroy(&it);
}

static __always_inline void drain_queues(s32 cpu)
{
    drain_queue(cpu, QUEUE, false);
    drain_queue(cpu, EXHAUSTED, false);
}

static __always_inline s32 create_queues(void)
{
    s32 error = scx_bpf_create_dsq(QUEUE, -1);

    return error ? error : scx_bpf_create_dsq(EXHAUSTED, -1);
}

#include "../goodness/single_queue.bpf.h"
