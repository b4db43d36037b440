#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "pages.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD in task->flags */

/* The kernel's own threads and idle CPUs are one process. */
#define KERNEL_PROCESS 0

#define USER_FRAME_MAX 0x100000

/* Instructions of the longest stub. */
#define STUB_MAX 4

static struct task *tasks[TASKS_MAX];
static uint32_t task_count;

/* Pages that hold a task, by their number: a bit each, of which two pages can share one. */
#define TASK_PAGES (1 << 20)
static uint64_t task_pages[TASK_PAGES / 64];

bool holds_task(uint64_t physical)
{
    uint64_t page = physical / PAGE % TASK_PAGES;

    return task_pages[page / 64] >> page % 64 & 1;
}

static void mark_pages(uint64_t physical, uint64_t bytes)
{
    for (uint64_t page = physical / PAGE; page <= (physical + bytes - 1) / PAGE; page++)
        task_pages[page % TASK_PAGES / 64] |= 1ull << page % 64;
}

const struct task *task_in_slot(uint32_t slot)
{
    return tasks[slot];
}

bool cpu_start(struct cpu *cpu)
{
    memset(cpu, 0, sizeof(*cpu));
    cpu->task = calloc(1, sizeof(*cpu->task));
    if (!cpu->task)
        return false;
    cpu->task->process = process_index(KERNEL_PROCESS);
    return true;
}

static struct stack *stack_of(struct cpu *cpu)
{
    return cpu->in_kernel ? &cpu->task->kernel : &cpu->task->user;
}

static struct frame *top_of(struct stack *stack)
{
    return stack->depth ? &stack->frames[stack->depth - 1] : NULL;
}

/* Finds the nodes of all calls of a stack below `base`. */
static node_id resolve(struct stack *stack, node_id base)
{
    for (uint32_t depth = 0; depth < stack->depth; depth++) {
        struct frame *frame = &stack->frames[depth];

        if (frame->age != tree_age()) {
            /* A call whose first block has not run yet counts for its caller. */
            frame->node = frame->routine ? tree_child(base, frame->routine) : base;
            frame->age = frame->routine ? tree_age() : 0;
        }
        base = frame->node;
    }
    return base;
}

void cpu_find_node(struct cpu *cpu)
{
    struct task *task = cpu->task;

    if (cpu->top->age == tree_age()) {
        cpu->node = cpu->top->node;
        return;
    }
    /* A kernel stack is below what the task does in user mode. */
    cpu->node = resolve(&task->user, ROOT(task->process));
    if (cpu->in_kernel)
        cpu->node = resolve(&task->kernel, cpu->node);
}

/* Adds a call of a routine that is not known yet. */
static void push(struct stack *stack, uint64_t place, bool interrupts)
{
    if (stack->depth == DEPTH_MAX) {
        stack->too_deep++;
        return;
    }
    stack->frames[stack->depth++] = (struct frame){ .place = place, .interrupts = interrupts, .starts = true };
}

/* Names the routine of the innermost call, or another one to which it has jumped. */
static void set_routine(struct stack *stack, uint64_t routine)
{
    struct frame *top = top_of(stack);

    top->routine = routine;
    top->age = 0;
}

static bool same_stack(uint64_t a, uint64_t b)
{
    uint64_t apart = a > b ? a - b : b - a;

    return is_kernel(a) ? a / KERNEL_STACK == b / KERNEL_STACK : apart < USER_FRAME_MAX;
}

/* Drops the calls whose place lies below the one that is written now: they ended without a return. */
static void drop_ended(struct stack *stack, uint64_t place)
{
    struct frame *top;

    while ((top = top_of(stack)) && top->place && top->place <= place && same_stack(top->place, place))
        stack->depth--;
}

void cpu_calls(struct cpu *cpu, uint64_t place)
{
    struct stack *stack = stack_of(cpu);

    drop_ended(stack, place);
    push(stack, place, false);
    cpu->top = top_of(stack);
}

/* Ends the innermost call with this place, and those that it has called. Returns whether there is one. */
static bool end_call(struct stack *stack, uint64_t place)
{
    uint32_t depth = stack->depth;

    if (stack->too_deep && stack->frames[DEPTH_MAX - 1].place != place) {
        stack->too_deep--;
        return true;
    }
    while (depth && stack->frames[depth - 1].place != place)
        depth--;
    if (!depth)
        return false;
    stack->depth = depth - 1;
    stack->too_deep = 0;
    return true;
}

void cpu_returns(struct cpu *cpu, uint64_t place)
{
    struct stack *stack = stack_of(cpu);

    /* To a caller from before the first block: the next one begins anew. */
    if (!end_call(stack, place) && !cpu->in_kernel)
        stack->depth = 0;
    cpu->top = top_of(stack);
}

void cpu_links(struct cpu *cpu, uint64_t address)
{
    struct stack *stack = stack_of(cpu);

    push(stack, address, false);
    cpu->top = top_of(stack);
}

void cpu_jumps_back(struct cpu *cpu)
{
    stack_of(cpu)->returning = true;
}

static bool at_entry(uint64_t address)
{
    return address >= kernel.entry_start && address < kernel.entry_end;
}

/* The block that runs after a return on AArch64, in the mode of the return: other blocks, of an interrupt in user mode, may come before. */
static void arrives(struct cpu *cpu, const struct block *block)
{
    bool in_kernel = is_kernel(block->address);
    struct stack *stack = in_kernel ? &cpu->task->kernel : &cpu->task->user;

    if (!stack->returning)
        return;
    stack->returning = false;
    if (end_call(stack, block->address)) {
        /* The caller goes on. */
    } else if (!in_kernel) {
        stack->depth = 0;
    } else if (at_entry(block->address) && stack->depth > 1 && top_of(stack)->place) {
        /* An interrupt came between the return and the caller. */
        stack->depth--;
    }
    if (in_kernel == cpu->in_kernel)
        cpu->top = top_of(stack);
}

