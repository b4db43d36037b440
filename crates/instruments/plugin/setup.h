/* The arguments of the plugin: the modelled caches. */
#pragma once

/* Reads the arguments and creates the caches. Without arguments there are none, and only instructions are counted. The guest reads the
 * name and the cycles. Returns NULL, or what is wrong. */
const char *setup_read(int cpus, int argc, char **argv);

/* The arguments in one text. */
const char *setup_text(void);
