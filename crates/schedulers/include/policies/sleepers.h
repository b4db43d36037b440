/* A policy for interactive work, and the example of docs/guide/own-policy.md: one queue, whose head is for tasks that sleep. A
 * woken task goes to the head until it has run for its budget; then it goes to the tail once, with a new budget. */
#pragma once

#include "types.h"

struct sleepers_task {
    u64 ran_ns; /* since it last went to the tail */
};

/* The task has run. */
POLICY void sleepers_charge(struct sleepers_task *task, u64 ns)
{
    task->ran_ns += ns;
}

/* Where a task enters the queue. */
POLICY enum end sleepers_end(struct sleepers_task *task, enum reason reason, u64 budget_ns)
{
    if (reason == WOKEN && task->ran_ns < budget_ns)
        return HEAD;
    task->ran_ns = 0;
    return TAIL;
}
