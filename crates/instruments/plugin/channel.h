/* Requests of the guest to the plugin.
 *
 * The guest writes a request into a page of its own, then executes the mark, an instruction without effect, and a load from
 * the page. The plugin recognizes the mark, reads the page and writes the answer into it before the guest's next instruction.
 * So nothing else runs in between, and equal runs stay equal. crates/instruments/src/counters/channel.rs is the other side. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "caches.h"

#define REQUEST_MAGIC 0x3130484354414c4bu /* "KLATCH01" */
#define DATA_MAX 3968

enum request_kind {
    HELLO,       /* -> the setup of the caches, as text in `data` */
    TRACK,       /* `data` is struct kernel: follow tasks and their calls from now on */
    ROUTINES,    /* `data` has `length` bytes of sorted addresses; before TRACK */
    OPEN,        /* arguments[0] is an owner: count from zero, with empty caches, unless that owner counts already */
    CLOSE,       /* stop counting if arguments[0] is the owner; -> arguments[0]: whether it was */
    PROCESSES,   /* from index arguments[0]: -> struct process_row in `data` */
    NODES,       /* from node arguments[0]: -> struct node_row in `data`, without those that counted nothing */
    TOTALS,      /* -> struct totals in `data` */
    DATA,        /* from row arguments[0]: -> struct data_row in `data` */
    TASKS,       /* from slot arguments[0]: -> physical addresses of struct task_struct in `data` */
};

struct request {
    uint64_t magic;
    uint32_t kind;
    uint32_t error; /* answer: 0, or the length of an error message in `data` */
    uint32_t length; /* bytes in `data`, of the request, then of the answer */
    uint32_t unused;
    uint64_t arguments[2]; /* answer: arguments[1] is where to continue, 0 at the end */
    char data[DATA_MAX];
};

struct process_row {
    uint32_t tgid;
    char name[16];
};

struct node_row {
    uint32_t node, parent;
    uint64_t process;
    uint64_t routine;
    uint64_t counts[EVENTS];
};

struct totals {
    uint64_t instructions[CPUS_MAX]; /* by CPU */
    uint64_t lost;                   /* calls without a node of their own */
};

/* Whether the mark stands before these bytes, `before` of which can be read. */
bool follows_mark(const unsigned char *bytes, size_t before);

/* Answers the request in the page at this physical address. */
void answer(uint64_t physical);
