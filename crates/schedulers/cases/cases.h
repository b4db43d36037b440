/* Hand-worked cases of a policy: one function, `cases`, that compiles as ordinary C and as a BPF program. It returns 0, or
 * the line number of the first expectation that fails. */
#pragma once

#ifdef __bpf__
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned int u32;
typedef int s32;
typedef short s16;
#define NULL ((void *)0)
#define CASES __attribute__((section("syscall"), used)) int cases(void *context)
#else
#include <stdio.h>
int cases(void *context);
int main(void)
{
    int line = cases(NULL);

    if (line)
        printf("line %d does not hold\n", line);
    return line != 0;
}
#define CASES int cases(void *context)
#endif

#define EXPECT(what)         \
    do {                     \
        if (!(what))         \
            return __LINE__; \
    } while (0)
