/* The part of QEMU's plugin interface that the plugins use (docs/devel/tcg-plugins of QEMU describes it), declared here so that
 * building needs no file of QEMU. Interface 1 is that of QEMU 7.2. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opaque: QEMU's own records of a block, an instruction and an address. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

/* The start of what QEMU passes to qemu_plugin_install; the interface may only grow at its end. */
struct qemu_machine {
    const char *target_name;
    struct {
        int min, cur;
    } version;
    bool system_emulation;
    struct {
        int cpus, cpus_max;
    } system;
};

/* Values of `flags` and `rw`. */
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

typedef void translated_callback(uint64_t plugin, struct qemu_plugin_tb *block);
typedef void executed_callback(unsigned cpu, void *data);
typedef void accessed_callback(unsigned cpu, uint32_t access, uint64_t address, void *data);

typedef void simple_callback(uint64_t plugin);

/* Drops all callbacks and translated blocks, then calls `callback`; both soon, not at once. */
void qemu_plugin_reset(uint64_t plugin, simple_callback *callback);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, translated_callback *callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed_callback *, int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed_callback *, int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, accessed_callback *, int flags, int rw, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
/* The host's address of the instruction's bytes, NULL outside RAM. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);

bool qemu_plugin_mem_is_store(uint32_t access);
unsigned qemu_plugin_mem_size_shift(uint32_t access);
/* Valid until the callback returns; NULL if the address has no translation. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t access, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);
