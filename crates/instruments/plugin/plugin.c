/* A plugin of QEMU that counts instructions and cache misses by routine and process, while the guest asks for it.
 *
 * QEMU runs all CPUs of the machine in one thread when its clock counts instructions (-icount), so nothing here is locked. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "counting.h"
#include "data.h"
#include "describe.h"
#include "guest.h"
#include "pages.h"
#include "qemu.h"
#include "setup.h"
#include "tasks.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = 1;

static struct cpu cpus[CPUS_MAX];
static struct pages pages[CPUS_MAX];
static uint64_t instructions[CPUS_MAX];
static bool tracks, counts, has_caches;

/* Whether accesses have a callback while nothing is counted too, so that opening and closing need no new translation. With several CPUs
 * and new translations QEMU 7.2 aborted in one of eight boots: most likely a CPU that had waited took an interrupt, and QEMU called
 * the freed callback of an instruction from before. The only CPU of a machine does not wait while it asks for anything. */
static bool watches_always;
static uint64_t counts_for;
static uint64_t own_id;

/* QEMU 9 and newer refuse the first version of the interface, and nothing that is used here has changed since. */
__attribute__((constructor)) static void choose_version(void)
{
    if (dlsym(RTLD_DEFAULT, "qemu_plugin_num_vcpus"))
        qemu_plugin_version = 2;
}

static void translated(uint64_t plugin, struct qemu_plugin_tb *tb);

static void registers_again(uint64_t plugin)
{
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
}

/* Has all blocks translated anew, with the callbacks that are needed now. */
static void translate_again(void)
{
    qemu_plugin_reset(own_id, registers_again);
}

void counting_track(void)
{
    tracks = true;
    translate_again();
}

void counting_open(uint64_t owner)
{
    if (counts && counts_for == owner)
        return;
    tree_reset();
    data_reset();
    memset(instructions, 0, sizeof(instructions));
    if (has_caches)
        caches_clear();
    memset(pages, 0, sizeof(pages));
    counts = true;
    counts_for = owner;
    if (!watches_always)
        translate_again();
}

bool counting_close(uint64_t owner)
{
    if (counts_for != owner)
        return false;
    counts = false;
    if (!watches_always)
        translate_again();
    return true;
}

uint64_t counted_instructions(unsigned cpu)
{
    return instructions[cpu];
}

static void drop_pages(unsigned index)
{
    if (architecture == X86_64)
        pages_clear(&pages[index]);
    else
        memset(pages, 0, sizeof(pages));
}

static void runs_block(unsigned index, void *data)
{
    const struct block *block = data;
    struct cpu *cpu = &cpus[index];
    struct node *node;

    if (cpu->last && cpu->last->drops_pages)
        drop_pages(index);
    cpu_enters(cpu, block);
    if (!counts)
        return;
    cpu_find_node(cpu);
    node = tree_node(cpu->node);
    if (!node->counted)
        tree_mark(cpu->node);
    node->counts[INSTRUCTIONS] += block->instructions;
    node->counts[CALLS_COUNTED] += cpu->called;
    instructions[index] += block->instructions;
    if (!has_caches || block->physical == UINT64_MAX)
        return;
    caches_fetch(index, block->physical, block->bytes, node->counts);
    if (block->bytes_rest)
        caches_fetch(index, block->physical_rest, block->bytes_rest, node->counts);
}

static void count_access(unsigned index, uint32_t access, uint64_t address)
{
    uint64_t physical = pages_find(&pages[index], address), before[EVENTS];
    uint64_t *counts_of_node = tree_node(cpus[index].node)->counts;

    if (physical == UINT64_MAX) {
        struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(access, address);

        if (!place || qemu_plugin_hwaddr_is_io(place))
            return;
        physical = qemu_plugin_hwaddr_phys_addr(place);
        pages_keep(&pages[index], address, physical);
    }
    memcpy(before, counts_of_node, sizeof(before));
    caches_access(index, physical, 1u << qemu_plugin_mem_size_shift(access), qemu_plugin_mem_is_store(access),
                  counts_of_node);
    data_add(&cpus[index], address, physical, before, counts_of_node);
}

static void accesses(unsigned index, uint32_t access, uint64_t address, void *data)
{
    struct cpu *cpu = &cpus[index];

    (void)data;
    if (counts && has_caches)
        count_access(index, access, address);
    if (cpu->switching && !qemu_plugin_mem_is_store(access)) {
        struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(access, address);

        if (place)
            cpu_switches(cpu, qemu_plugin_hwaddr_phys_addr(place));
    }
}

/* Whether the current block ends so. If not, the callback is that of an earlier instruction, see watches_always. */
static bool is_ending(unsigned index, enum ending ending)
{
    return cpus[index].last && cpus[index].last->ending == ending;
}