static void returned_from_interrupt(struct stack *stack)
{
    uint32_t depth = stack->depth;

    while (depth && !stack->frames[depth - 1].interrupts)
        depth--;
    if (depth)
        stack->depth = depth - 1;
}

/* Whether a block of the entry code was not called, but interrupts the innermost call or precedes its first block. */
static bool interrupts(const struct stack *stack, const struct block *block)
{
    const struct frame *top = &stack->frames[stack->depth - 1];

    if (!at_entry(block->address))
        return false;
    if (!top->routine)
        return stack->depth < 2 || !at_entry(top[-1].routine);
    return !at_entry(top->routine);
}

/* Whether a routine is of the kernel's own code, or not known yet. */
static bool is_permanent(uint64_t routine)
{
    return routine < kernel.code_end;
}

static void enters_kernel_block(struct cpu *cpu, const struct block *block)
{
    struct stack *stack = &cpu->task->kernel;
    uint64_t routine = block->routine;

    if (!cpu->in_kernel)
        stack->depth = stack->too_deep = 0;
    if (kernel.exec_start && block->address == kernel.exec_start)
        cpu->task->user.depth = cpu->task->user.too_deep = 0;
    if (cpu->in_kernel && cpu->last && cpu->last->ending == RETURNS_FROM_INTERRUPT)
        returned_from_interrupt(stack);
    if (!stack->depth)
        push(stack, 0, false);
    else if (interrupts(stack, block))
        push(stack, 0, true);
    cpu->called = !top_of(stack)->routine;
    /* As in user mode, code that comes and goes is known by its first block only. */
    if (!routine)
        routine = is_permanent(top_of(stack)->routine) ? block->address : top_of(stack)->routine;
    if (top_of(stack)->routine != routine)
        set_routine(stack, routine);
}

/* In user mode a routine is known by its first block only. A stub that does nothing but jump on, as of a shared library or of a
 * virtual call in Java, gives the routine that it jumps to. */
static void enters_user_block(struct cpu *cpu, const struct block *block)
{
    struct stack *stack = &cpu->task->user;
    struct frame *top;

    if (!stack->depth)
        push(stack, 0, false);
    top = top_of(stack);
    cpu->called = !top->routine;
    if (cpu->called) {
        set_routine(stack, block->address);
    } else if (top->starts) {
        if (!cpu->in_kernel && cpu->last && cpu->last->ending == JUMPS_INDIRECTLY && cpu->last->instructions <= STUB_MAX)
            set_routine(stack, block->address);
        top->starts = false;
    }
}

/* Whether a block belongs to the innermost call, so that nothing changes. */
static bool goes_on(const struct cpu *cpu, const struct block *block)
{
    const struct frame *top = cpu->top;

    if (!top || !top->routine || cpu->in_kernel != is_kernel(block->address))
        return false;
    if (!cpu->in_kernel)
        return !top->starts;
    if (cpu->last->ending == RETURNS_FROM_INTERRUPT)
        return false;
    return block->routine ? top->routine == block->routine : !is_permanent(top->routine);
}

void cpu_enters(struct cpu *cpu, const struct block *block)
{
    bool in_kernel = is_kernel(block->address);

    cpu->called = false;
    if (architecture == AARCH64)
        arrives(cpu, block);
    if (goes_on(cpu, block)) {
        cpu->last = block;
        return;
    }
    if (in_kernel)
        enters_kernel_block(cpu, block);
    else
        enters_user_block(cpu, block);
    cpu->in_kernel = in_kernel;
    cpu->top = top_of(stack_of(cpu));
    cpu->switching |= block->switches;
    cpu->last = block;
}

static struct task *task_at(uint64_t address)
{
    uint64_t at = (address * 0x9e3779b97f4a7c15u) >> 40;

    for (;; at++) {
        struct task **slot = &tasks[at & (TASKS_MAX - 1)];

        if (*slot && (*slot)->address != address)
            continue;
        if (!*slot && task_count < TASKS_MAX - 1) {
            *slot = calloc(1, sizeof(**slot));
            if (*slot) {
                (*slot)->address = address;
                (*slot)->pid = UINT32_MAX;
                /* Behind it can be the registers of the FPU. */
                mark_pages(address - kernel.thread_sp, kernel.task_bytes + PAGE);
                task_count++;
            }
        }
        return *slot;
    }
}

static uint32_t read_field(uint64_t thread_sp, uint64_t offset)
{
    const uint32_t *field = guest_memory(thread_sp - kernel.thread_sp + offset, sizeof(*field));

    return field ? *field : 0;
}

void cpu_switches(struct cpu *cpu, uint64_t thread_sp)
{
    struct task *task = task_at(thread_sp);
    uint32_t pid = read_field(thread_sp, kernel.pid);
    bool is_thread = read_field(thread_sp, kernel.flags) & KERNEL_THREAD;
    const char *name = guest_memory(thread_sp - kernel.thread_sp + kernel.comm, sizeof(process_at(0)->name));

    cpu->switching = false;
    if (!task)
        return;
    if (task->pid != pid) {
        /* A task of the past had the same memory. */
        task->pid = pid;
        task->user.depth = task->user.too_deep = task->kernel.depth = task->kernel.too_deep = 0;
        task->process = process_index(is_thread ? KERNEL_PROCESS : read_field(thread_sp, kernel.tgid));
    }
    if (name && !is_thread && pid == process_at(task->process)->tgid)
        memcpy(process_at(task->process)->name, name, sizeof(process_at(0)->name));
    cpu->task = task;
    cpu->top = top_of(stack_of(cpu));
}
