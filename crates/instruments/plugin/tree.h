/* The counts: a tree of routines for each process, in which a node is a routine as it was called along one path. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "caches.h"

#define NODES_MAX (1 << 20)
#define PROCESSES_MAX 256

/* The root of a process has a node of its own from the start. */
#define ROOT(process) ((process) + 1)
#define FIRST_ROUTINE ROOT(PROCESSES_MAX)

/* A node; 0 stands for no node. */
typedef uint32_t node_id;

struct node {
    node_id parent;     /* 0 for the root of a process */
    node_id last_child; /* the one that was asked for last, 0 before */
    uint16_t process;   /* index */
    bool counted;     /* it or a node below it has counts since the last reset */
    uint64_t routine; /* its address; 0 for the root of a process */
    uint64_t counts[EVENTS];
};

struct process {
    uint32_t tgid;
    char name[16]; /* that the process had when it ran last */
};

/* Allocates the table of nodes. False without memory. */
bool tree_create(void);

/* Forgets all nodes but the roots, and their counts. Nodes from before are of an older age. */
void tree_reset(void);

/* The number of resets, at least 1. */
uint32_t tree_age(void);

/* The routine called from `parent`. If the table is full, the parent itself, and tree_lost() counts it. */
node_id tree_child(node_id parent, uint64_t routine);

struct node *tree_node(node_id node);

/* Marks a node and those above it as counted. */
void tree_mark(node_id node);

uint32_t tree_nodes(void); /* the highest node plus 1 */
uint64_t tree_lost(void);

/* The process with this id; the last one stands for all that have no room. */
uint32_t process_index(uint32_t tgid);
struct process *process_at(uint32_t index);
uint32_t process_count(void);
