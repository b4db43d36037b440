/* The policy of Molnar's O(1) scheduler of early Linux 2.5: priorities, slices, sleep, and the list of a task. */
#pragma once

#include "types.h"

#define PRIORITIES 40 /* 100 to 139 of the original; the first 100 are for real-time tasks */
#define NONE PRIORITIES
#define SLEEP_MAX_NS (2000 * MS)
#define STARVING_NS (2000 * MS)

enum yield_policy { YIELD_BEHIND_NEXT = 1, YIELD_TO_TAIL = 2, YIELD_TO_EXPIRED = 3 };

/* The policy's data of a task. Priorities run from 0, the best, to 39. */
struct o1_task {
    u64 slice_ns;
    u64 sleep_ns; /* recent sleep, up to SLEEP_MAX_NS */
    u64 slept_at_ns;
    u64 started_ns;
    u64 ran_at_ns;
    s32 nice;
    s32 priority;
    s32 queued_on; /* the CPU whose `queued` counts it, or -1 */
    u32 yielded;
};

/* 300 ms at nice -20, 150 at 0, 10 at 19. */
POLICY u64 full_slice_ns(s32 nice)
{
    return 10 * MS + 290 * MS * (u64)(19 - nice) / 39;
}

/* -5 for a task that never sleeps to 5 for one that mostly sleeps. */
POLICY s32 bonus_of(u64 sleep_ns)
{
    return (s32)(10 * sleep_ns / SLEEP_MAX_NS) - 5;
}

POLICY s32 priority_of(const struct o1_task *task)
{
    s32 priority = task->nice + 20 - bonus_of(task->sleep_ns);

    return priority < 0 ? 0 : priority >= PRIORITIES ? PRIORITIES - 1 : priority;
}

/* Whether a task sleeps enough, for its nice value, to stay in the active array when its slice expires. */
POLICY int is_interactive(const struct o1_task *task)
{
    u32 quarter = (u32)(task->nice < 0 ? -task->nice : task->nice) / 4;

    return task->priority <= task->nice + 20 - (task->nice < 0 ? -(s32)quarter : (s32)quarter) - 2;
}

POLICY void add_sleep(struct o1_task *task, u64 ns)
{
    task->sleep_ns = ns < SLEEP_MAX_NS - task->sleep_ns ? task->sleep_ns + ns : SLEEP_MAX_NS;
}

POLICY void charge_run(struct o1_task *task, u64 ns)
{
    task->slice_ns = ns < task->slice_ns ? task->slice_ns - ns : 0;
    task->sleep_ns = ns < task->sleep_ns ? task->sleep_ns - ns : 0;
}

/* Whether the expired array has waited so long that no expired task may stay active. */
POLICY int is_starving(u64 waited_ns, u64 runnable)
{
    return waited_ns >= STARVING_NS * runnable;
}

/* The array and the end of its list where a task is inserted. */
struct place {
    u32 expired;
    enum end end;
};

POLICY struct place place_of(const struct o1_task *task, enum reason reason, int starving, u64 yield)
{
    struct place place = { 0, TAIL };

    if (reason == PREEMPTED || (reason == YIELDED && yield == YIELD_BEHIND_NEXT))
        place.end = HEAD;
    if (reason == YIELDED && yield == YIELD_TO_EXPIRED)
        place.expired = 1;
    if (reason == EXPIRED)
        place.expired = !is_interactive(task) || starving;
    return place;
}

enum choice { NOTHING, PREVIOUS, FROM_ACTIVE, FROM_EXPIRED };

/* Chooses the next task: the first of the best active list; when the active array is empty, the arrays swap. `previous` is
 * the priority of the previous task, which would be inserted at `place`, or NONE. */
POLICY enum choice choose(s32 active, s32 expired, s32 previous, struct place place, int yielded_behind_next)
{
    if (previous != NONE && !place.expired) {
        if (active == NONE || (!yielded_behind_next && (place.end == HEAD ? previous <= active : previous < active)))
            return PREVIOUS;
        return FROM_ACTIVE;
    }
    if (active != NONE)
        return FROM_ACTIVE;
    if (previous != NONE && previous < expired)
        return PREVIOUS;
    return expired == NONE ? NOTHING : FROM_EXPIRED;
}

/* The priority of a task that yielded behind the next one, of priority `chosen`: right behind it in its list, so no better than it until
 * the task sleeps or its slice ends. */
POLICY s32 priority_behind(s32 previous, s32 chosen)
{
    return previous < chosen ? chosen : previous;
}

/* Classifies a yield by the next task, as the 2005 paper does. */
enum outcome { ONLY, SAME, HIGHER, LOWER };

POLICY enum outcome outcome_of(enum choice choice, s32 previous, s32 chosen)
{
    if (choice == PREVIOUS || choice == NOTHING)
        return ONLY;
    return chosen == previous ? SAME : chosen < previous ? HIGHER : LOWER;
}

/* Number of tasks that a CPU pulls from the one with the highest load. */
POLICY s32 to_pull(s32 most, s32 own, int idle)
{
    u32 imbalance;

    if (most <= own)
        return 0;
    if (idle)
        return 1;
    imbalance = (u32)(most - own) / 2;
    return imbalance < (u32)(most + 3) / 4 ? 0 : imbalance;
}

/* Index of the lowest set bit, or NONE. */
POLICY s32 first_of(u64 bits)
{
    s32 at = 0;

    if (!bits)
        return NONE;
    if (!(bits & 0xffffffffULL)) { bits >>= 32; at += 32; }
    if (!(bits & 0xffff)) { bits >>= 16; at += 16; }
    if (!(bits & 0xff)) { bits >>= 8; at += 8; }
    if (!(bits & 0xf)) { bits >>= 4; at += 4; }
    if (!(bits & 3)) { bits >>= 2; at += 2; }
    return at + !(bits & 1);
}
