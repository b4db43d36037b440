#include "caches.h"

#include <stdlib.h>
#include <string.h>

/* A way holds its line's number shifted by two, and the state; the ways of a set are ordered, the last used first. */
enum state { INVALID, SHARED, EXCLUSIVE, MODIFIED };
#define WAY(line, state) ((line) << 2 | (state))
#define LINE(way) ((way) >> 2)
#define STATE(way) ((enum state)((way) & 3))

struct cache {
    uint64_t *ways;
    uint64_t sets, bytes;
    uint32_t associativity;
};

static struct cache_setup setup;
static unsigned line_shift;
static struct cache l1d[CPUS_MAX], l1i[CPUS_MAX], l2[CPUS_MAX];

static bool is_power_of_two(uint64_t number)
{
    return number && !(number & (number - 1));
}

static const char *create(struct cache *cache, const struct geometry *geometry)
{
    uint64_t in_a_way = (uint64_t)geometry->ways * setup.line_bytes;

    free(cache->ways);
    memset(cache, 0, sizeof(*cache));
    if (!geometry->ways || geometry->bytes % in_a_way || !is_power_of_two(geometry->bytes / in_a_way))
        return "a cache is not a power of two of sets: size / ways / line";
    cache->sets = geometry->bytes / in_a_way;
    cache->associativity = geometry->ways;
    cache->bytes = cache->sets * geometry->ways * sizeof(*cache->ways);
    cache->ways = calloc(1, cache->bytes);
    return cache->ways ? NULL : "there is no memory for the caches";
}

const char *caches_create(const struct cache_setup *wanted)
{
    const char *wrong = NULL;

    setup = *wanted;
    if (!setup.cpus || setup.cpus > CPUS_MAX)
        return "there must be 1 to 64 CPUs";
    if (!is_power_of_two(setup.line_bytes) || setup.line_bytes < 8)
        return "a line must be a power of two of at least 8 bytes";
    line_shift = __builtin_ctz(setup.line_bytes);
    for (unsigned cpu = 0; cpu < setup.cpus && !wrong; cpu++) {
        wrong = create(&l1d[cpu], &setup.l1d);
        wrong = wrong ? wrong : create(&l1i[cpu], &setup.l1i);
        if (!wrong && (!cpu || !setup.l2_is_shared))
            wrong = create(&l2[cpu], &setup.l2);
    }
    return wrong;
}

void caches_clear(void)
{
    for (unsigned cpu = 0; cpu < setup.cpus; cpu++) {
        memset(l1d[cpu].ways, 0, l1d[cpu].bytes);
        memset(l1i[cpu].ways, 0, l1i[cpu].bytes);
        if (l2[cpu].ways)
            memset(l2[cpu].ways, 0, l2[cpu].bytes);
    }
}

static uint64_t *set_of(struct cache *cache, uint64_t line)
{
    return cache->ways + (line & (cache->sets - 1)) * cache->associativity;
}

/* The way that holds the line, or NULL. The order of the set stays. */
static uint64_t *look(struct cache *cache, uint64_t line)
{
    uint64_t *set = set_of(cache, line);

    for (uint32_t way = 0; way < cache->associativity; way++)
        if (LINE(set[way]) == line && STATE(set[way]) != INVALID)
            return &set[way];
    return NULL;
}

/* Makes room at the start of a set by moving the ways before `way` by one. Sets are too small for memmove to pay. */
static void make_room(uint64_t *set, uint64_t *way)
{
    for (; way > set; way--)
        way[0] = way[-1];
}

/* As look(), but the line is the last used one from now on. */
static uint64_t *use(struct cache *cache, uint64_t line)
{
    uint64_t *set = set_of(cache, line), *way, held;

    if (LINE(*set) == line && STATE(*set) != INVALID)
        return set;
    way = look(cache, line);
    if (!way)
        return NULL;
    held = *way;
    make_room(set, way);
    *set = held;
    return set;
}

/* Puts the line in as the last used one and returns what had to leave. */
static uint64_t insert(struct cache *cache, uint64_t line, enum state state)
{
    uint64_t *set = set_of(cache, line), *last = set + cache->associativity - 1, dropped;

    /* An invalid way is filled first, as if it had been used last of all. */
    for (uint64_t *way = set; way < last; way++)
        if (STATE(*way) == INVALID)
            last = way;
    dropped = *last;
    make_room(set, last);
    *set = WAY(line, state);
    return STATE(dropped) == INVALID ? 0 : dropped;
}

