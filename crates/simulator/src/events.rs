//! The event queue, totally ordered by time and then by the order of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Clock cycles since the start of the simulation.
pub type Cycles = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The current activity of the CPU ends.
    Step(usize),
    /// An interprocessor interrupt reaches the CPU.
    Kick(usize),
    /// The timer of the CPU ticks.
    Tick(usize),
    /// An event on another machine, by the workload's number, reaches this one.
    Outside(u32),
}

#[derive(Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(Cycles, u64, Event)>>,
    scheduled: u64,
    /// The first event of the heap has happened. Most events schedule another one, which takes its place in one step.
    is_over: bool,
}

impl Events {
    pub(crate) fn schedule(&mut self, at: Cycles, event: Event) {
        let new = Reverse((at, self.scheduled, event));
        self.scheduled += 1;
        if std::mem::take(&mut self.is_over) {
            *self.heap.peek_mut().expect("the event that is over") = new;
        } else {
            self.heap.push(new);
        }
    }

    /// Takes the earliest event; of those at the same time, the one scheduled first.
    pub(crate) fn next(&mut self) -> Option<(Cycles, Event)> {
        if std::mem::take(&mut self.is_over) {
            self.heap.pop();
        }
        let &Reverse((at, _, event)) = self.heap.peek()?;
        self.is_over = true;
        Some((at, event))
    }
}

#[test]
fn events_at_one_time_keep_the_order_of_scheduling() {
    let mut events = Events::default();
    events.schedule(5, Event::Step(1));
    events.schedule(3, Event::Tick(0));
    events.schedule(5, Event::Kick(0));
    let order: Vec<_> = std::iter::from_fn(|| events.next()).collect();
    assert_eq!(order, [(3, Event::Tick(0)), (5, Event::Step(1)), (5, Event::Kick(0))]);
}

#[test]
fn an_event_that_is_over_does_not_happen_again() {
    let mut events = Events::default();
    events.schedule(1, Event::Step(0));
    events.schedule(4, Event::Step(1));
    assert_eq!(events.next(), Some((1, Event::Step(0))));
    events.schedule(2, Event::Step(2));
    events.schedule(3, Event::Step(3));
    let order: Vec<_> = std::iter::from_fn(|| events.next()).collect();
    assert_eq!(order, [(2, Event::Step(2)), (3, Event::Step(3)), (4, Event::Step(1))]);
    events.schedule(5, Event::Tick(0));
    assert_eq!(events.next(), Some((5, Event::Tick(0))));
}
