/* The policy of `sleepers` as functions that Rust calls. */
#include <policies/sleepers.h>

void klatch_sleepers_charge(struct sleepers_task *task, u64 ns)
{
    sleepers_charge(task, ns);
}

int klatch_sleepers_end(struct sleepers_task *task, int woken, u64 budget_ns)
{
    return sleepers_end(task, woken ? WOKEN : EXPIRED, budget_ns);
}
