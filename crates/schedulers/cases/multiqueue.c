/* Hand-worked cases of policies/multiqueue.h. */
#include "cases.h"
#include <policies/multiqueue.h>

static inline __attribute__((always_inline)) struct goodness_task task(u64 ticks, u64 mm)
{
    struct goodness_task task = { .counter_ns = ticks * TICK_NS, .mm = mm };

    return task;
}

CASES
{
    struct goodness_task one = task(6, 7), other;
    struct mq_walk walk;
    struct mq_cache cache;

    /* Goodness on any CPU, and in the own queue. */
    EXPECT(na_goodness(&one) == 26 && local_goodness(&one, 7) == 27 && local_goodness(&one, 8) == 26);
    one = task(0, 7);
    EXPECT(na_goodness(&one) == 0 && local_goodness(&one, 7) == 0);
    one = task(6, 0);
    EXPECT(local_goodness(&one, 8) == 27);
    one.yielded = 1;
    EXPECT(na_goodness(&one) == -1 && local_goodness(&one, 0) == -1);

    /* Affinity counts only for a task with time left. */
    EXPECT(with_affinity(26) == 41 && with_affinity(0) == 0 && with_affinity(-1) == -1);

    /* A queue publishes its best waiting task. */
    clear_cache(&cache);
    EXPECT(cache.worth == NO_TASK);
    offer_to_cache(&cache, 20, 100);
    offer_to_cache(&cache, 19, 101);
    offer_to_cache(&cache, 20, 102);
    EXPECT(cache.worth == 20 && cache.pid == 100);

    /* A walk yields the best task, the first of equals, and the second best, which the queue then publishes. */
    clear_cache(&walk.best);
    clear_cache(&walk.second);
    EXPECT(offer_to_walk(&walk, 20, 1) && !offer_to_walk(&walk, 18, 2) && offer_to_walk(&walk, 25, 3) && !offer_to_walk(&walk, 25, 4) && !offer_to_walk(&walk, 3, 5));
    EXPECT(walk.best.pid == 3 && walk.second.pid == 4 && walk.second.worth == 25);

    /* Preempting the own CPU costs less. */
    EXPECT(preempt_cost(26, 1) == 26 && preempt_cost(26, 0) == 41);

    /* A gain of 1 preempts. */
    one = task(6, 7);
    other = task(5, 7);
    EXPECT(mq_preempts(&one, &other, 0) && !mq_preempts(&other, &one, 0) && !mq_preempts(&one, &one, 0));
    return 0;
}
