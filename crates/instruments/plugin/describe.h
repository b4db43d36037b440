/* What a block of instructions is, when QEMU translates it. */
#pragma once

#include "blocks.h"
#include "qemu.h"

/* The bytes of an instruction, NULL outside RAM. */
const unsigned char *bytes_of(const struct qemu_plugin_insn *instruction);

/* Where a block lies in RAM, and what its last instruction does. */
struct block describe(struct qemu_plugin_tb *tb);
