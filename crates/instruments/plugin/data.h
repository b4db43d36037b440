/* Misses of data by place: for each process, where in the kernel's memory the lines lay that were missed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "caches.h"
#include "tasks.h"

/* Places below FIRST_ADDRESS are not addresses. */
enum place { IN_USER_MEMORY, ON_USER_STACK, ON_KERNEL_STACK, PLACES_LOST, FIRST_ADDRESS };

/* Set in an address that stands for its page. */
#define WHOLE_PAGE 1

struct data_row {
    uint64_t place;    /* the address of a word or a page of the kernel, or enum place */
    uint64_t physical; /* of the last access there */
    uint64_t process;  /* index */
    uint64_t l1d_misses, l2_misses, transfers, upgrades;
};

/* Allocates the table. False without memory. */
bool data_create(void);

void data_reset(void);

/* Adds what an access of this CPU to `address` caused, if it was a miss: the difference of two counts of its node. */
void data_add_missed(const struct cpu *cpu, uint64_t address, uint64_t physical, const uint64_t before[EVENTS],
                     const uint64_t after[EVENTS]);

static inline void data_add(const struct cpu *cpu, uint64_t address, uint64_t physical, const uint64_t before[EVENTS],
                            const uint64_t after[EVENTS])
{
    if (after[L1D_MISSES] != before[L1D_MISSES] || after[UPGRADES] != before[UPGRADES])
        data_add_missed(cpu, address, physical, before, after);
}

#define DATA_ROWS (1 << 19)
const struct data_row *data_row(uint32_t row);

/* Whether a row of the table counts a place. Memory and other CPUs are asked after a miss only. */
static inline bool data_is_used(const struct data_row *row)
{
    return row->l1d_misses || row->upgrades;
}
