/* Runs a BPF scheduler as ordinary C, on a kernel that exists here only: the part of sched_ext that the schedulers use.
 *
 * SCHEDULER_SOURCE is the scheduler's file. Arguments: `knob=value` each, the number of CPUs, `--`, and the nice value of each task,
 * from task 0. Each line of the input is an event; time passes in ticks only. The answer to each is one line: the number of decisions that
 * it caused, the CPU and the next task of each, and for each CPU the task that it runs. No task is -1.
 *
 * - `wake N`: task N, which sleeps, wakes
 * - `tick`: the timer of every busy CPU, in the order of their tasks' numbers; then those decide whose slice is over, then those that
 *   a timer has kicked
 * - `yield N`: task N, which runs, calls sched_yield
 * - `sleep N`: task N, which runs, goes to sleep
 *
 * Where the kernel may choose any idle CPU, it is the one that has been idle longest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Knobs are constants of the loaded program, and set here. */
#define const
#include SCHEDULER_SOURCE

#define TASKS_MAX 64
#define REPLAY_CPUS_MAX 8
#define QUEUES_MAX 1024
#define DECISIONS_MAX 1024
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

/* A CPU of this kernel. */
struct processor {
    struct task_struct *current;
    struct queue local;
    u64 kicked, idle_since_ns;
    bool is_idle; /* as the scheduler sees it: not yet kicked */
};

static struct task_struct all[TASKS_MAX];
static s32 cpu_of_task[TASKS_MAX];
static struct queue queues[QUEUES_MAX];
static struct processor processors[REPLAY_CPUS_MAX];
static struct cpumask mask;
static u64 now_ns = 1000 * TICK_NS;
static s32 processors_used, this_cpu;
static struct { s32 cpu, task; } decisions[DECISIONS_MAX]; /* of the current event */
static int decisions_made;
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
    return this_cpu;
}

struct task_struct *bpf_get_current_task_btf(void)
{
    return processors[this_cpu].current;
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

    if (id == SCX_DSQ_LOCAL)
        return &processors[this_cpu].local;
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

static bool is_in(const struct queue *queue, const struct task_struct *p)
{
    int i;

    for (i = 0; i < queue->length; i++)
        if (queue->tasks[i] == p)
            return true;
    return false;
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
    insert(&processors[this_cpu].local, first, 0);
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

/* Passes over tasks that have left the queue since the walk began. */
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it)
{
    struct walk *walk = walk_of(it);
    int length = walk->tasks.length;

    while (walk->next < length) {
        int at = walk->next++;
        struct task_struct *p = walk->tasks.tasks[walk->from_tail ? length - 1 - at : at];

        if (is_in(walk->queue, p))
            return p;
    }
    return NULL;
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
    processors[cpu].kicked |= flags;
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
    bool was_idle = processors[cpu].is_idle;

    processors[cpu].is_idle = false;
    return was_idle;
}

s32 scx_bpf_pick_idle_cpu(struct cpumask *allowed, u64 flags)
{
    s32 i, longest = -1;

    for (i = 0; i < processors_used; i++)
        if (processors[i].is_idle && bpf_cpumask_test_cpu(i, allowed)
            && (longest < 0 || processors[i].idle_since_ns < processors[longest].idle_since_ns))
            longest = i;
    if (longest >= 0)
        processors[longest].is_idle = false;
    return longest;
}

s32 scx_bpf_task_cpu(struct task_struct *p)
{
    return cpu_of_task[p->pid - 1];
}

u32 scx_bpf_nr_cpu_ids(void)
{
    return processors_used;
}

bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice)
{
    p->scx.slice = slice;
    return true;
}

static s32 number_of(struct task_struct *p)
{
    return p ? p->pid - 1 : -1;
}

/* Makes a CPU decide, unless its task has time left. */
static void decide(s32 cpu, struct task_struct *previous)
{
    struct processor *here = &processors[cpu];
    bool runnable = previous && is_runnable(previous), was_idle = !here->current;

    this_cpu = cpu;
    if (runnable && previous->scx.slice)
        return;
    if (decisions_made == DECISIONS_MAX)
        fail("an event without end");
    scheduler.dispatch(cpu, previous);
    if (here->local.length) {
        struct task_struct *next = here->local.tasks[0];

        take(&here->local, next);
        if (runnable) {
            if (scheduler.stopping)
                scheduler.stopping(previous, true);
            scheduler.enqueue(previous, 0);
        }
        here->current = next;
        cpu_of_task[next->pid - 1] = cpu;
        if (scheduler.running)
            scheduler.running(next);
    } else if (!runnable) {
        here->current = NULL;
    } else if (!previous->scx.slice) {
        previous->scx.slice = DEFAULT_SLICE_NS;
    }
    decisions[decisions_made].cpu = cpu;
    decisions[decisions_made++].task = number_of(here->current);
    here->is_idle = !here->current;
    if (here->is_idle && !was_idle)
        here->idle_since_ns = now_ns;
}

