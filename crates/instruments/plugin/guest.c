#include "guest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum architecture architecture;
struct kernel kernel;

static char *ram;
static uint64_t ram_bytes;

static uint64_t *routines;
static size_t routine_count, routine_room;

/* The guest's RAM is an anonymous file that QEMU maps shared (-object memory-backend-memfd), the largest of that name. */
const char *guest_memory_find(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    if (!maps)
        return "/proc/self/maps cannot be read";
    while (fgets(line, sizeof(line), maps)) {
        uint64_t start, end;

        if (!strstr(line, "/memfd:memory-backend-memfd") || sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
            continue;
        if (end - start > ram_bytes) {
            ram = (char *)start;
            ram_bytes = end - start;
        }
    }
    fclose(maps);
    return ram ? NULL : "the machine's memory is no memory-backend-memfd";
}

/* Where RAM starts: in QEMU's machine `virt` behind its devices. */
static uint64_t ram_start(void)
{
    return architecture == AARCH64 ? 1 << 30 : 0;
}

void *guest_memory(uint64_t physical, size_t bytes)
{
    uint64_t offset = physical - ram_start();

    return offset < ram_bytes && bytes <= ram_bytes - offset ? ram + offset : NULL;
}

uint64_t guest_physical(const void *host)
{
    uint64_t offset = (const char *)host - ram;

    return offset < ram_bytes ? ram_start() + offset : UINT64_MAX;
}

bool routines_add(const uint64_t *addresses, size_t count)
{
    if (routine_count + count > routine_room) {
        size_t room = (routine_count + count) * 2;
        uint64_t *larger = realloc(routines, room * sizeof(*routines));

        if (!larger)
            return false;
        routines = larger;
        routine_room = room;
    }
    memcpy(routines + routine_count, addresses, count * sizeof(*addresses));
    routine_count += count;
    return true;
}

uint64_t routine_at(uint64_t address)
{
    size_t low = 0, high = routine_count;

    if (address >= kernel.code_end)
        return 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (routines[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? routines[low - 1] : 0;
}
