/* What the schedulers use of libbpf and of BPF's helpers, as ordinary C. replay.c defines the functions. */
#pragma once

#define SEC(name)
#define __uint(name, number) int(*name)[number]
#define __type(name, type_of_it) __typeof__(type_of_it) *name
#undef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))
#define __noinline __attribute__((noinline))
#define __weak __attribute__((weak))
#define __ksym

#define bpf_for(i, start, end) for ((i) = (start); (i) < (s32)(end); (i)++)
#define bpf_ksym_exists(function) 1

/* Values of a map by their index, and values of a task. They begin as zeros. */
void *replay_value(void *map, u64 index, u64 size);

#define bpf_map_lookup_elem(map, key)                                                             \
    ((__typeof__((map)->value))(*(u32 *)(key) < sizeof(*(map)->max_entries) / sizeof(int)         \
                                    ? replay_value(map, *(u32 *)(key), sizeof(*(map)->value))     \
                                    : NULL))
#define bpf_task_storage_get(map, p, initial, flags) \
    ((__typeof__((map)->value))replay_value(map, (p)->pid, sizeof(*(map)->value)))

u64 bpf_ktime_get_ns(void);
u32 bpf_get_smp_processor_id(void);
struct task_struct *bpf_get_current_task_btf(void);
#define bpf_probe_read_kernel_str(to, size, from) ((void)(to), (void)(size), (void)(from))
