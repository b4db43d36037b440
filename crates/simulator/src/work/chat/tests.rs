use super::*;
use crate::costs::Costs;
use crate::prices::Conditions;

fn chat(rooms: usize, count: u64) -> Chat {
    chat_of(ChatSpec { rooms, count, ..ChatSpec::VOLANOMARK })
}

fn chat_of(spec: ChatSpec) -> Chat {
    let conditions = Conditions { several_cpus: true, o1: false, heap_mb: 64 };
    Chat::new(spec, Prices::new(&Costs::pentium_iii(), conditions))
}

/// Runs the chat without a machine: every runnable thread performs one operation in turn.
fn run_to_end(chat: &mut Chat) {
    let mut runnable: std::collections::VecDeque<TaskId> = chat.starters().into();
    while let Some(task) = runnable.pop_front() {
        chat.next(task);
        let effect = chat.complete(task, 0);
        if let Effect::Wake(woken) = effect {
            runnable.push_back(woken);
        }
        if effect != Effect::Sleep {
            runnable.push_back(task);
        }
    }
}

#[test]
fn without_monitors_no_thread_waits_for_another_and_all_is_delivered() {
    let mut chat = chat_of(ChatSpec { rooms: 1, count: 2, monitors: false, ..ChatSpec::VOLANOMARK });
    let reader = task_of(0, 5, Kind::ServerReceiver);
    // Two receivers handle a message in one room: the second would contend for its monitor.
    chat.enter(reader, State::Handle);
    let other = task_of(0, 6, Kind::ServerReceiver);
    chat.enter(other, State::Handle);
    assert_eq!(chat.threads[other].contends, None);
    let mut chat = chat_of(ChatSpec { rooms: 1, count: 2, monitors: false, ..ChatSpec::VOLANOMARK });
    run_to_end(&mut chat);
    assert_eq!(chat.progress(), (20 * 20 * 2, 20 * 20 * 2));
}

#[test]
fn every_user_receives_every_message_of_the_others() {
    let mut chat = chat(2, 5);
    run_to_end(&mut chat);
    assert_eq!(chat.progress(), (2 * 20 * 20 * 5, 2 * 20 * 20 * 5));
    let receivers = (0..chat.threads.len()).filter(|&task| kind_of(task) == Kind::ClientReceiver);
    for task in receivers {
        assert_eq!((chat.threads[task].received, chat.threads[task].sent), (19 * 5, 5));
    }
}

#[test]
fn an_interrupted_thread_looks_again_for_what_it_waited_for() {
    let mut chat = chat(1, 1);
    let receiver = task_of(0, 3, Kind::ClientReceiver) as TaskId;
    assert!(chat.interrupt(receiver) && !chat.interrupt(receiver));
    chat.next(receiver);
    assert_eq!(chat.complete(receiver, 0), Effect::Sleep);
}
