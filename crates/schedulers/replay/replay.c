/* Runs a BPF scheduler as ordinary C, on one CPU of a kernel that exists here only: the part of sched_ext that the schedulers use.
 *
 * SCHEDULER_SOURCE is the scheduler's file. Arguments: `knob=value` each, then `--`, then the nice value of each task, from task 0.
 * Each line of the input is an event; time passes in ticks only. The answer to each is one line: the number of decisions so far, and
 * the task that the CPU runs, or -1.
 *
 * - `wake N`: task N, which sleeps, wakes
 * - `tick`: the timer
 * - `yield`: the CPU's task calls sched_yield
 * - `sleep`: the CPU's task goes to sleep */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Knobs are constants of the loaded program, and set here. */
#define const
#include SCHEDULER_SOURCE

#define TASKS_MAX 64
#define QUEUES_MAX 128
#define DEFAULT_SLICE_NS (20 * MS) /* of the kernel, for a task that runs on although its slice is used up */

struct queue {
    u64 id;
    int length;
    struct task_struct *tasks[TASKS_MAX];
};

struct walk {
    struct queue *queue;
    struct queue tasks; /* as they were when the walk began */
    int next;
    bool from_tail, sets_slice;
    u64 slice;
};

static struct task_struct all[TASKS_MAX];
static struct queue queues[QUEUES_MAX], local;
static struct task_struct *current;
static struct cpumask mask = { { 1 } };
static u64 now_ns = 1000 * TICK_NS, kicked, decisions;
static bool is_idle = true;
static int queues_used;

static void fail(char *what)
{
    fprintf(stderr, "replay: %s\n", what);
    exit(2);
}

void *replay_value(void *map, u64 index, u64 size)
{
    static struct { void *map; u64 index; void *value; } values[65536];
    int at = 0;

    while (values[at].map && (values[at].map != map || values[at].index != index))
        if (++at == 65536)
            fail("too many values in maps");
    if (!values[at].map) {
        values[at].map = map;
        values[at].index = index;
        values[at].value = calloc(1, size);
    }
    return values[at].value;
}

u64 bpf_ktime_get_ns(void)
{
    return now_ns;
}

u32 bpf_get_smp_processor_id(void)
{
    return 0;
}

struct task_struct *bpf_get_current_task_btf(void)
{
    return current;
}

bool bpf_cpumask_test_cpu(u32 cpu, struct cpumask *of)
{
    return of->bits[0] >> cpu & 1;
}

struct task_struct *bpf_task_from_pid(s32 pid)
{
    return pid > 0 && pid <= TASKS_MAX ? &all[pid - 1] : NULL;
}

void bpf_task_release(struct task_struct *p)
{
}

static struct queue *queue_with(u64 id)
{
    int i;

    if (id == SCX_DSQ_LOCAL || id == SCX_DSQ_LOCAL_ON)
        return &local;
    for (i = 0; i < queues_used; i++)
        if (queues[i].id == id)
            return &queues[i];
    fail("a queue that was not created");
    return NULL;
}

static void insert(struct queue *queue, struct task_struct *p, u64 flags)
{
    int at = flags & SCX_ENQ_HEAD ? 0 : queue->length;

    memmove(&queue->tasks[at + 1], &queue->tasks[at], (queue->length - at) * sizeof(p));
    queue->tasks[at] = p;
    queue->length++;
}

static bool take(struct queue *queue, struct task_struct *p)
{
    int i;

    for (i = 0; i < queue->length; i++) {
        if (queue->tasks[i] == p) {
            queue->length--;
            memmove(&queue->tasks[i], &queue->tasks[i + 1], (queue->length - i) * sizeof(p));
            return true;
        }
    }
    return false;
}

s32 scx_bpf_create_dsq(u64 id, s32 node)
{
    if (queues_used == QUEUES_MAX)
        fail("too many queues");
    queues[queues_used++].id = id;
    return 0;
}

void scx_bpf_dsq_insert(struct task_struct *p, u64 id, u64 slice, u64 flags)
{
    p->scx.slice = slice;
    insert(queue_with(id), p, flags);
}

bool scx_bpf_dsq_move_to_local(u64 id)
{
    struct queue *queue = queue_with(id);
    struct task_struct *first = queue->tasks[0];

    if (!queue->length)
        return false;
    take(queue, first);
    insert(&local, first, 0);
    return true;
}

s32 scx_bpf_dsq_nr_queued(u64 id)
{
    return queue_with(id)->length;
}

static struct walk *walk_of(struct bpf_iter_scx_dsq *it)
{
    return (struct walk *)it->opaque[0];
}

int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 id, u64 flags)
{
    struct walk *walk = calloc(1, sizeof(*walk));

    walk->queue = queue_with(id);
    walk->tasks = *walk->queue;
    walk->from_tail = flags & SCX_DSQ_ITER_REV;
    it->opaque[0] = (u64)walk;
    return 0;
}

struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it)
{
    struct walk *walk = walk_of(it);
    int length = walk->tasks.length, at = walk->next++;

    return at < length ? walk->tasks.tasks[walk->from_tail ? length - 1 - at : at] : NULL;
}

