/* Types that the policies share. They compile as BPF and as ordinary C. */
#pragma once

#ifndef __bpf__
#include <stdint.h>
typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
typedef int16_t s16;
#endif

#ifdef EACH_ONCE /* one copy of each function, so that gcov counts a branch once however many callers it has */
#define POLICY static __attribute__((noinline, unused))
#else
#define POLICY static inline __attribute__((always_inline, unused))
#endif
#define MS 1000000ULL
#define TICK_NS (10 * MS) /* HZ was 100 */

/* The ticks between two times, in nanoseconds. The kernels of history charged a tick to the task that the timer interrupted. */
POLICY u64 ticks_between(u64 from_ns, u64 to_ns)
{
    return (to_ns / TICK_NS - from_ns / TICK_NS) * TICK_NS;
}

/* Why a task enters a run queue. */
enum reason { WOKEN, EXPIRED, YIELDED, PREEMPTED };

/* The end of a list where a task is inserted. */
enum end { TAIL, HEAD };
