/* Hand-worked cases of policies/o1.h. */
#include "cases.h"
#include <policies/o1.h>

CASES
{
    struct o1_task task = { .nice = 0 };
    struct place place;

    /* Slices: 300 ms at nice -20, 151 at 0, 10 at 19. */
    EXPECT(full_slice_ns(-20) == 300 * MS && full_slice_ns(19) == 10 * MS);
    EXPECT(full_slice_ns(0) / MS == 151);

    /* Priority: nice value and a bonus of -5 to 5 for sleep, limited to the lists. */
    task.priority = priority_of(&task);
    EXPECT(task.priority == 25);
    task.sleep_ns = SLEEP_MAX_NS / 2;
    EXPECT(priority_of(&task) == 20);
    task.sleep_ns = SLEEP_MAX_NS;
    EXPECT(priority_of(&task) == 15);
    task.nice = -20;
    EXPECT(priority_of(&task) == 0);
    task.nice = 19;
    task.sleep_ns = 0;
    EXPECT(priority_of(&task) == PRIORITIES - 1);

    /* Interactive: at nice 0 from a bonus of 2; at -20 from -3; at 19 from 6, which is out of reach. */
    task.nice = 0;
    task.priority = 18;
    EXPECT(is_interactive(&task));
    task.priority = 19;
    EXPECT(!is_interactive(&task));
    task.nice = 19;
    task.priority = 34;
    EXPECT(!is_interactive(&task));
    task.nice = -20;
    task.priority = 3;
    EXPECT(is_interactive(&task));
    task.priority = 4;
    EXPECT(!is_interactive(&task));

    /* Sleep is credited up to 2 s. Running consumes the credit and the slice. */
    task.sleep_ns = 0;
    add_sleep(&task, 500 * MS);
    EXPECT(task.sleep_ns == 500 * MS);
    add_sleep(&task, 5000 * MS);
    EXPECT(task.sleep_ns == SLEEP_MAX_NS);
    task.slice_ns = 100 * MS;
    charge_run(&task, 30 * MS);
    EXPECT(task.slice_ns == 70 * MS && task.sleep_ns == SLEEP_MAX_NS - 30 * MS);
    task.sleep_ns = 1;
    charge_run(&task, 80 * MS);
    EXPECT(task.slice_ns == 0 && task.sleep_ns == 0);

    /* Expired tasks starve after 2 s per runnable task. */
    EXPECT(!is_starving(3999 * MS, 2) && is_starving(4000 * MS, 2));

    /* Array and end by reason. */
    task.nice = 0;
    task.priority = 25;
    place = place_of(&task, WOKEN, 0, YIELD_TO_EXPIRED);
    EXPECT(!place.expired && place.end == TAIL);
    place = place_of(&task, PREEMPTED, 0, YIELD_TO_EXPIRED);
    EXPECT(!place.expired && place.end == HEAD);
    place = place_of(&task, EXPIRED, 0, YIELD_TO_EXPIRED);
    EXPECT(place.expired && place.end == TAIL);
    task.priority = 18;
    place = place_of(&task, EXPIRED, 0, YIELD_TO_EXPIRED);
    EXPECT(!place.expired && place.end == TAIL);
    place = place_of(&task, EXPIRED, 1, YIELD_TO_EXPIRED);
    EXPECT(place.expired);
    place = place_of(&task, YIELDED, 0, YIELD_BEHIND_NEXT);
    EXPECT(!place.expired && place.end == HEAD);
    place = place_of(&task, YIELDED, 0, YIELD_TO_TAIL);
    EXPECT(!place.expired && place.end == TAIL);
    place = place_of(&task, YIELDED, 0, YIELD_TO_EXPIRED);
    EXPECT(place.expired && place.end == TAIL);

    /* Next task: none; the first active one; if there is none, the first expired one. */
    place.expired = 0;
    place.end = HEAD;
    EXPECT(choose(NONE, NONE, NONE, place, 0) == NOTHING);
    EXPECT(choose(25, 3, NONE, place, 0) == FROM_ACTIVE);
    EXPECT(choose(NONE, 3, NONE, place, 0) == FROM_EXPIRED);
    /* A preempted task loses to better ones, but not to equals. */
    EXPECT(choose(24, NONE, 25, place, 0) == FROM_ACTIVE && choose(25, NONE, 25, place, 0) == PREVIOUS);
    EXPECT(choose(NONE, 3, 25, place, 0) == PREVIOUS);
    /* P1: any other active task runs once, even a worse one. */
    EXPECT(choose(30, NONE, 25, place, 1) == FROM_ACTIVE && choose(NONE, 3, 25, place, 1) == PREVIOUS);
    EXPECT(priority_behind(25, 30) == 30 && priority_behind(25, 24) == 25);
    /* P2: only equals and better tasks. */
    place.end = TAIL;
    EXPECT(choose(25, NONE, 25, place, 0) == FROM_ACTIVE && choose(26, NONE, 25, place, 0) == PREVIOUS);
    /* P3: all active tasks; then the arrays swap, and it waits behind its equals. */
    place.expired = 1;
    EXPECT(choose(39, NONE, 25, place, 0) == FROM_ACTIVE);
    EXPECT(choose(NONE, 25, 25, place, 0) == FROM_EXPIRED && choose(NONE, 26, 25, place, 0) == PREVIOUS);
    EXPECT(choose(NONE, NONE, 25, place, 0) == PREVIOUS);

    /* Outcomes of a yield. */
    EXPECT(outcome_of(PREVIOUS, 25, NONE) == ONLY && outcome_of(NOTHING, 25, NONE) == ONLY);
    EXPECT(outcome_of(FROM_ACTIVE, 25, 25) == SAME && outcome_of(FROM_ACTIVE, 25, 24) == HIGHER);
    EXPECT(outcome_of(FROM_EXPIRED, 25, 26) == LOWER);

    /* Balance: an idle CPU pulls one task from a higher load; a busy one half of the imbalance, if that is a quarter of it. */
    EXPECT(to_pull(3, 3, 1) == 0 && to_pull(1, 0, 1) == 1);
    EXPECT(to_pull(8, 2, 0) == 3 && to_pull(8, 5, 0) == 0 && to_pull(2, 4, 0) == 0);

    /* Lowest set bit. */
    EXPECT(first_of(0) == NONE && first_of(1) == 0 && first_of(1ULL << 39) == 39 && first_of(0xc0) == 6);
    EXPECT(first_of(1ULL << 17 | 1ULL << 30) == 17 && first_of(1ULL << 9) == 9 && first_of(1ULL << 4) == 4);
    return 0;
}
