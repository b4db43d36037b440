/* Caches of several CPUs: set-associative, with least recently used lines replaced, kept coherent by invalidating writes.
 *
 * Each CPU has a first-level cache for data and one for instructions. The second level is private or shared by all CPUs. The
 * outermost private level contains what the levels inside it contain, so it alone is asked by other CPUs; a line that it
 * drops is dropped inside too. There are no write buffers, prefetchers or TLBs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CPUS_MAX 64

/* What is counted of each access. */
enum event {
    INSTRUCTIONS,
    ACCESSES,         /* lines read or written by data accesses */
    L1D_MISSES,       /* lines brought into the data cache */
    L1I_MISSES,       /* lines brought into the instruction cache */
    L2_MISSES,        /* lines that no second-level cache of this CPU had and no other CPU had changed: read from memory */
    TRANSFERS,        /* lines that another CPU had changed: read from its cache */
    UPGRADES,         /* writes to a line that another CPU may have too */
    CALLS_COUNTED,    /* calls of a routine; not of the caches */
    EVENTS,
};

struct geometry {
    uint64_t bytes; /* power of two times `ways` times the line */
    uint32_t ways;
};

struct cache_setup {
    uint32_t cpus;
    uint32_t line_bytes; /* power of two */
    struct geometry l1d, l1i, l2;
    bool l2_is_shared;
};

/* Allocates empty caches in place of the ones before. Returns NULL, or what is wrong with the setup. */
const char *caches_create(const struct cache_setup *setup);

/* Forgets all lines. */
void caches_clear(void);

/* A data access of `bytes` bytes; adds what it caused to `counts`. */
void caches_access(unsigned cpu, uint64_t address, unsigned bytes, bool is_write, uint64_t counts[EVENTS]);

/* A fetch of instructions from `bytes` bytes. */
void caches_fetch(unsigned cpu, uint64_t address, unsigned bytes, uint64_t counts[EVENTS]);