/* Lets CPUs decide until none is kicked. An idle CPU decides when it is kicked, a busy one if its task is to be preempted. */
static void follow_kicks(void)
{
    s32 i;

    for (i = 0; i < processors_used; i++) {
        struct processor *cpu = &processors[i];
        bool decides = cpu->kicked && (!cpu->current || cpu->kicked & SCX_KICK_PREEMPT);

        cpu->kicked = 0;
        if (!decides)
            continue;
        if (cpu->current)
            cpu->current->scx.slice = 0;
        decide(i, cpu->current);
        i = -1;
    }
}

/* The CPU that runs a task. */
static s32 running_on(struct task_struct *p)
{
    s32 i;

    for (i = 0; i < processors_used; i++)
        if (processors[i].current == p)
            return i;
    fail("a task that does not run");
    return -1;
}

/* A task enters the queues of the CPU that the scheduler selects; if that is idle, it decides. */
static void wake(struct task_struct *p)
{
    s32 *cpu = &cpu_of_task[p->pid - 1];

    this_cpu = 0;
    p->scx.flags |= SCX_TASK_QUEUED;
    *cpu = scheduler.select_cpu(p, *cpu, 0);
    scheduler.enqueue(p, SCX_ENQ_WAKEUP);
    if (!processors[*cpu].current)
        scx_bpf_kick_cpu(*cpu, SCX_KICK_IDLE);
}

static void tick(void)
{
    struct task_struct *runs[REPLAY_CPUS_MAX];
    s32 cpus[REPLAY_CPUS_MAX], used = 0, i;
    u64 kicked[REPLAY_CPUS_MAX];

    now_ns += TICK_NS;
    for (i = 0; i < TASKS_MAX; i++) {
        s32 cpu = cpu_of_task[i];

        if (processors[cpu].current == &all[i]) {
            runs[used] = &all[i];
            cpus[used++] = cpu;
        }
    }
    for (i = 0; i < used; i++) {
        struct task_struct *p = runs[i];

        p->scx.slice -= p->scx.slice < TICK_NS ? p->scx.slice : TICK_NS;
        this_cpu = cpus[i];
        if (scheduler.tick)
            scheduler.tick(p);
    }
    for (i = 0; i < processors_used; i++) {
        kicked[i] = processors[i].kicked;
        processors[i].kicked = 0;
    }
    for (i = 0; i < used; i++) {
        /* Another CPU's decision may have replaced it. */
        if (processors[cpus[i]].current != runs[i])
            continue;
        decide(cpus[i], runs[i]);
        follow_kicks();
    }
    for (i = 0; i < processors_used; i++)
        processors[i].kicked |= kicked[i];
}

static void yield(struct task_struct *p)
{
    s32 cpu = running_on(p);

    this_cpu = cpu;
    scheduler.yield(p, NULL);
    decide(cpu, p);
}

static void go_to_sleep(struct task_struct *p)
{
    s32 cpu = running_on(p);

    this_cpu = cpu;
    if (scheduler.stopping)
        scheduler.stopping(p, false);
    if (scheduler.quiescent)
        scheduler.quiescent(p, 0);
    p->scx.flags &= ~SCX_TASK_QUEUED;
    decide(cpu, p);
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

static void answer(void)
{
    s32 i;

    printf("%d", decisions_made);
    for (i = 0; i < decisions_made; i++)
        printf(" %d %d", decisions[i].cpu, decisions[i].task);
    for (i = 0; i < processors_used; i++)
        printf(" %d", number_of(processors[i].current));
    printf("\n");
    fflush(stdout);
    decisions_made = 0;
}

int main(int count, char **words)
{
    char line[64];
    int number;

    for (words++; *words && strchr(*words, '='); words++, count--)
        set_knob(*words);
    processors_used = *words ? atoi(*words++) : 0;
    if (processors_used < 1 || processors_used > REPLAY_CPUS_MAX || !*words || strcmp(*words, "--"))
        fail("no number of CPUs, or no tasks");
    mask.bits[0] = (1UL << processors_used) - 1;
    for (number = 0; number < processors_used; number++)
        processors[number].is_idle = true;
    if (scheduler.init())
        fail("the scheduler did not start");
    create_tasks(count - 3, words + 1);
    while (fgets(line, sizeof(line), stdin)) {
        if (sscanf(line, "wake %d", &number) == 1)
            wake(&all[number]);
        else if (!strcmp(line, "tick\n"))
            tick();
        else if (sscanf(line, "yield %d", &number) == 1)
            yield(&all[number]);
        else if (sscanf(line, "sleep %d", &number) == 1)
            go_to_sleep(&all[number]);
        else
            fail("an event that is none");
        follow_kicks();
        answer();
    }
    return 0;
}
