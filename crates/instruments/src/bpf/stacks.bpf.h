/* A table of stacks by the hash of their addresses.
 *
 * The kernel's own table of stacks keeps one stack for each remainder of the hash and loses the others: of 200 stacks about one,
 * with all its samples. */
#pragma once

#include "klatch.bpf.h"

/* A program defines FRAMES, the deepest stack, and STACKS, the size of the table, before it includes this. */
struct stack {
    u64 frames[FRAMES]; /* innermost first; 0 ends them */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, STACKS);
    __type(key, u64);
    __type(value, struct stack);
} stacks SEC(".maps");

/* Too large for the stack of a BPF program. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct stack);
} current_stack SEC(".maps");

/* Instead of a hash. */
enum { NO_STACK, STACK_LOST, FIRST_STACK };

/* The key in `stacks` of the current stack, NO_STACK, or STACK_LOST if the table is full. */
static __always_inline u64 stack_of(void *ctx, u64 flags)
{
    u32 zero = 0;
    struct stack *stack = bpf_map_lookup_elem(&current_stack, &zero);
    u64 hash = 0;
    long bytes;

    if (!stack)
        return STACK_LOST;
    bytes = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), flags);
    if (bytes <= 0)
        return NO_STACK;
    for (u32 frame = 0; frame < FRAMES; frame++) {
        if (frame * sizeof(u64) >= bytes)
            stack->frames[frame] = 0;
        /* The constant is the 64-bit golden ratio, whose products spread over all upper bits. */
        hash = (hash ^ stack->frames[frame]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
    }
    if (hash < FIRST_STACK)
        hash = FIRST_STACK;
    if (!bpf_map_lookup_elem(&stacks, &hash) && bpf_map_update_elem(&stacks, &hash, stack, BPF_NOEXIST) &&
        !bpf_map_lookup_elem(&stacks, &hash))
        return STACK_LOST;
    return hash;
}
