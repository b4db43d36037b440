/* Hand-worked cases of policies/sleepers.h. */
#include "cases.h"
#include <policies/sleepers.h>

CASES
{
    struct sleepers_task task = {};

    /* A woken task goes first until its budget is used up, then last once. */
    EXPECT(sleepers_end(&task, WOKEN, MS) == HEAD);
    sleepers_charge(&task, MS - 1);
    EXPECT(sleepers_end(&task, WOKEN, MS) == HEAD);
    sleepers_charge(&task, 1);
    EXPECT(sleepers_end(&task, WOKEN, MS) == TAIL && task.ran_ns == 0);
    EXPECT(sleepers_end(&task, WOKEN, MS) == HEAD);

    /* A task that did not sleep goes last, and gets a new budget. */
    sleepers_charge(&task, 5);
    EXPECT(sleepers_end(&task, YIELDED, MS) == TAIL && task.ran_ns == 0);
    EXPECT(sleepers_end(&task, EXPIRED, MS) == TAIL && sleepers_end(&task, PREEMPTED, MS) == TAIL);

    /* Without a budget all tasks queue in order. */
    EXPECT(sleepers_end(&task, WOKEN, 0) == TAIL);
    return 0;
}
