/* Hand-worked cases of o1/policy.h. */
#include "../bpf/cases.h"
#include "policy.h"

CASES
{
    struct o1_task task = { .nice = 0 };
    struct place place;

    /* Slices: 300 ms at nice -20, 151 at 0, 10 at 19. */
    EXPECT(full_slice_ns(-20) == 300 * MS && full_slice_ns(19) == 10 * MS);
    EXPECT(full_slice_ns(0) / MS == 151);

    /* Priorities: nice and a bonus of -5 to 5 for sleep; within the lists. */
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

    /* Interactive: at nice 0 a bonus of 2; at 19, 6, which nobody has; at -20, -3. */
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

    /* Sleep is stored up to 2 s, and used up by running, as the slice is. */
    task.sleep_ns = 0;
    sleeps(&task, 500 * MS);
    EXPECT(task.sleep_ns == 500 * MS);
    sleeps(&task, 5000 * MS);
    EXPECT(task.sleep_ns == SLEEP_MAX_NS);
    task.slice_ns = 100 * MS;
    runs(&task, 30 * MS);
    EXPECT(task.slice_ns == 70 * MS && task.sleep_ns == SLEEP_MAX_NS - 30 * MS);
    task.sleep_ns = 1;
    runs(&task, 80 * MS);
    EXPECT(task.slice_ns == 0 && task.sleep_ns == 0);

    /* The expired starve after 2 s for each that can run. */
    EXPECT(!is_starving(3999 * MS, 2) && is_starving(4000 * MS, 2));

    /* Where a task goes. */
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

    /* Who runs next. Nobody; the first of the active; when there is none, of the expired. */
    place.expired = 0;
    place.end = HEAD;
    EXPECT(choose(NONE, NONE, NONE, place, 0) == NOTHING);
    EXPECT(choose(25, 3, NONE, place, 0) == FROM_ACTIVE);
    EXPECT(choose(NONE, 3, NONE, place, 0) == FROM_EXPIRED);
    /* One that was preempted loses to better ones, and not to equals. */
    EXPECT(choose(24, NONE, 25, place, 0) == FROM_ACTIVE && choose(25, NONE, 25, place, 0) == PREVIOUS);
    EXPECT(choose(NONE, 3, 25, place, 0) == PREVIOUS);
    /* P1: whoever else is active runs once, even a worse one. */
    EXPECT(choose(30, NONE, 25, place, 1) == FROM_ACTIVE && choose(NONE, 3, 25, place, 1) == PREVIOUS);
    /* P2: only its equals and better ones. */
    place.end = TAIL;
    EXPECT(choose(25, NONE, 25, place, 0) == FROM_ACTIVE && choose(26, NONE, 25, place, 0) == PREVIOUS);
    /* P3: all the active; then the arrays change places, and it waits behind its equals. */
    place.expired = 1;
    EXPECT(choose(39, NONE, 25, place, 0) == FROM_ACTIVE);
    EXPECT(choose(NONE, 25, 25, place, 0) == FROM_EXPIRED && choose(NONE, 26, 25, place, 0) == PREVIOUS);
    EXPECT(choose(NONE, NONE, 25, place, 0) == PREVIOUS);

    /* How a yield came out. */
    EXPECT(outcome_of(PREVIOUS, 25, NONE) == ONLY && outcome_of(NOTHING, 25, NONE) == ONLY);
    EXPECT(outcome_of(FROM_ACTIVE, 25, 25) == SAME && outcome_of(FROM_ACTIVE, 25, 24) == HIGHER);
    EXPECT(outcome_of(FROM_EXPIRED, 25, 26) == LOWER);

    /* Balance: an idle CPU takes one from whoever has more; a busy one half of the difference, if that is a quarter. */
    EXPECT(to_pull(3, 3, 1) == 0 && to_pull(1, 0, 1) == 1);
    EXPECT(to_pull(8, 2, 0) == 3 && to_pull(8, 5, 0) == 0 && to_pull(2, 4, 0) == 0);

    /* Bits. */
    EXPECT(first_of(0) == NONE && first_of(1) == 0 && first_of(1ULL << 39) == 39 && first_of(0xc0) == 6);
    EXPECT(first_of(1ULL << 17 | 1ULL << 30) == 17 && first_of(1ULL << 9) == 9 && first_of(1ULL << 4) == 4);
    return 0;
}
