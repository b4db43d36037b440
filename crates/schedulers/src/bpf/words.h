/* The words that policies are written in, as BPF and as ordinary C. */
#pragma once

#ifndef __bpf__
#include <stdint.h>
typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
#endif

#ifdef EACH_ONCE /* so that branches are counted once, however often they are used */
#define POLICY static __attribute__((noinline, unused))
#else
#define POLICY static inline __attribute__((always_inline, unused))
#endif
#define MS 1000000ULL

/* Why a task comes to a run queue. */
enum reason { WOKEN, EXPIRED, YIELDED, PREEMPTED };

/* Which end of a list it goes to. */
enum end { TAIL, HEAD };
