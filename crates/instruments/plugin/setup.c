#include "setup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"

static char text[256];

/* Reads `name=size:ways`. */
static bool read_geometry(const char *argument, const char *name, struct geometry *geometry)
{
    size_t length = strlen(name);
    char *end;

    if (strncmp(argument, name, length) || argument[length] != '=')
        return false;
    geometry->bytes = strtoull(argument + length + 1, &end, 10);
    geometry->ways = *end == ':' ? strtoul(end + 1, NULL, 10) : 0;
    return true;
}

const char *setup_read(int cpu_count, int argc, char **argv)
{
    struct cache_setup setup = { .cpus = cpu_count };
    size_t used = 0;

    for (int at = 0; at < argc; at++) {
        used += snprintf(text + used, sizeof(text) - used, "%s%s", at ? "," : "", argv[at]);
        if (used >= sizeof(text))
            return "the description of the caches is too long";
        if (!strncmp(argv[at], "line=", 5))
            setup.line_bytes = strtoul(argv[at] + 5, NULL, 10);
        else if (!strncmp(argv[at], "l2_shared=", 10))
            setup.l2_is_shared = !strcmp(argv[at] + 10, "on");
        else if (!strncmp(argv[at], "name=", 5) || !strncmp(argv[at], "cycles_", 7))
            continue;
        else if (!read_geometry(argv[at], "l1d", &setup.l1d) && !read_geometry(argv[at], "l1i", &setup.l1i)
                 && !read_geometry(argv[at], "l2", &setup.l2))
            return "unknown argument";
    }
    return argc ? caches_create(&setup) : NULL;
}

const char *setup_text(void)
{
    return text;
}
