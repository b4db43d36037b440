/* The CPUs of o1: their arrays of lists, and the tasks that wait in them. */
#pragma once

#include "klatch.bpf.h"
#include <policies/o1.h>

TASKS(struct o1_task);

struct array {
    u64 bits; /* one for each list that may hold a task */
};

struct cpu {
    struct array arrays[2];
    u32 active;
    s32 queued; /* waiting tasks */
    s32 loads[CPUS_MAX]; /* of all CPUs at the last balance of this one */
    u32 balance_is_due;
    s32 pulled, most, from; /* of the current balance; in memory because the verifier would track every value of locals */
    s32 busy;
    s32 priority; /* of the current task */
    s32 pid;      /* of the current task, or the last one */
    u64 expired_since_ns;
    u64 period; /* between two balances of a busy CPU, the current one; 0 after the CPU was idle */
};

CPUS(struct cpu);

static __always_inline u64 list_of(s32 cpu, u32 array, s32 priority)
{
    return (u64)cpu << 8 | (array & 1) << 7 | (priority & 63);
}

/* The best list with a task, or NONE. Not inline: the verifier checks a separate function once, but would check the code after
 * an inlined one again for each bit. */
__noinline s32 best_list(s32 cpu, u32 array)
{
    struct cpu *owner = cpu_of(cpu);

    return owner ? first_of(owner->arrays[array & 1].bits) : NONE;
}

/* Any CPU may set a bit when it inserts a task; only the owner clears bits. */
static __always_inline void mark_list(struct cpu *cpu, u32 array, s32 priority)
{
    __sync_fetch_and_or(&cpu->arrays[array & 1].bits, 1ULL << (priority & 63));
}

static __always_inline void unmark_list(struct cpu *cpu, u32 array, s32 priority)
{
    __sync_fetch_and_and(&cpu->arrays[array & 1].bits, ~(1ULL << (priority & 63)));
}

/* Counts a waiting task for the CPU `number`, or for none if it is -1. Atomic, because two CPUs may move a task at once. */
static __always_inline void set_queued_on(struct o1_task *task, s32 number)
{
    struct cpu *cpu = cpu_of(number);
    s32 before;

    if (number >= 0 && cpu)
        __sync_fetch_and_add(&cpu->queued, 1);
    before = __sync_lock_test_and_set(&task->queued_on, number);
    cpu = cpu_of(before);
    if (before >= 0 && cpu)
        __sync_fetch_and_add(&cpu->queued, -1);
}

static __always_inline void clear_queued_on(struct o1_task *task)
{
    set_queued_on(task, -1);
}
