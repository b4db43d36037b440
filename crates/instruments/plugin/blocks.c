#include "blocks.h"

#include <stdlib.h>

/* A hash table with open addressing, at most half full. */
static struct block **table;
static uint64_t room, used;

static uint64_t hash(const struct block *block)
{
    return (block->address ^ block->physical * 31 ^ (uint64_t)block->instructions << 48) * 0x9e3779b97f4a7c15u >> 20;
}

static bool equal(const struct block *a, const struct block *b)
{
    return a->address == b->address && a->physical == b->physical && a->physical_rest == b->physical_rest
           && a->instructions == b->instructions && a->bytes == b->bytes && a->bytes_rest == b->bytes_rest
           && a->ending == b->ending && a->drops_pages == b->drops_pages;
}

static struct block **slot_of(struct block **in, uint64_t size, const struct block *block)
{
    uint64_t at = hash(block) & (size - 1);

    while (in[at] && !equal(in[at], block))
        at = (at + 1) & (size - 1);
    return &in[at];
}

static bool grow(void)
{
    uint64_t larger = room ? room * 2 : 1 << 16;
    struct block **grown = calloc(larger, sizeof(*grown));

    if (!grown)
        return false;
    for (uint64_t at = 0; at < room; at++)
        if (table[at])
            *slot_of(grown, larger, table[at]) = table[at];
    free(table);
    table = grown;
    room = larger;
    return true;
}

struct block *block_intern(const struct block *block)
{
    struct block **slot;

    if (used * 2 >= room && !grow())
        return NULL;
    slot = slot_of(table, room, block);
    if (!*slot) {
        *slot = malloc(sizeof(**slot));
        if (!*slot)
            return NULL;
        **slot = *block;
        used++;
    }
    return *slot;
}
