/* Hand-worked cases of multiqueue/policy.h. */
#include "../bpf/cases.h"
#include "policy.h"

static inline __attribute__((always_inline)) struct goodness_task task(u64 ticks, u64 mm)
{
    struct goodness_task task = { .counter_ns = ticks * TICK_NS, .mm = mm };

    return task;
}

CASES
{
    struct goodness_task one = task(6, 7);
    struct mq_walk walk;
    struct mq_cache cache;

    /* Worth to any CPU, and in the own queue. */
    EXPECT(na_goodness(&one) == 26 && local_goodness(&one, 7) == 27 && local_goodness(&one, 8) == 26);
    one = task(0, 7);
    EXPECT(na_goodness(&one) == 0 && local_goodness(&one, 7) == 0);
    one = task(6, 0);
    EXPECT(local_goodness(&one, 8) == 27);
    one.yielded = 1;
    EXPECT(na_goodness(&one) == -1 && local_goodness(&one, 0) == -1);

    /* Affinity counts for a task that has something left. */
    EXPECT(with_affinity(26) == 41 && with_affinity(0) == 0 && with_affinity(-1) == -1);

    /* A queue tells its best task that waits. */
    forget(&cache);
    EXPECT(cache.worth == NOBODY);
    tell(&cache, 20, 100);
    tell(&cache, 19, 101);
    tell(&cache, 20, 102);
    EXPECT(cache.worth == 20 && cache.pid == 100);

    /* A walk finds the best, the first of equals, and the second best, which the queue tells then. */
    forget(&walk.best);
    forget(&walk.second);
    EXPECT(offer(&walk, 20, 1) && !offer(&walk, 18, 2) && offer(&walk, 25, 3) && !offer(&walk, 25, 4) && !offer(&walk, 3, 5));
    EXPECT(walk.best.pid == 3 && walk.second.pid == 4 && walk.second.worth == 25);

    /* The own CPU resists less. */
    EXPECT(resistance(26, 1) == 26 && resistance(26, 0) == 41);
    return 0;
}
