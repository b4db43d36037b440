/* The state of the plugin: whether it follows tasks, whether it counts, and for whom. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "blocks.h"

/* Follows tasks and their calls from now on. */
void counting_track(void);

/* Counts from zero with empty caches, unless `owner` counts already. */
void counting_open(uint64_t owner);

/* Stops if `owner` counts; returns whether it did. */
bool counting_close(uint64_t owner);

/* Instructions that a CPU has executed while counting. */
uint64_t counted_instructions(unsigned cpu);
