/* The translated blocks of guest code, each recorded once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the last instruction of a block does. */
enum ending { RUNS_ON, CALLS, RETURNS, RETURNS_FROM_INTERRUPT, JUMPS_INDIRECTLY };

struct block {
    uint64_t address;  /* of the first instruction, as the guest sees it */
    uint64_t physical; /* the same in RAM; UINT64_MAX outside */
    uint64_t routine;  /* start of the kernel routine that contains it; 0 in user code and in code of the kernel that comes and goes */
    uint64_t physical_rest; /* of what is in a second page, if `bytes_rest` */
    uint16_t instructions;
    uint16_t bytes, bytes_rest;
    uint8_t ending;
    bool switches;    /* it is the first block of the kernel's context switch */
    bool loads_task;  /* it is one of its blocks */
    bool drops_pages; /* it may end translations of addresses */
};

/* The record of this block, the same for equal blocks. It lives as long as the process. NULL without memory. */
struct block *block_intern(const struct block *block);
