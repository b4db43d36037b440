#include "tree.h"

#include <stdlib.h>
#include <string.h>

/* Node 0 is unused, then come the roots. The memory is touched as nodes are made. */
static struct node *nodes;
static uint32_t node_count = FIRST_ROUTINE;
static uint64_t lost;
static uint32_t age;

/* Children by parent and routine: a hash table with open addressing, at most half full. */
#define SLOTS (2 * NODES_MAX)
static node_id *slots;

static struct process processes[PROCESSES_MAX];
static uint32_t processes_used;

bool tree_create(void)
{
    nodes = calloc(NODES_MAX, sizeof(*nodes));
    slots = calloc(SLOTS, sizeof(*slots));
    if (!nodes || !slots)
        return false;
    tree_reset();
    return true;
}

void tree_reset(void)
{
    node_count = FIRST_ROUTINE;
    lost = 0;
    age++;
    memset(slots, 0, SLOTS * sizeof(*slots));
    for (uint32_t index = 0; index < PROCESSES_MAX; index++)
        nodes[ROOT(index)] = (struct node){ .process = index };
}

uint32_t tree_age(void)
{
    return age;
}

node_id tree_child(node_id parent, uint64_t routine)
{
    uint64_t at = (routine * 0x9e3779b97f4a7c15u ^ (uint64_t)parent * 0xff51afd7ed558ccdu) >> 20;
    node_id last = nodes[parent].last_child;

    if (last && nodes[last].routine == routine)
        return last;
    for (;; at++) {
        node_id *slot = &slots[at & (SLOTS - 1)];

        if (*slot && (nodes[*slot].parent != parent || nodes[*slot].routine != routine))
            continue;
        if (!*slot) {
            if (node_count == NODES_MAX) {
                lost++;
                return parent;
            }
            *slot = node_count++;
            nodes[*slot] = (struct node){ .parent = parent, .process = nodes[parent].process, .routine = routine };
        }
        nodes[parent].last_child = *slot;
        return *slot;
    }
}

struct node *tree_node(node_id node)
{
    return &nodes[node];
}

void tree_mark(node_id node)
{
    while (node && !nodes[node].counted) {
        nodes[node].counted = true;
        node = nodes[node].parent;
    }
}

uint32_t tree_nodes(void)
{
    return node_count;
}

uint64_t tree_lost(void)
{
    return lost;
}

uint32_t process_index(uint32_t tgid)
{
    uint32_t index = 0;

    while (index < processes_used && (processes[index].tgid != tgid && index != PROCESSES_MAX - 1))
        index++;
    if (index == processes_used) {
        processes[index].tgid = index == PROCESSES_MAX - 1 ? UINT32_MAX : tgid;
        processes_used++;
    }
    return index;
}

struct process *process_at(uint32_t index)
{
    return &processes[index];
}

uint32_t process_count(void)
{
    return processes_used;
}
