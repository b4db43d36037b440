/* The kernel types and functions that the schedulers use, reduced to the fields that they read. The loader relocates each
 * access to the running kernel's layout (CO-RE), so no kernel header is needed. */
#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u64 u64;
typedef __s64 s64;
typedef __u32 u32;
typedef __s32 s32;
typedef short s16;
typedef __u8 u8;
#define bool _Bool
#define true 1
#define false 0
#define NULL ((void *)0)

/* Constants of the stable interface in linux/bpf.h. */
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_MAP_TYPE_TASK_STORAGE 29
#define BPF_F_NO_PREALLOC 1
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* sched_ext functions are for programs with a GPL-compatible licence only. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct cpumask {
    unsigned long bits[1];
};

/* The loader compares argument types, and a forward declaration matches none. This constant puts the full type into BTF. */
const struct cpumask cpumask_described SEC(".rodata.types") __attribute__((used));

struct mm_struct;

struct sched_ext_entity {
    u32 flags;
    u64 slice;
} KERNEL_TYPE;

struct task_struct {
    int pid;
    int static_prio;
    unsigned short migration_disabled;
    const struct cpumask *cpus_ptr;
    struct mm_struct *mm, *active_mm;
    struct sched_ext_entity scx;
} KERNEL_TYPE;

struct scx_init_task_args {
    bool fork;
} KERNEL_TYPE;

enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
    enum scx_exit_kind kind;
    s64 exit_code;
    const char *reason;
    char *msg;
} KERNEL_TYPE;

/* The loader matches members by name. Members that are not listed here stay zero. */
struct sched_ext_ops {
    s32 (*select_cpu)(struct task_struct *, s32, u64);
    void (*enqueue)(struct task_struct *, u64);
    void (*dispatch)(s32, struct task_struct *);
    void (*running)(struct task_struct *);
    void (*tick)(struct task_struct *);
    void (*stopping)(struct task_struct *, bool);
    void (*quiescent)(struct task_struct *, u64);
    bool (*yield)(struct task_struct *, struct task_struct *);
    s32 (*init_task)(struct task_struct *, struct scx_init_task_args *);
    void (*cpu_online)(s32);
    void (*cpu_offline)(s32);
    s32 (*init)(void);
    void (*exit)(struct scx_exit_info *);
    u64 flags;
    u32 timeout_ms;
    char name[128];
};

/* Values differ between kernels; KERNEL_VALUE reads that of the running kernel. */
enum scx_enq_flags { SCX_ENQ_WAKEUP = 1, SCX_ENQ_HEAD = 16 };
enum scx_kick_flags { SCX_KICK_IDLE = 1, SCX_KICK_PREEMPT = 2 };
enum scx_wake_flags { SCX_WAKE_SYNC = 16 };
enum scx_dsq_iter_flags { SCX_DSQ_ITER_REV = 65536 };
enum scx_ent_flags { SCX_TASK_QUEUED = 1 };
#define KERNEL_VALUE(type, value) bpf_core_enum_value(enum type, value)

#define SCX_DSQ_LOCAL 0x8000000000000002ULL
/* Or-ed with a CPU number: the local queue of that CPU. */
#define SCX_DSQ_LOCAL_ON 0xC000000000000000ULL

struct bpf_iter_scx_dsq {
    u64 opaque[6];
} __attribute__((aligned(8)));

struct bpf_iter_num {
    u64 opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask) __ksym;
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym;
extern void bpf_task_release(struct task_struct *p) __ksym;
extern s32 scx_bpf_create_dsq(u64 dsq, s32 node) __ksym;
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq, u64 slice, u64 flags) __ksym;
extern bool scx_bpf_dsq_move_to_local(u64 dsq) __ksym;
extern s32 scx_bpf_dsq_nr_queued(u64 dsq) __ksym;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq, u64 flags) __ksym;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
extern void scx_bpf_dsq_move_set_slice(struct bpf_iter_scx_dsq *it, u64 slice) __ksym;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq, u64 flags) __ksym;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
extern const struct cpumask *scx_bpf_get_online_cpumask(void) __ksym;
extern void scx_bpf_put_cpumask(const struct cpumask *cpumask) __ksym;
extern bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
extern s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
extern u32 scx_bpf_nr_cpu_ids(void) __ksym;
extern bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;