void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it)
{
    free(walk_of(it));
}

void scx_bpf_dsq_move_set_slice(struct bpf_iter_scx_dsq *it, u64 slice)
{
    walk_of(it)->sets_slice = true;
    walk_of(it)->slice = slice;
}

bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id, u64 flags)
{
    struct walk *walk = walk_of(it);

    if (!take(walk->queue, p))
        return false;
    if (walk->sets_slice)
        p->scx.slice = walk->slice;
    walk->sets_slice = false;
    insert(queue_with(id), p, flags);
    return true;
}

void scx_bpf_kick_cpu(s32 cpu, u64 flags)
{
    kicked |= flags;
}

struct cpumask *scx_bpf_get_online_cpumask(void)
{
    return &mask;
}

void scx_bpf_put_cpumask(struct cpumask *cpumask)
{
}

bool scx_bpf_test_and_clear_cpu_idle(s32 cpu)
{
    bool was_idle = is_idle;

    is_idle = false;
    return was_idle;
}

s32 scx_bpf_pick_idle_cpu(struct cpumask *allowed, u64 flags)
{
    return scx_bpf_test_and_clear_cpu_idle(0) ? 0 : -1;
}

s32 scx_bpf_task_cpu(struct task_struct *p)
{
    return 0;
}

u32 scx_bpf_nr_cpu_ids(void)
{
    return 1;
}

bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice)
{
    p->scx.slice = slice;
    return true;
}

/* Makes the CPU decide, unless its task has time left. */
static void decide(struct task_struct *previous)
{
    bool runnable = previous && is_runnable(previous);

    if (runnable && previous->scx.slice)
        return;
    decisions++;
    scheduler.dispatch(0, previous);
    if (local.length) {
        struct task_struct *next = local.tasks[0];

        take(&local, next);
        if (runnable) {
            if (scheduler.stopping)
                scheduler.stopping(previous, true);
            scheduler.enqueue(previous, 0);
        }
        current = next;
        if (scheduler.running)
            scheduler.running(next);
    } else if (!runnable) {
        current = NULL;
    } else if (!previous->scx.slice) {
        previous->scx.slice = DEFAULT_SLICE_NS;
    }
    is_idle = !current;
}

/* An idle CPU decides when it gets a task, a busy one if the scheduler kicks it. */
static void follow_kicks(void)
{
    bool decides = !current || kicked & SCX_KICK_PREEMPT;

    if (decides && current)
        current->scx.slice = 0;
    kicked = 0;
    if (decides)
        decide(current);
}

static void wake(int number)
{
    struct task_struct *p = &all[number];

    p->scx.flags |= SCX_TASK_QUEUED;
    scheduler.select_cpu(p, 0, 0);
    scheduler.enqueue(p, SCX_ENQ_WAKEUP);
    follow_kicks();
}

static void tick(void)
{
    now_ns += TICK_NS;
    if (!current)
        return;
    current->scx.slice -= current->scx.slice < TICK_NS ? current->scx.slice : TICK_NS;
    decide(current);
}

static void yield(void)
{
    scheduler.yield(current, NULL);
    decide(current);
}

static void go_to_sleep(void)
{
    struct task_struct *p = current;

    if (scheduler.stopping)
        scheduler.stopping(p, false);
    if (scheduler.quiescent)
        scheduler.quiescent(p, 0);
    p->scx.flags &= ~SCX_TASK_QUEUED;
    decide(p);
}

static void set_knob(char *text)
{
    char *value = strchr(text, '=');
    unsigned long i;

    if (!value)
        fail("a knob is name=value");
    *value = 0;
    for (i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
        if (!strcmp((char *)knobs[i].name, text)) {
            knobs[i].value = strtoull(value + 1, NULL, 10);
            return;
        }
    }
    fail("a knob that the scheduler lacks");
}

static void create_tasks(int count, char **nice)
{
    struct scx_init_task_args alone = { false };
    int i;

    if (count > TASKS_MAX)
        fail("too many tasks");
    for (i = 0; i < count; i++) {
        all[i].pid = i + 1;
        all[i].static_prio = 120 + atoi(nice[i]);
        all[i].cpus_ptr = &mask;
        all[i].mm = all[i].active_mm = (struct mm_struct *)&mask;
        if (scheduler.init_task && scheduler.init_task(&all[i], &alone))
            fail("a task was refused");
    }
}

int main(int count, char **words)
{
    char line[64];
    int number;

    for (words++; *words && strcmp(*words, "--"); words++, count--)
        set_knob(*words);
    if (!*words || scheduler.init())
        fail("no tasks, or the scheduler did not start");
    create_tasks(count - 2, words + 1);
    while (fgets(line, sizeof(line), stdin)) {
        if (sscanf(line, "wake %d", &number) == 1)
            wake(number);
        else if (!strcmp(line, "tick\n"))
            tick();
        else if (!strcmp(line, "yield\n"))
            yield();
        else if (!strcmp(line, "sleep\n"))
            go_to_sleep();
        else
            fail("an event that is none");
        printf("%llu %d\n", decisions, current ? current->pid - 1 : -1);
        fflush(stdout);
    }
    return 0;
}
