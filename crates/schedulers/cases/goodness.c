/* Hand-worked cases of policies/goodness.h. */
#include "cases.h"
#include <policies/goodness.h>

#define TASKS 4

/* The walk of single_queue.bpf.h. Returns the index of the chosen task, -1 for the previous task, -2 for none. */
static inline __attribute__((always_inline)) int chosen(struct goodness_task *queue, int length, struct goodness_task *prev,
                                                        u64 version, s32 *best)
{
    u64 mm = prev ? prev->mm : 0;
    int at = prev ? -1 : -2, i;

    *best = prev ? goodness_of_previous(prev, 0, version, SAME_CPU_BONUS) : NO_TASK;
    for (i = 0; i < TASKS; i++) {
        if (i < length && is_better(goodness(&queue[i], 0, mm, version, SAME_CPU_BONUS), *best)) {
            *best = goodness(&queue[i], 0, mm, version, SAME_CPU_BONUS);
            at = i;
        }
    }
    return at;
}

static inline __attribute__((always_inline)) struct goodness_task task(u64 ticks, u64 mm, s32 cpu)
{
    struct goodness_task task = { .counter_ns = ticks * TICK_NS, .mm = mm, .cpu = cpu };

    return task;
}

CASES
{
    struct goodness_task queue[TASKS], prev, other;
    u64 parent, child;
    s32 best = 0;

    /* Goodness: time left, priority, 15 for the CPU, 1 for the memory; 0 without time left. */
    prev = task(20, 7, 1);
    EXPECT(goodness(&prev, 0, 9, LINUX_2_3, SAME_CPU_BONUS) == 40);
    EXPECT(goodness(&prev, 1, 9, LINUX_2_3, SAME_CPU_BONUS) == 55);
    EXPECT(goodness(&prev, 1, 7, LINUX_2_3, SAME_CPU_BONUS) == 56);
    /* A kernel built for one CPU has no CPU bonus. */
    EXPECT(goodness(&prev, 1, 7, LINUX_2_3, 0) == 41 && goodness(&prev, 0, 7, LINUX_2_3, 0) == 41);
    prev = task(0, 7, 1);
    EXPECT(goodness(&prev, 1, 7, LINUX_2_3, SAME_CPU_BONUS) == 0);
    /* A kernel thread has no memory of its own; only 2.4 gives it the bonus. */
    prev = task(20, 0, 1);
    EXPECT(goodness(&prev, 0, 9, LINUX_2_3, SAME_CPU_BONUS) == 40 && goodness(&prev, 0, 9, LINUX_2_4, SAME_CPU_BONUS) == 41);
    prev.mm = 7;
    EXPECT(goodness(&prev, 0, 9, LINUX_2_4, SAME_CPU_BONUS) == 40);
    /* A partial tick counts as a tick; a high nice value lowers goodness. */
    prev.counter_ns = 1;
    prev.nice = 19;
    EXPECT(goodness(&prev, 0, 9, LINUX_2_3, SAME_CPU_BONUS) == 2);
    prev.nice = -20;
    EXPECT(goodness(&prev, 0, 9, LINUX_2_3, SAME_CPU_BONUS) == 41);

    /* Full slices: 20 ticks in 2.3, 6 in 2.4; 40 and 11 at nice -20; 1 and 1 at 19. */
    EXPECT(full_slice_ns(0, LINUX_2_3) == 20 * TICK_NS && full_slice_ns(0, LINUX_2_4) == 6 * TICK_NS);
    EXPECT(full_slice_ns(-20, LINUX_2_3) == 40 * TICK_NS && full_slice_ns(-20, LINUX_2_4) == 11 * TICK_NS);
    EXPECT(full_slice_ns(19, LINUX_2_3) == TICK_NS && full_slice_ns(19, LINUX_2_4) == TICK_NS);

    /* The best task runs next; of equals the previous one, else the first. */
    queue[0] = task(5, 1, 1);
    queue[1] = task(9, 1, 1);
    queue[2] = task(9, 1, 1);
    queue[3] = task(0, 1, 1);
    EXPECT(chosen(queue, 4, NULL, LINUX_2_3, &best) == 1 && best == 29);
    prev = task(9, 2, 1);
    prev.cpu = 1;
    EXPECT(chosen(queue, 4, &prev, LINUX_2_3, &best) == -1 && best == 30);
    prev = task(8, 1, 1);
    EXPECT(chosen(queue, 4, &prev, LINUX_2_3, &best) == 1 && best == 30);
    EXPECT(chosen(queue, 0, NULL, LINUX_2_3, &best) == -2 && !must_recalculate(best));

    /* An epoch starts when all slices are used up. */
    EXPECT(chosen(queue + 3, 1, NULL, LINUX_2_3, &best) == 0 && must_recalculate(best));
    prev = task(0, 1, 0);
    EXPECT(chosen(queue + 3, 1, &prev, LINUX_2_3, &best) == -1 && must_recalculate(best));

    /* The bug that IBM fixed: a lone task that yields counts as 0, and an epoch starts. In 2.4 it does not. */
    prev = task(12, 1, 0);
    prev.yielded = 1;
    EXPECT(chosen(queue, 0, &prev, LINUX_2_3, &best) == -1 && must_recalculate(best) && !prev.yielded);
    EXPECT(goodness_of_previous(&prev, 0, LINUX_2_3, SAME_CPU_BONUS) == 12 + 20 + 15 + 1);
    prev.yielded = 1;
    EXPECT(chosen(queue, 0, &prev, LINUX_2_4, &best) == -1 && best == -1 && !must_recalculate(best));
    /* In 2.4 a task without time left is better than one that yields, so an epoch starts. */
    prev.yielded = 1;
    EXPECT(chosen(queue + 3, 1, &prev, LINUX_2_4, &best) == 0 && must_recalculate(best));
    /* A task that yields lets any other run first. */
    queue[0] = task(1, 9, 1);
    prev = task(20, 1, 0);
    prev.yielded = 1;
    EXPECT(chosen(queue, 1, &prev, LINUX_2_3, &best) == 0 && best == 21);
    EXPECT(yield_has_effect(0, LINUX_2_3) && !yield_has_effect(0, LINUX_2_4) && yield_has_effect(1, LINUX_2_4));

    /* In each epoch a sleeper gets half of its rest and a full slice: at most two slices less half a tick. */
    prev = task(4, 1, 0);
    catch_up(&prev, 0, LINUX_2_3);
    EXPECT(prev.counter_ns == 4 * TICK_NS);
    catch_up(&prev, 1, LINUX_2_3);
    EXPECT(prev.counter_ns == 22 * TICK_NS && prev.epoch == 1);
    catch_up(&prev, 3, LINUX_2_3);
    EXPECT(prev.counter_ns == 35 * TICK_NS + TICK_NS / 2);
    catch_up(&prev, 1000, LINUX_2_3);
    EXPECT(ticks_of(prev.counter_ns) == 40 && prev.epoch == 1000);

    /* End of the queue by reason. */
    EXPECT(queue_end(WOKEN) == HEAD && queue_end(PREEMPTED) == HEAD && queue_end(YIELDED) == TAIL && queue_end(EXPIRED) == TAIL);

    /* A woken task preempts if the gain exceeds 0, in 2.4 if it exceeds 1. */
#define PREEMPTS(version, bonus) (preemption_gain(&other, &prev, 0, version, bonus) > preemption_threshold(version))
    prev = task(10, 1, 0);
    other = task(10, 1, 0);
    EXPECT(!PREEMPTS(LINUX_2_3, SAME_CPU_BONUS));
    other = task(11, 1, 0);
    EXPECT(PREEMPTS(LINUX_2_3, SAME_CPU_BONUS) && !PREEMPTS(LINUX_2_4, SAME_CPU_BONUS));
    other = task(12, 1, 0);
    EXPECT(PREEMPTS(LINUX_2_4, SAME_CPU_BONUS));
    other = task(20, 1, 1);
    EXPECT(!PREEMPTS(LINUX_2_3, SAME_CPU_BONUS)); /* it lacks the CPU bonus of 15 */
    EXPECT(PREEMPTS(LINUX_2_3, 0));
    EXPECT(should_wait_for_cpu(40000, 50000, 100000) && !should_wait_for_cpu(50000, 50000, 100000));
    EXPECT(new_average(100, 300) == 200);
    prev = task(10, 1, 0);
    other = task(0, 0, 1);
    EXPECT(!PREEMPTS(LINUX_2_4, SAME_CPU_BONUS));
    EXPECT(is_offered(YIELDED, LINUX_2_3) && !is_offered(YIELDED, LINUX_2_4) && is_offered(PREEMPTED, LINUX_2_4));

    /* The ticks at 10 and 20 ms are charged whole; what lies between two ticks is free. */
    EXPECT(!ticks_between(1 * MS, 9 * MS) && ticks_between(9 * MS, 10 * MS) == TICK_NS);
    EXPECT(ticks_between(10 * MS, 20 * MS) == TICK_NS && ticks_between(9 * MS, 21 * MS) == 2 * TICK_NS);

    prev.counter_ns = 2 * TICK_NS;
    charge_run(&prev, ticks_between(9 * MS, 10 * MS));
    EXPECT(prev.counter_ns == TICK_NS);
    charge_run(&prev, ticks_between(0, 90 * MS));
    EXPECT(!prev.counter_ns);

    /* A fork splits the time left; the child gets the odd tick. */
    parent = 7 * TICK_NS;
    child = split_with_child(&parent);
    EXPECT(child == 4 * TICK_NS && parent == 3 * TICK_NS);
    parent = TICK_NS;
    child = split_with_child(&parent);
    EXPECT(child == TICK_NS && parent == 0);
    return 0;
}
