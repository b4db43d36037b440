//! Lists of tasks, linked through one array of indices as a kernel links them through the tasks themselves.

/// The index of a task. [`List::END`] stands for no task.
pub type TaskId = u32;

/// The links of all tasks. A task is in at most one list.
#[derive(Clone, Debug)]
pub struct Links {
    next: Vec<TaskId>,
    previous: Vec<TaskId>,
}

/// Head, tail and length of one list.
#[derive(Clone, Copy, Debug)]
pub struct List {
    head: TaskId,
    tail: TaskId,
    len: u32,
}

/// The tasks that a walk reads without considering them: those with a flag in `mask`.
#[derive(Clone, Copy, Debug)]
pub struct Skip<'a> {
    /// The flags of each task.
    pub flags: &'a [u8],
    /// The flags that exclude a task.
    pub mask: u8,
}

impl Links {
    /// Links for `tasks` tasks, none of which is in a list.
    pub fn new(tasks: usize) -> Self {
        Self { next: vec![List::END; tasks], previous: vec![List::END; tasks] }
    }

    /// The successor of each task. All of them, and the heads of lists over these links, are indices into it or [`List::END`].
    pub(crate) fn next(&self) -> &[TaskId] {
        &self.next
    }
}

impl List {
    /// Stands for no task.
    pub const END: TaskId = TaskId::MAX;

    /// A list without tasks.
    pub const EMPTY: Self = Self { head: Self::END, tail: Self::END, len: 0 };

    /// The first task, or [`List::END`].
    pub fn head(&self) -> TaskId {
        self.head
    }

    /// The number of tasks in the list.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether the list has no task.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Inserts a task at the head.
    pub fn push_front(&mut self, links: &mut Links, task: TaskId) {
        links.next[task as usize] = self.head;
        links.previous[task as usize] = Self::END;
        match self.head {
            Self::END => self.tail = task,
            head => links.previous[head as usize] = task,
        }
        self.head = task;
        self.len += 1;
    }

    /// Inserts a task at the tail.
    pub fn push_back(&mut self, links: &mut Links, task: TaskId) {
        links.previous[task as usize] = self.tail;
        links.next[task as usize] = Self::END;
        match self.tail {
            Self::END => self.head = task,
            tail => links.next[tail as usize] = task,
        }
        self.tail = task;
        self.len += 1;
    }

    /// Removes a task, which must be in this list.
    pub fn remove(&mut self, links: &mut Links, task: TaskId) {
        let (previous, next) = (links.previous[task as usize], links.next[task as usize]);
        match previous {
            Self::END => self.head = next,
            previous => links.next[previous as usize] = next,
        }
        match next {
            Self::END => self.tail = previous,
            next => links.previous[next as usize] = previous,
        }
        self.len -= 1;
    }

    /// The tasks from tail to head.
    pub fn iter_from_tail<'a>(&self, links: &'a Links) -> impl Iterator<Item = TaskId> + use<'a> {
        let mut at = self.tail;
        std::iter::from_fn(move || {
            let task = (at != Self::END).then_some(at)?;
            at = links.previous[task as usize];
            Some(task)
        })
    }

    /// The tasks from head to tail.
    pub fn iter<'a>(&self, links: &'a Links) -> impl Iterator<Item = TaskId> + use<'a> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let task = (at != Self::END).then_some(at)?;
            at = links.next[task as usize];
            Some(task)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_keep_their_order_through_inserts_and_removals() {
        let (mut links, mut list) = (Links::new(4), List::EMPTY);
        list.push_back(&mut links, 0);
        list.push_back(&mut links, 1);
        list.push_front(&mut links, 2);
        list.push_back(&mut links, 3);
        assert_eq!(list.iter(&links).collect::<Vec<_>>(), [2, 0, 1, 3]);
        assert_eq!(list.iter_from_tail(&links).collect::<Vec<_>>(), [3, 1, 0, 2]);
        for (removed, rest) in [(0, &[2, 1, 3][..]), (3, &[2, 1]), (2, &[1]), (1, &[])] {
            list.remove(&mut links, removed);
            assert_eq!(list.iter(&links).collect::<Vec<_>>(), rest);
            assert_eq!(list.len() as usize, rest.len());
        }
        assert_eq!(list.head(), List::END);
    }
}
