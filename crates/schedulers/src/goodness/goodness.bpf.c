/* goodness: the scheduler of Linux 2.2 to 2.4, which the papers measured.
 *
 * One run queue for all CPUs. Each decision walks the whole queue and takes the task with the highest goodness: the rest of
 * its time slice, its priority, 15 for the CPU where it ran last, 1 for the same memory. A kernel built for one CPU had no
 * bonus for the CPU: set same_cpu_bonus=0 for that. When all slices are used up, every task in the system gets half of its
 * rest and a new slice. Woken tasks are inserted at the head, those that yield at the tail. The policy is in policies/goodness.h;
 * version=23 is Linux 2.3 with the yield bug that IBM reported, 24 is 2.4.
 *
 * Differences from the original:
 * - The running task is not in the queue. So lengths do not count it, and a preempted task returns to the head instead of
 *   its old place. Only ties show that.
 * - The original recalculated all counters at once. Here each task catches up when it is examined next: the counters are the
 *   same, but the cost is spread.
 * - The kernel checks counters 250 times a second.
 * - The queue's lock is held for each step of the walk, not for all of it, so CPUs wait for each other less.
 * - Real-time tasks were in this queue. Here the kernel schedules them.
 * - In 2.4 a wake-up kicks any idle CPU, not the one that has been idle longest. */
#include "../goodness/tasks.bpf.h"

#define SCHEDULER_NAME "klatch_goodness"
#define TAKE_FIRST 0
#define QUEUE 0
#define queue_of(task) QUEUE
#define nr_waiting() scx_bpf_dsq_nr_queued(QUEUE)
#define has_exhausted_waiter(cpu) false
#define refill_queue()
#define drain_queues(cpu) drain_queue(cpu, QUEUE, false)
#define create_queues() scx_bpf_create_dsq(QUEUE, -1)

#include "../goodness/single_queue.bpf.h"