static void drop(struct cache *cache, uint64_t line)
{
    uint64_t *way = look(cache, line);

    if (way)
        *way = 0;
}

static void set_state(struct cache *cache, uint64_t line, enum state state)
{
    uint64_t *way = look(cache, line);

    if (way)
        *way = WAY(line, state);
}

/* The outermost private level of a CPU. */
static struct cache *outer(unsigned cpu)
{
    return setup.l2_is_shared ? &l1d[cpu] : &l2[cpu];
}

/* Takes the line from the other CPUs, or the right to write it if this CPU only reads. Returns the strongest state that one
 * of them had. */
static enum state ask_others(unsigned cpu, uint64_t line, bool is_write)
{
    enum state strongest = INVALID;

    for (unsigned other = 0; other < setup.cpus; other++) {
        uint64_t *way = other == cpu ? NULL : look(outer(other), line);

        if (other == cpu)
            continue;
        if (way && STATE(*way) > strongest)
            strongest = STATE(*way);
        if (is_write) {
            drop(outer(other), line);
            drop(&l1d[other], line);
            drop(&l1i[other], line);
        } else if (way) {
            *way = WAY(line, SHARED);
            set_state(&l1d[other], line, SHARED);
        }
    }
    return strongest;
}

/* Brings the line into the second level if it is not there. Returns the state in which the first level may hold it. */
static enum state fill(unsigned cpu, uint64_t line, bool is_write, uint64_t counts[EVENTS])
{
    uint64_t *way, dropped;
    enum state others, state;

    if (!setup.l2_is_shared && (way = use(&l2[cpu], line))) {
        if (is_write && STATE(*way) == SHARED) {
            counts[UPGRADES]++;
            ask_others(cpu, line, true);
        }
        if (is_write)
            *way = WAY(line, MODIFIED);
        return STATE(*way);
    }
    others = setup.cpus > 1 ? ask_others(cpu, line, is_write) : INVALID;
    state = is_write ? MODIFIED : others == INVALID ? EXCLUSIVE : SHARED;
    if (others == MODIFIED)
        counts[TRANSFERS]++;
    if (setup.l2_is_shared) {
        if (!use(&l2[0], line)) {
            counts[L2_MISSES] += others != MODIFIED;
            insert(&l2[0], line, SHARED);
        }
        return state;
    }
    counts[L2_MISSES] += others != MODIFIED;
    dropped = insert(&l2[cpu], line, state);
    if (dropped) {
        drop(&l1d[cpu], LINE(dropped));
        drop(&l1i[cpu], LINE(dropped));
    }
    return state;
}

static void access_line(unsigned cpu, uint64_t line, bool is_write, uint64_t counts[EVENTS])
{
    uint64_t *way = use(&l1d[cpu], line);

    counts[ACCESSES]++;
    if (!way) {
        counts[L1D_MISSES]++;
        insert(&l1d[cpu], line, fill(cpu, line, is_write, counts));
        return;
    }
    if (!is_write || STATE(*way) == MODIFIED)
        return;
    if (STATE(*way) == SHARED) {
        counts[UPGRADES]++;
        ask_others(cpu, line, true);
    }
    *way = WAY(line, MODIFIED);
    if (!setup.l2_is_shared)
        set_state(&l2[cpu], line, MODIFIED);
}

void caches_access(unsigned cpu, uint64_t address, unsigned bytes, bool is_write, uint64_t counts[EVENTS])
{
    uint64_t last = (address + bytes - 1) >> line_shift;

    for (uint64_t line = address >> line_shift; line <= last; line++)
        access_line(cpu, line, is_write, counts);
}

void caches_fetch(unsigned cpu, uint64_t address, unsigned bytes, uint64_t counts[EVENTS])
{
    uint64_t last = (address + bytes - 1) >> line_shift;

    for (uint64_t line = address >> line_shift; line <= last; line++) {
        if (use(&l1i[cpu], line))
            continue;
        counts[L1I_MISSES]++;
        fill(cpu, line, false, counts);
        insert(&l1i[cpu], line, SHARED);
    }
}
