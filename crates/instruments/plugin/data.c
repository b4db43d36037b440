#include "data.h"

#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "pages.h"

#define WORD 8

/* By place and process: a hash table with open addressing, at most half full. */
static struct data_row *rows;
static uint32_t rows_used;

/* With more rows than this, a place is a page unless a task is in it, so that memory which is touched once does not fill the table. */
#define ROWS_OF_WORDS (DATA_ROWS / 8)

/* An access this close to a return address is one to the stack. */
#define STACK_NEAR 0x2000

bool data_create(void)
{
    rows = calloc(DATA_ROWS, sizeof(*rows));
    return rows;
}

void data_reset(void)
{
    if (rows_used)
        memset(rows, 0, DATA_ROWS * sizeof(*rows));
    rows_used = 0;
}

static struct data_row *row_of(uint64_t place, uint64_t process)
{
    uint64_t at = (place * 0x9e3779b97f4a7c15u ^ process * 0xff51afd7ed558ccdu) >> 20;

    for (;; at++) {
        struct data_row *row = &rows[at % DATA_ROWS];

        if (data_is_used(row) && (row->place != place || row->process != process))
            continue;
        if (data_is_used(row))
            return row;
        /* The few places that are no addresses always have room. */
        if (rows_used >= DATA_ROWS / 2 && place >= FIRST_ADDRESS)
            return row_of(PLACES_LOST, process);
        rows_used++;
        row->place = place;
        row->process = process;
        return row;
    }
}

/* Whether an address is on the stack that the current call uses. */
static bool on_stack(const struct cpu *cpu, uint64_t address)
{
    uint64_t place = cpu->top ? cpu->top->place : 0;

    if (!place || is_kernel(place) != is_kernel(address))
        return false;
    return is_kernel(address) ? address / KERNEL_STACK == place / KERNEL_STACK
                              : address + STACK_NEAR - place < 2 * STACK_NEAR;
}

void data_add_missed(const struct cpu *cpu, uint64_t address, uint64_t physical, const uint64_t before[EVENTS],
              const uint64_t after[EVENTS])
{
    uint64_t place;
    struct data_row *row;

    if (on_stack(cpu, address))
        place = is_kernel(address) ? ON_KERNEL_STACK : ON_USER_STACK;
    else if (!is_kernel(address))
        place = IN_USER_MEMORY;
    else if (rows_used < ROWS_OF_WORDS || holds_task(physical))
        place = address & ~(uint64_t)(WORD - 1);
    else
        place = (address & ~(uint64_t)(PAGE - 1)) | WHOLE_PAGE;
    row = row_of(place, cpu->task->process);
    row->physical = physical;
    row->l1d_misses += after[L1D_MISSES] - before[L1D_MISSES];
    row->l2_misses += after[L2_MISSES] - before[L2_MISSES];
    row->transfers += after[TRANSFERS] - before[TRANSFERS];
    row->upgrades += after[UPGRADES] - before[UPGRADES];
}

const struct data_row *data_row(uint32_t row)
{
    return &rows[row];
}
