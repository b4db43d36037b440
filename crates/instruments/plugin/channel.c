#include "channel.h"

#include <stdio.h>
#include <string.h>

#include "counting.h"
#include "data.h"
#include "guest.h"
#include "setup.h"
#include "tasks.h"
#include "tree.h"

/* The marks by architecture: nopl with a displacement that no compiler writes, "KLAT"; and movz xzr, which no compiler writes, with "KL"
 * and "AT". */
static const unsigned char MARKS[][8] = {
    [X86_64] = { 0x0f, 0x1f, 0x84, 0x00, 'K', 'L', 'A', 'T' },
    [AARCH64] = { 0x7f, 0x89, 0x89, 0xd2, 0x3f, 0x88, 0x8a, 0xd2 },
};

bool follows_mark(const unsigned char *bytes, size_t before)
{
    const unsigned char *mark = MARKS[architecture];

    return before >= sizeof(*MARKS) && !memcmp(bytes - sizeof(*MARKS), mark, sizeof(*MARKS));
}

static void fail(struct request *request, const char *why)
{
    request->error = snprintf(request->data, DATA_MAX, "%s", why);
    request->length = request->error;
}

static void send_processes(struct request *request)
{
    uint64_t index = request->arguments[0], room = DATA_MAX / sizeof(struct process_row), rows = 0;

    for (; index < process_count() && rows < room; index++, rows++) {
        const struct process *process = process_at(index);
        struct process_row row = { .tgid = process->tgid };

        memcpy(row.name, process->name, sizeof(row.name));
        memcpy(request->data + rows * sizeof(row), &row, sizeof(row));
    }
    request->length = rows * sizeof(struct process_row);
    request->arguments[1] = index < process_count() ? index : 0;
}

static void send_nodes(struct request *request)
{
    uint64_t node = request->arguments[0], room = DATA_MAX / sizeof(struct node_row), rows = 0;

    for (node = node ? node : 1; node < tree_nodes() && rows < room; node++) {
        const struct node *one = tree_node(node);
        struct node_row row = { .node = node, .parent = one->parent, .process = one->process, .routine = one->routine };

        if (!one->counted)
            continue;
        memcpy(row.counts, one->counts, sizeof(row.counts));
        memcpy(request->data + rows++ * sizeof(row), &row, sizeof(row));
    }
    request->length = rows * sizeof(struct node_row);
    request->arguments[1] = node < tree_nodes() ? node : 0;
}

static void send_totals(struct request *request)
{
    struct totals totals = { .lost = tree_lost() };

    for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
        totals.instructions[cpu] = counted_instructions(cpu);
    memcpy(request->data, &totals, sizeof(totals));
    request->length = sizeof(totals);
}

static void send_data(struct request *request)
{
    uint64_t at = request->arguments[0], room = DATA_MAX / sizeof(struct data_row), rows = 0;

    for (; at < DATA_ROWS && rows < room; at++) {
        const struct data_row *row = data_row(at);

        if (data_is_used(row))
            memcpy(request->data + rows++ * sizeof(*row), row, sizeof(*row));
    }
    request->length = rows * sizeof(struct data_row);
    request->arguments[1] = at < DATA_ROWS ? at : 0;
}

static void send_tasks(struct request *request)
{
    uint64_t at = request->arguments[0], room = DATA_MAX / sizeof(uint64_t), rows = 0;

    for (; at < TASKS_MAX && rows < room; at++) {
        const struct task *task = task_in_slot(at);
        uint64_t address = task ? task->address - kernel.thread_sp : 0;

        if (task)
            memcpy(request->data + rows++ * sizeof(address), &address, sizeof(address));
    }
    request->length = rows * sizeof(uint64_t);
    request->arguments[1] = at < TASKS_MAX ? at : 0;
}

static void track(struct request *request)
{
    if (request->length != sizeof(kernel)) {
        fail(request, "the description of the kernel has another size");
        return;
    }
    memcpy(&kernel, request->data, sizeof(kernel));
    counting_track();
}

static void add_routines(struct request *request)
{
    if (!routines_add((const uint64_t *)request->data, request->length / sizeof(uint64_t)))
        fail(request, "there is no memory for the routines");
}

void answer(uint64_t physical)
{
    struct request *request = guest_memory(physical, sizeof(*request));

    if (!request || request->magic != REQUEST_MAGIC || request->length > DATA_MAX)
        return;
    request->error = 0;
    switch ((enum request_kind)request->kind) {
    case HELLO:
        request->length = snprintf(request->data, DATA_MAX, "%s", setup_text());
        return;
    case TRACK:
        track(request);
        return;
    case ROUTINES:
        add_routines(request);
        return;
    case OPEN:
        counting_open(request->arguments[0]);
        return;
    case CLOSE:
        request->arguments[0] = counting_close(request->arguments[0]);
        return;
    case PROCESSES:
        send_processes(request);
        return;
    case NODES:
        send_nodes(request);
        return;
    case TOTALS:
        send_totals(request);
        return;
    case DATA:
        send_data(request);
        return;
    case TASKS:
        send_tasks(request);
        return;
    }
    fail(request, "unknown request");
}
