/* The policy of the O(1) scheduler as functions that Rust calls. */
#include <policies/o1.h>

#include <stddef.h>

const size_t klatch_o1_task_size = sizeof(struct o1_task);

u64 klatch_o1_full_slice_ns(s32 nice)
{
    return full_slice_ns(nice);
}

s32 klatch_o1_priority(const struct o1_task *task)
{
    return priority_of(task);
}

void klatch_o1_add_sleep(struct o1_task *task, u64 ns)
{
    add_sleep(task, ns);
}

void klatch_o1_charge_run(struct o1_task *task, u64 ns)
{
    charge_run(task, ns);
}

int klatch_o1_is_starving(u64 waited_ns, u64 runnable)
{
    return is_starving(waited_ns, runnable);
}

struct place klatch_o1_place(const struct o1_task *task, enum reason reason, int starving, u64 yield)
{
    return place_of(task, reason, starving, yield);
}

enum choice klatch_o1_choose(s32 active, s32 expired, s32 previous, struct place place, int yielded_behind_next)
{
    return choose(active, expired, previous, place, yielded_behind_next);
}

s32 klatch_o1_first_of(u64 bits)
{
    return first_of(bits);
}

s32 klatch_o1_to_pull(s32 most, s32 own, int idle)
{
    return to_pull(most, own, idle);
}

s32 klatch_o1_priority_behind(s32 previous, s32 chosen)
{
    return priority_behind(previous, chosen);
}

enum outcome klatch_o1_outcome_of(enum choice choice, s32 previous, s32 chosen)
{
    return outcome_of(choice, previous, chosen);
}
