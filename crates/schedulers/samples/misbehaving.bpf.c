/* A scheduler for tests: one queue in order of arrival, until it does what `manner` says. */
#include "scx.bpf.h"

#define QUEUE 0
#define SLICE_NS 20000000
/* Tasks that are queued well before one is lost or the scheduler gives up. */
#define WELL 100

enum { LOSES_A_TASK = 1, GIVES_UP };

const volatile u32 manner = 0;
/* Waiting tasks that each decision looks at. */
const volatile u32 looks_at = 0;

/* The process that loads the scheduler: the tasks of a run are younger. */
u32 loader = 0;
u64 queued = 0;
u64 seen = 0;
char gives_up[] = "the sample gives up";

/* Why the kernel has unloaded it. */
struct ending {
    char reason[64];
    char message[256];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct ending);
} endings SEC(".maps");

extern void scx_bpf_error_bstr(char *format, unsigned long long *data, u32 data_bytes) __ksym;

SEC("struct_ops/select_cpu")
s32 BPF_PROG(select_cpu, struct task_struct *p, s32 last, u64 flags)
{
    return last;
}

SEC("struct_ops/enqueue")
void BPF_PROG(enqueue, struct task_struct *p, u64 flags)
{
    if (manner && p->mm && p->pid > loader && ++queued == WELL) {
        if (manner == LOSES_A_TASK)
            return;
        /* The kernel wants one value at least, and text that can be written. */
        u64 none[1] = {};
        scx_bpf_error_bstr(gives_up, none, sizeof(none));
    }
    scx_bpf_dsq_insert(p, QUEUE, SLICE_NS, flags);
}

SEC("struct_ops/dispatch")
void BPF_PROG(dispatch, s32 cpu, struct task_struct *prev)
{
    struct bpf_iter_scx_dsq waiting;
    u32 looked = 0;

    bpf_iter_scx_dsq_new(&waiting, QUEUE, 0);
    while (looked < looks_at && bpf_iter_scx_dsq_next(&waiting))
        looked++;
    bpf_iter_scx_dsq_destroy(&waiting);
    seen += looked;
    scx_bpf_dsq_move_to_local(QUEUE);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(init)
{
    loader = bpf_get_current_pid_tgid() >> 32;
    return scx_bpf_create_dsq(QUEUE, -1);
}

SEC("struct_ops/exit")
void BPF_PROG(ended, struct scx_exit_info *info)
{
    u32 zero = 0;
    struct ending *ending = bpf_map_lookup_elem(&endings, &zero);

    if (!ending)
        return;
    bpf_probe_read_kernel_str(ending->message, sizeof(ending->message), info->msg);
    bpf_probe_read_kernel_str(ending->reason, sizeof(ending->reason), info->reason);
}

SEC(".struct_ops.link")
struct sched_ext_ops sample = {
    .select_cpu = (void *)select_cpu,
    .enqueue = (void *)enqueue,
    .dispatch = (void *)dispatch,
    .init = (void *)init,
    .exit = (void *)ended,
    .timeout_ms = 1000,
    .name = "sample",
};
