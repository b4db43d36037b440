/* The state of the plugin: whether it follows tasks, whether it counts, and for whom. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "blocks.h"

/* Follows tasks and their calls from now on. */
void counting_track(void);

/* The routines of the kernel have changed. */
void counting_forget_routines(void);

/* Counts from zero with empty caches, unless `owner` counts already. */
void counting_open(uint64_t owner);

/* Who counts now; 0 if nobody does. */
uint64_t counting_owner(void);

/* Stops if `owner` counts; returns whether it did. */
bool counting_close(uint64_t owner);

/* The caches, as given to the plugin. */
const char *counting_setup(void);

/* Instructions that a CPU has executed while counting. */
uint64_t counted_instructions(unsigned cpu);
