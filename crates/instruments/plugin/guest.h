/* What the plugin knows of the guest: its memory, and where the kernel's routines and fields are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The architectures of guests. */
enum architecture { X86_64, AARCH64 };

extern enum architecture architecture;

/* Offsets in the kernel's struct task_struct, and addresses of kernel routines. The guest reads them from the kernel's own
 * descriptions and sends them before anything is tracked. */
struct kernel {
    uint64_t thread_sp; /* &task->thread.sp, which a context switch reads; on AArch64 thread.cpu_context, the first that it reads */
    uint64_t pid, tgid, flags, comm;
    uint64_t task_bytes;             /* size of the struct */
    uint64_t switch_start;           /* __switch_to_asm, or cpu_switch_to */
    uint64_t entry_start, entry_end; /* where interrupts, exceptions and system calls enter */
    uint64_t code_end;               /* end of the kernel's own code; beyond it is code that comes and goes, as of BPF */
    uint64_t exec_start;             /* where a task's program is replaced by another one; 0 if returns are seen by their place */
};

extern struct kernel kernel;

/* Finds the guest's RAM in this process. Returns NULL, or why not. */
const char *guest_memory_find(void);

/* The host's address of `bytes` bytes at a physical address, NULL outside RAM. */
void *guest_memory(uint64_t physical, size_t bytes);

/* The physical address of a host address in RAM; UINT64_MAX outside. */
uint64_t guest_physical(const void *host);

/* Adds start addresses of routines of the kernel, larger than those before. */
bool routines_add(const uint64_t *addresses, size_t count);

/* The start of the kernel routine that contains an address; 0 outside the kernel's own code. */
uint64_t routine_at(uint64_t address);

static inline bool is_kernel(uint64_t address)
{
    return address >> 63;
}
