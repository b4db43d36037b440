/* A plugin of QEMU that stops a machine at an instruction, or holds the start of one that goes on from there, so exactly that the state
 * depends on nothing but the instructions executed.
 *
 * QEMU stops a machine in its main thread, whenever the host runs that, and the CPUs go on until then. So the CPU that executes the mark
 * waits here, outside the lock of QEMU, until the main thread has told all CPUs to stop and waits for them. Then it goes on, and stops at
 * the end of its block, as every CPU does before it executes anything. With -icount all CPUs share this thread.
 *
 * When a machine goes on, the main thread is awake for a while, runs timers and sends CPUs back to where they take turns: several CPUs
 * would take other turns each time. So nothing is executed before it sleeps. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../plugin/qemu.h"

#define EXPORTED __attribute__((visibility("default")))

enum { PAGE = 4096, MARK_BYTES = 8, STATE_MAX = 1 << 16, EQUAL_LOOKS = 5, LOOK_US = 1000, WENT_ON = 75 };

/* The other system call in which QEMU may wait for events; not every architecture has it. */
#ifdef SYS_poll
enum { MAIN_POLLS = SYS_poll };
#else
enum { MAIN_POLLS = SYS_ppoll };
#endif

EXPORTED int qemu_plugin_version = 1;

/* The marks of an architecture. The second is executed right after the first in another block. */
struct marks {
    unsigned char here[MARK_BYTES], behind[MARK_BYTES];
    size_t first_bytes; /* of the first instruction of a mark */
};

/* nopl with displacements that no compiler writes. */
static const struct marks X86_64 = {
    { 0x0f, 0x1f, 0x84, 0x00, 'S', 'T', 'O', 'P' },
    { 0x0f, 0x1f, 0x84, 0x00, 'W', 'E', 'N', 'T' },
    MARK_BYTES,
};

/* movz xzr, which no compiler writes, with "ST" and "OP", and with "WE" and "NT". */
static const struct marks AARCH64 = {
    { 0x7f, 0x8a, 0x8a, 0xd2, 0xff, 0x09, 0x8a, 0xd2 },
    { 0xff, 0xaa, 0x88, 0xd2, 0xdf, 0x89, 0x8a, 0xd2 },
    4,
};

static const struct marks *marks = &X86_64;

/* The file that is made when the mark is reached; empty in a machine that goes on. */
static char reached[PAGE];

/* QEMU 9 and newer refuse the first version of the interface, and nothing that is used here has changed since. */
__attribute__((constructor)) static void choose_version(void)
{
    if (dlsym(RTLD_DEFAULT, "qemu_plugin_num_vcpus"))
        qemu_plugin_version = 2;
}

/* Ends QEMU with this message and exit status. */
static void give_up(const char *wrong, int status)
{
    fprintf(stderr, "klatch: the stop of the machine: %s\n", wrong);
    _exit(status);
}

/* Where each other thread waits: its system call with all arguments. Returns that of the main thread, or -1 if a thread runs. */
static long waits_in(char *state)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    long self = syscall(SYS_gettid), main = getpid(), call = -1;
    size_t used = 0;
    bool waits = true;

    if (!tasks)
        give_up("/proc/self/task cannot be read", 1);
    while (waits && (task = readdir(tasks))) {
        long thread = atol(task->d_name);
        char path[64];
        ssize_t length;
        int file;

        if (thread == 0 || thread == self)
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%ld/syscall", thread);
        file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) {
            /* A thread may end meanwhile, but not the main one. */
            if (errno != ENOENT || thread == main)
                give_up("/proc/self/task/…/syscall cannot be read", 1);
            continue;
        }
        length = read(file, state + used, STATE_MAX - 1 - used);
        close(file);
        if (length <= 0 || state[used] < '0' || state[used] > '9')
            waits = false;
        else if (thread == main)
            call = atol(state + used);
        used += length > 0 ? length : 0;
    }
    closedir(tasks);
    state[used] = 0;
    return waits ? call : -1;
}

/* Waits until all other threads wait, the main one in one of these system calls. */
static void wait_for_main(long call, long other)
{
    static char now[STATE_MAX], before[STATE_MAX];
    int equal = 0;

    while (equal < EQUAL_LOOKS) {
        long main = waits_in(now);

        equal = (main == call || main == other) && !strcmp(now, before) ? equal + 1 : 0;
        strcpy(before, now);
        usleep(LOOK_US);
    }
}

static void stops_here(unsigned cpu, void *data)
{
    int file = open(reached, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)cpu;
    (void)data;
    if (file < 0)
        give_up("the file that says so cannot be made", 1);
    close(file);
    /* The lock of QEMU is free, so it is a condition. */
    wait_for_main(SYS_futex, SYS_futex);
}

static void went_on(unsigned cpu, void *data)
{
    (void)cpu;
    (void)data;
    give_up("it went on", WENT_ON);
}

/* Nothing more is to be done. */
static void does_nothing(uint64_t plugin)
{
    (void)plugin;
}

static void translated(uint64_t plugin, struct qemu_plugin_tb *tb)
{
    static bool has_started;

    if (!*reached) {
        /* Nothing has been executed before the first translation. What the main thread has done meanwhile counts as done before: the
         * CPUs begin again. */
        if (!has_started) {
            wait_for_main(SYS_ppoll, MAIN_POLLS);
            qemu_plugin_reset(plugin, does_nothing);
        }
        has_started = true;
        return;
    }
    for (size_t at = 0; at < qemu_plugin_tb_n_insns(tb); at++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, at);
        const unsigned char *bytes = qemu_plugin_insn_haddr(instruction);

        /* Outside RAM the address is none, or a small number. The marks are aligned. */
        if (qemu_plugin_insn_size(instruction) != marks->first_bytes || (uintptr_t)bytes < PAGE || (uintptr_t)bytes % MARK_BYTES)
            continue;
        if (!memcmp(bytes, marks->here, MARK_BYTES))
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, stops_here, NO_REGISTERS, NULL);
        else if (!memcmp(bytes, marks->behind, MARK_BYTES))
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, went_on, NO_REGISTERS, NULL);
    }
}

EXPORTED int qemu_plugin_install(uint64_t plugin, const struct qemu_machine *machine, int argc, char **argv)
{
    if (!strcmp(machine->target_name, "aarch64"))
        marks = &AARCH64;
    if (argc > 1 || (argc && (strncmp(argv[0], "reached=", 8) || strlen(argv[0] + 8) >= sizeof(reached)))) {
        fprintf(stderr, "klatch: the stop of the machine: unknown argument\n");
        return 1;
    }
    if (argc)
        strcpy(reached, argv[0] + 8);
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
    return 0;
}
