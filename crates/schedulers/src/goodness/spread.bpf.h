/* Where a walk reads the fields of a task, if not on one line: on four lines, beside the task or in a block of 8 KiB. */
#pragma once

#include "tasks.bpf.h"

/* Values of the knob `spread`. */
enum { ON_ONE_LINE, ON_FOUR_LINES, IN_BLOCKS };

/* Linux 2.2 to 2.4 kept the task_struct of each thread at the start of a block of 8 KiB, so that equal fields of all tasks shared few sets of
 * a cache. Yamamura et al. (2002) gave the tasks colours: different distances from the start. */
#define COLOURS 16

/* With the kernel's record of it, more than 4 KiB and so 8 KiB, at a multiple of that. */
struct block {
    struct spread_task places[COLOURS];
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct block);
} blocks SEC(".maps");

/* Gives a task its block. Returns whether it has what it needs. */
static __always_inline bool create_block(struct task_struct *p)
{
    return knobs[SPREAD].value != IN_BLOCKS || bpf_task_storage_get(&blocks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The four lines of a task, or NULL if it has no block. */
static __always_inline struct spread_task *lines_of(struct task_struct *p, struct goodness_task *task)
{
    struct block *block;

    if (knobs[SPREAD].value != IN_BLOCKS)
        return &((struct task_data *)((char *)task - __builtin_offsetof(struct task_data, task)))->spread;
    block = bpf_task_storage_get(&blocks, p, 0, 0);
    /* The pid is read without colours too, so that they alone make the difference. */
    return block ? &block->places[p->pid * knobs[COLOUR].value % COLOURS] : NULL;
}

static __always_inline void write_lines(struct spread_task *lines, const struct goodness_task *task)
{
    lines->counter_ns.value = task->counter_ns;
    lines->counter_ns.epoch = task->epoch;
    lines->mm.value = task->mm;
    lines->nice.value = task->nice;
    lines->cpu.value = task->cpu;
}

/* Keeps what a walk reads on four lines too, while the task waits. */
static __always_inline void spread(struct task_struct *p, struct goodness_task *task)
{
    struct spread_task *lines = lines_of(p, task);

    if (lines)
        write_lines(lines, task);
}

/* What a walk reads, from its four lines. */
static __always_inline struct goodness_task gather(struct task_struct *p, struct goodness_task *task, u64 version)
{
    struct spread_task *lines = lines_of(p, task);

    if (!lines)
        return *task;
    if (lines->counter_ns.epoch != epoch) {
        catch_up(task, epoch, version);
        write_lines(lines, task);
    }
    return (struct goodness_task){
        .counter_ns = lines->counter_ns.value,
        .mm = lines->mm.value,
        .nice = lines->nice.value,
        .cpu = lines->cpu.value,
    };
}
