/* The policy of MQ as functions that Rust calls. */
#include <policies/multiqueue.h>

#define END UINT32_MAX

/* Walks one queue as klatch_goodness_walk does. `*best` and `*second` are the best two tasks; the walk starts with those given. */
void klatch_multiqueue_walk(struct goodness_task *tasks, const u32 *next, const uint8_t *flags, uint8_t mask, u32 head, u64 mm,
                            u64 epoch, struct mq_cache *best, struct mq_cache *second, u32 *elements)
{
    struct mq_walk walk = { *best, *second };

    for (u32 at = head; at != END; at = next[at]) {
        ++*elements;
        if (flags[at] & mask)
            continue;
        catch_up(&tasks[at], epoch, LINUX_2_4);
        offer_to_walk(&walk, local_goodness(&tasks[at], mm), (s32)at);
    }
    *best = walk.best;
    *second = walk.second;
}

s32 klatch_multiqueue_goodness(const struct goodness_task *task)
{
    return na_goodness(task);
}

s32 klatch_multiqueue_local_goodness(const struct goodness_task *task, u64 mm)
{
    return local_goodness(task, mm);
}

s32 klatch_multiqueue_with_affinity(s32 best)
{
    return with_affinity(best);
}

s32 klatch_multiqueue_preempt_cost(s32 goodness_of_current, int is_own_cpu)
{
    return preempt_cost(goodness_of_current, is_own_cpu);
}
