/* The tasks of the guest, and the calls that each is in.
 *
 * A task has a stack of calls in user mode and one in the kernel. The plugin interface shows neither registers nor the reason
 * of a jump, so on x86-64 the stacks follow what instructions do to memory: a call writes its return address, a return reads it from
 * the same place. That place identifies the call, also across switches of the stack.
 *
 * On AArch64 a call writes its return address to a register. It is the address behind the call, and identifies the call: a return ends
 * the innermost one whose address is that of the next block. */
#pragma once

#include "blocks.h"
#include "tree.h"

#define DEPTH_MAX 128

/* Kernel stacks are apart by at least their size. Calls on stacks farther apart say nothing about each other. */
#define KERNEL_STACK 0x4000

struct frame {
    uint64_t place;   /* where the return address is, or on AArch64 that address; 0 if nothing was called */
    uint64_t routine; /* 0 until its first block runs */
    node_id node;     /* if `age` is the tree's */
    uint32_t age;     /* 0 if the node is not known */
    bool interrupts; /* an interrupt or exception in the kernel, which returns by iret */
    bool starts;     /* at most its first block has run, which may be a stub that jumps on */
};

struct stack {
    struct frame frames[DEPTH_MAX];
    uint32_t depth;
    uint32_t too_deep; /* calls beyond DEPTH_MAX, which have no frame */
    bool returning;    /* AArch64: the last block returned */
};

struct task {
    uint64_t address; /* physical, of thread.sp in its struct task_struct; 0 for the unknown task of a CPU */
    uint32_t pid;
    uint32_t process;
    struct stack user, kernel;
};

/* The state of a CPU. */
struct cpu {
    struct task *task;
    const struct block *last; /* the block that ran before; NULL before the first */
    node_id node;        /* whose counts grow, if anything is counted */
    bool in_kernel;
    bool called;         /* the block is the first one of a call */
    struct frame *top;   /* the innermost call; NULL before the first block */
    bool switching;      /* the next load is that of the next task's stack pointer */
};

/* Tasks by address: a hash table with open addressing that is never full. */
#define TASKS_MAX (1 << 15)

/* The task in a slot of the table, NULL for none. */
const struct task *task_in_slot(uint32_t slot);

/* Whether a task has been seen in the page of this physical address. */
bool holds_task(uint64_t physical);

/* Prepares a CPU, whose task is unknown until it switches. False without memory. */
bool cpu_start(struct cpu *cpu);

/* Finds the node of the innermost call. Nodes are made while something is counted only: a Java that starts would fill the tree. */
void cpu_find_node(struct cpu *cpu);

/* A block begins to run. */
void cpu_enters(struct cpu *cpu, const struct block *block);

/* A call writes its return address to this place. */
void cpu_calls(struct cpu *cpu, uint64_t place);

/* A return reads its address from this place. */
void cpu_returns(struct cpu *cpu, uint64_t place);

/* AArch64: a call is about to jump, and will return to this address. */
void cpu_links(struct cpu *cpu, uint64_t address);

/* AArch64: a return is about to jump. */
void cpu_jumps_back(struct cpu *cpu);

/* The task whose thread.sp is at this physical address continues. */
void cpu_switches(struct cpu *cpu, uint64_t thread_sp);
