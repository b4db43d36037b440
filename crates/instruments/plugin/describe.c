#include "describe.h"

#include <string.h>

#include "guest.h"
#include "pages.h"

/* What an instruction of AArch64 does: the classes of branches to a label and to a register ("Branches, exception generating and system
 * instructions" in the Arm architecture reference manual), with and without authentication of the address. */
static enum ending ending_of_aarch64(uint32_t word)
{
    if ((word & 0xfc000000) == 0x94000000)
        return CALLS;
    switch (word & 0xfefff000) {
    case 0xd63f0000:
        return CALLS;
    case 0xd61f0000:
        return JUMPS_INDIRECTLY;
    case 0xd65f0000:
        return RETURNS;
    case 0xd69f0000:
        return RETURNS_FROM_INTERRUPT;
    }
    return RUNS_ON;
}

/* What an instruction of x86-64 does, by its opcode behind the prefixes. */
static enum ending ending_of_x86(const unsigned char *bytes, size_t size)
{
    size_t at = 0;
    unsigned operation;

    while (at < size && (bytes[at] == 0x66 || bytes[at] == 0xf2 || bytes[at] == 0xf3 || bytes[at] == 0x2e || bytes[at] == 0x3e
                         || (bytes[at] & 0xf0) == 0x40))
        at++;
    if (at == size)
        return RUNS_ON;
    switch (bytes[at]) {
    case 0xe8:
        return CALLS;
    case 0xc2:
    case 0xc3:
        return RETURNS;
    case 0xcf:
        return RETURNS_FROM_INTERRUPT;
    case 0xff:
        operation = at + 1 < size ? bytes[at + 1] >> 3 & 7 : 0;
        return operation == 2 || operation == 3 ? CALLS : operation == 4 || operation == 5 ? JUMPS_INDIRECTLY : RUNS_ON;
    }
    return RUNS_ON;
}

static enum ending ending_of(const unsigned char *bytes, size_t size)
{
    uint32_t word;

    if (architecture == X86_64)
        return ending_of_x86(bytes, size);
    memcpy(&word, bytes, sizeof(word));
    return ending_of_aarch64(word);
}

const unsigned char *bytes_of(const struct qemu_plugin_insn *instruction)
{
    const unsigned char *bytes = qemu_plugin_insn_haddr(instruction);

    return guest_physical(bytes) == UINT64_MAX ? NULL : bytes;
}

struct block describe(struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb), size = 0;
    struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0), *last = qemu_plugin_tb_get_insn(tb, count - 1);
    const unsigned char *end = bytes_of(last);
    size_t in_page = PAGE - (qemu_plugin_tb_vaddr(tb) & (PAGE - 1));
    struct block block = { .address = qemu_plugin_tb_vaddr(tb), .instructions = count };
    block.routine = is_kernel(block.address) ? routine_at(block.address) : 0;
    block.switches = block.address == kernel.switch_start;
    block.loads_task = block.switches || (block.routine && block.routine == kernel.switch_start);

    for (size_t at = 0; at < count; at++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, at);
        const unsigned char *bytes = bytes_of(instruction);

        size += qemu_plugin_insn_size(instruction);
        block.drops_pages |= bytes && ends_translations(bytes, qemu_plugin_insn_size(instruction));
    }
    block.physical = guest_physical(qemu_plugin_insn_haddr(first));
    block.bytes = size < in_page ? size : in_page;
    if (!end)
        return block;
    block.ending = ending_of(end, qemu_plugin_insn_size(last));
    if (size > in_page) {
        uint64_t start_of_last = guest_physical(end);

        block.bytes_rest = size - in_page;
        /* If only the last instruction reaches into the second page, where that is cannot be seen. It is one line. */
        block.physical_rest = start_of_last / PAGE != block.physical / PAGE ? start_of_last / PAGE * PAGE : block.physical;
        if (start_of_last / PAGE == block.physical / PAGE)
            block.bytes_rest = 1;
    }
    return block;
}