static void calls(unsigned index, uint32_t access, uint64_t address, void *data)
{
    accesses(index, access, address, data);
    /* An indirect call first loads its target. */
    if (qemu_plugin_mem_is_store(access) && is_ending(index, CALLS))
        cpu_calls(&cpus[index], address);
}

static void returns(unsigned index, uint32_t access, uint64_t address, void *data)
{
    accesses(index, access, address, data);
    if (!qemu_plugin_mem_is_store(access) && is_ending(index, RETURNS))
        cpu_returns(&cpus[index], address);
}

static void links(unsigned index, void *data)
{
    const struct block *block = data;

    cpu_links(&cpus[index], block->address + block->bytes + block->bytes_rest);
}

static void jumps_back(unsigned index, void *data)
{
    (void)data;
    cpu_jumps_back(&cpus[index]);
}

static void requests(unsigned index, uint32_t access, uint64_t address, void *data)
{
    struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(access, address);

    (void)index;
    (void)data;
    if (place && !qemu_plugin_hwaddr_is_io(place))
        answer(qemu_plugin_hwaddr_phys_addr(place));
}

/* Ends QEMU with this message, if there is one. */
static void give_up(const char *wrong)
{
    if (!wrong)
        return;
    fprintf(stderr, "klatch: the counters of the machine: %s\n", wrong);
    exit(1);
}

/* What to do when instruction `at` of a block accesses memory; NULL if nothing. */
static accessed_callback *callback_of(const struct block *block, size_t at)
{
    bool is_last = at == block->instructions - 1u && architecture == X86_64;

    if (is_last && block->ending == CALLS)
        return calls;
    if (is_last && block->ending == RETURNS)
        return returns;
    return ((counts || watches_always) && has_caches) || block->loads_task ? accesses : NULL;
}

/* A call or return of AArch64 accesses no memory. It cannot fail, so all that comes before it in its block has been executed. */
static void follow_links(struct qemu_plugin_tb *tb, struct block *block)
{
    struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, block->instructions - 1);

    if (block->ending == CALLS)
        qemu_plugin_register_vcpu_insn_exec_cb(last, links, NO_REGISTERS, block);
    else if (block->ending == RETURNS)
        qemu_plugin_register_vcpu_insn_exec_cb(last, jumps_back, NO_REGISTERS, NULL);
}

static void follow(struct qemu_plugin_tb *tb)
{
    struct block description = describe(tb), *block = block_intern(&description);

    give_up(block ? NULL : "there is no memory for a block");
    qemu_plugin_register_vcpu_tb_exec_cb(tb, runs_block, NO_REGISTERS, block);
    if (architecture == AARCH64)
        follow_links(tb, block);
    for (size_t at = 0; at < block->instructions; at++) {
        accessed_callback *callback = callback_of(block, at);

        if (callback)
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, at), callback, NO_REGISTERS, READS_AND_WRITES, NULL);
    }
}

/* Only what is needed has a callback, so the machine boots at its usual speed. */
static void translated(uint64_t plugin, struct qemu_plugin_tb *tb)
{
    static bool has_memory;

    (void)plugin;
    /* QEMU installs plugins before it creates the machine's memory. */
    if (!has_memory)
        give_up(guest_memory_find());
    has_memory = true;
    for (size_t at = 0; at < qemu_plugin_tb_n_insns(tb); at++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, at);
        const unsigned char *bytes = bytes_of(instruction);

        /* A block may end between the mark and its load, so the bytes count and not the instruction before. */
        if (bytes && follows_mark(bytes, guest_physical(bytes) % PAGE))
            qemu_plugin_register_vcpu_mem_cb(instruction, requests, NO_REGISTERS, READS_AND_WRITES, NULL);
    }
    if (tracks)
        follow(tb);
}

EXPORTED int qemu_plugin_install(uint64_t plugin, const struct qemu_machine *machine, int argc, char **argv)
{
    int cpu_count = machine->system.cpus;
    const char *wrong = cpu_count <= CPUS_MAX ? NULL : "there are more than 64 CPUs";

    architecture = strcmp(machine->target_name, "aarch64") ? X86_64 : AARCH64;
    wrong = wrong ? wrong : setup_read(cpu_count, argc, argv);
    has_caches = argc > 0;
    watches_always = cpu_count > 1;
    wrong = wrong || (tree_create() && data_create()) ? wrong : "there is no memory for the counts";
    for (int cpu = 0; cpu < cpu_count && !wrong; cpu++)
        wrong = cpu_start(&cpus[cpu]) ? NULL : "there is no memory for the CPUs";
    if (wrong) {
        fprintf(stderr, "klatch: the counters of the machine: %s\n", wrong);
        return 1;
    }
    own_id = plugin;
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
    return 0;
}
