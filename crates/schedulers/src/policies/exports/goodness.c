/* The policy of Linux 2.3 and 2.4 as functions that Rust calls. A walk is one call, because decisions are frequent. */
#include <policies/goodness.h>

#include <stddef.h>

#define END UINT32_MAX

const size_t klatch_goodness_task_size = sizeof(struct goodness_task);

/* Walks the list that `next` links from `head`. Returns the best task whose goodness exceeds `*best`, and stores its goodness in
 * `*best`; returns END if there is none. Passes over tasks with a flag in `mask`: they run, or may not run here. Adds all elements
 * to `*elements`, because the kernel reads those tasks too. */
u32 klatch_goodness_walk(struct goodness_task *tasks, const u32 *next, const uint8_t *flags, uint8_t mask, u32 head, s32 cpu,
                         u64 mm, u64 epoch, u64 version, s32 bonus, s32 *best, u32 *elements)
{
    u32 chosen = END;

    for (u32 at = head; at != END; at = next[at]) {
        s32 worth;

        ++*elements;
        if (flags[at] & mask)
            continue;
        catch_up(&tasks[at], epoch, version);
        worth = goodness(&tasks[at], cpu, mm, version, bonus);
        if (is_better(worth, *best)) {
            *best = worth;
            chosen = at;
        }
    }
    return chosen;
}

s32 klatch_goodness(const struct goodness_task *task, s32 cpu, u64 mm, u64 version, s32 bonus)
{
    return goodness(task, cpu, mm, version, bonus);
}

s32 klatch_goodness_of_previous(struct goodness_task *task, s32 cpu, u64 version, s32 bonus)
{
    return goodness_of_previous(task, cpu, version, bonus);
}

void klatch_goodness_catch_up(struct goodness_task *task, u64 epoch, u64 version)
{
    catch_up(task, epoch, version);
}

void klatch_goodness_charge_run(struct goodness_task *task, u64 ns)
{
    charge_run(task, ns);
}

int klatch_goodness_must_recalculate(s32 best)
{
    return must_recalculate(best);
}

int klatch_goodness_yield_has_effect(u64 waiting, u64 version)
{
    return yield_has_effect(waiting, version);
}

u64 klatch_goodness_full_slice_ns(s32 nice, u64 version)
{
    return full_slice_ns(nice, version);
}

void klatch_goodness_add_slice(struct goodness_task *task, u64 ns)
{
    task->slice_avg_ns = new_average(task->slice_avg_ns, ns);
}

int klatch_goodness_should_wait_for_cpu(const struct goodness_task *task, const struct goodness_task *current, u64 cache_flush_ns)
{
    return should_wait_for_cpu(task->slice_avg_ns, current->slice_avg_ns, cache_flush_ns);
}
