/* head: the paper's question, what if the walk cost nothing? It takes the head of the queue.
 *
 * That is the goodness scheduler with the same slices, epochs, yields and preemption, but it takes the first task in the queue
 * that has something left of its slice, whatever the others are worth.
 *
 * The paper took "the head of the queue" and tells no more. One whose slice is used up is passed over here: otherwise two
 * tasks that wake each other would starve the others for ever. So where many slices are used up, a decision still looks at
 * many tasks. The rest is as in ../goodness, with the same list of what is not as it was. */
#define NAMED "klatch_head"
#define TAKE_FIRST 1
#include "../goodness/goodness.bpf.c"
