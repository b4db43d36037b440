/* Shared by all BPF programs: the kernel types they read, the two sides of a run, windows, histograms.
 *
 * Each type declares only the fields that are read. The loader adjusts each access to the field's offset in the running
 * kernel (CO-RE), so the build needs no kernel header.
 */
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
typedef __u32 u32;
#define bool _Bool

/* From the kernel's stable interface, linux/bpf.h. */
#define BPF_MAP_TYPE_HASH 1
#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_PERCPU_HASH 5
#define BPF_MAP_TYPE_PERCPU_ARRAY 6
#define BPF_NOEXIST 1
#define BPF_F_USER_STACK (1ULL << 8)
#define BPF_F_MMAPABLE (1U << 10)

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct rq {
    unsigned int nr_running;
} KERNEL_TYPE;

struct cfs_rq {
    struct rq *rq;
} KERNEL_TYPE;

struct sched_entity {
    struct cfs_rq *cfs_rq;
} KERNEL_TYPE;

struct task_struct {
    unsigned int __state;
    int pid;
    int tgid;
    int prio;
    struct sched_entity se;
} KERNEL_TYPE;

/* Tables of threads and processes are arrays indexed by the low bits of the id. Two ids can share a slot, so each entry
 * also stores its id. */
#define PID_SLOTS 65536

static __always_inline u32 pid_slot(u32 pid)
{
    return pid & (PID_SLOTS - 1);
}

enum { OTHERS, SERVER, CROWD, SIDES };

/* Indexed by pid_slot(tgid): the tgid in the upper 32 bits, its side in the lower. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, PID_SLOTS);
    __type(key, u32);
    __type(value, u64);
} sides SEC(".maps");

static __always_inline u32 side_of(u32 tgid)
{
    u32 slot = pid_slot(tgid);
    u64 *entry = bpf_map_lookup_elem(&sides, &slot);

    return entry && *entry >> 32 == tgid ? (u32)*entry : OTHERS;
}

/* The number of the open window, 0 if none is open. Programs are attached a little earlier and detached a little later, so
 * they check it. State from an earlier window is stale. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} window SEC(".maps");

static __always_inline u64 this_window(void)
{
    u32 zero = 0;
    u64 *number = bpf_map_lookup_elem(&window, &zero);

    return number ? *number : 0;
}

/* Before Linux 5.14. */
struct task_struct___before_5_14 {
    long state;
} KERNEL_TYPE;

/* The state of a task, 0 if it is runnable. */
static __always_inline u32 state_of(struct task_struct *task)
{
    if (bpf_core_field_exists(task->__state))
        return task->__state;
    return ((struct task_struct___before_5_14 *)task)->state;
}

/* Runnable tasks on the CPU where `task` runs or has just run, itself included. */
static __always_inline u32 queue_length(struct task_struct *task)
{
    return task->se.cfs_rq->rq->nr_running;
}

/* Since Linux 5.11. */
enum bpf_func_id___since_5_11 {
    BPF_FUNC_get_current_task_btf___since_5_11 = 158,
};

/* Runnable tasks on this CPU. */
static __always_inline u32 queue_length_here(void)
{
    if (bpf_core_enum_value_exists(enum bpf_func_id___since_5_11, BPF_FUNC_get_current_task_btf___since_5_11))
        return queue_length(bpf_get_current_task_btf());
    return BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), se.cfs_rq, rq, nr_running);
}

/* A histogram with four buckets per octave; count and sum give the mean. */
#define BUCKETS 128

struct histogram {
    u64 buckets[BUCKETS];
    u64 count;
    u64 sum;
};

static __always_inline u32 log2_of(u64 value)
{
    u32 log = 0;

    if (value >> 32) { value >>= 32; log += 32; }
    if (value >> 16) { value >>= 16; log += 16; }
    if (value >> 8) { value >>= 8; log += 8; }
    if (value >> 4) { value >>= 4; log += 4; }
    if (value >> 2) { value >>= 2; log += 2; }
    return log + (value >> 1);
}

static __always_inline u32 bucket_of(u64 value)
{
    u32 log, bucket;

    if (value < 4)
        return value;
    log = log2_of(value);
    bucket = (log - 1) * 4 + ((value >> (log - 2)) & 3);
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static __always_inline void histogram_add(struct histogram *histogram, u64 value)
{
    histogram->buckets[bucket_of(value) & (BUCKETS - 1)]++;
    histogram->count++;
    histogram->sum += value;
}
