//! The files of a site in memory. Each is computed when it is first requested, and kept.

use std::sync::{Arc, OnceLock};

use super::content::Content;
use super::files::{FILES_PER_DIRECTORY, FileId};
use super::reply::{REPLY_HEAD_BYTES_MAX, ReplyHead};
use super::status::Status;

/// The largest class whose files are stored with the head of their reply. One send is cheaper than two, and to copy
/// such a file for a reply with another head costs little.
const WITH_HEAD_CLASS_MAX: u8 = 1;

/// The contents of a site, and the files that were requested.
pub(super) struct Store {
    content: Content,
    files: Box<[OnceLock<Stored>]>,
}

/// A file in memory.
pub(super) struct Stored {
    bytes: Arc<[u8]>,
    /// Bytes of the reply's head before the file, for a connection that stays open; 0 if the head is not stored.
    head_bytes: usize,
}

impl Store {
    pub(super) fn new(seed: u64, directories: u32) -> Store {
        let files = std::iter::repeat_with(OnceLock::new).take(directories as usize * FILES_PER_DIRECTORY);
        Store { content: Content::new(seed), files: files.collect() }
    }

    pub(super) fn content(&self) -> &Content {
        &self.content
    }

    /// Whether the site has this file.
    pub(super) fn has(&self, file: FileId) -> bool {
        file.index() < self.files.len()
    }

    /// The file, or `None` if the site has no such directory.
    pub(super) fn file(&self, file: FileId) -> Option<&Stored> {
        Some(self.files.get(file.index())?.get_or_init(|| self.load(file)))
    }

    fn load(&self, file: FileId) -> Stored {
        let content = self.content.file(file);
        let mut head = Vec::with_capacity(REPLY_HEAD_BYTES_MAX);
        if file.class() <= WITH_HEAD_CLASS_MAX {
            static_head(content.size_bytes(), true).write(&mut head);
        }
        let bytes = shared(head.len() + content.size_bytes(), |bytes| {
            bytes[..head.len()].copy_from_slice(&head);
            content.fill(0, &mut bytes[head.len()..]);
        });
        Stored { bytes, head_bytes: head.len() }
    }
}

impl Stored {
    /// Passes the reply to a static GET to `send`, in one piece or two.
    pub(super) fn reply(&self, keep_alive: bool, mut send: impl FnMut(&Arc<[u8]>)) {
        if self.head_bytes > 0 && keep_alive {
            return send(&self.bytes);
        }
        let file = &self.bytes[self.head_bytes..];
        let mut head = Vec::with_capacity(REPLY_HEAD_BYTES_MAX);
        static_head(file.len(), keep_alive).write(&mut head);
        if self.head_bytes > 0 {
            head.extend_from_slice(file);
            return send(&head.into());
        }
        send(&head.into());
        send(&self.bytes);
    }

    /// The file alone, if it is stored without a head.
    pub(super) fn alone(&self) -> Option<&Arc<[u8]>> {
        (self.head_bytes == 0).then_some(&self.bytes)
    }
}

/// Makes shared bytes in place, because filling a vector first would copy them once more.
pub(super) fn shared(count: usize, fill: impl FnOnce(&mut [u8])) -> Arc<[u8]> {
    let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, count).collect();
    fill(Arc::get_mut(&mut bytes).expect("nothing else has the bytes yet"));
    bytes
}

fn static_head(body_bytes: usize, keep_alive: bool) -> ReplyHead<'static> {
    ReplyHead { status: Status::Ok, body_bytes, keep_alive, cookie: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_computed_once_and_shared() {
        let store = Store::new(7, 2);
        let file = FileId::new(1, 2, 0).unwrap();
        assert!(store.files[file.index()].get().is_none());
        let first = Arc::clone(store.file(file).unwrap().alone().unwrap());
        let second = store.file(file).unwrap().alone().unwrap();
        assert!(Arc::ptr_eq(&first, second));
        assert_eq!(store.files.iter().filter(|file| file.get().is_some()).count(), 1);
        let outside = FileId::new(2, 0, 0).unwrap();
        assert!(!store.has(outside) && store.file(outside).is_none());
    }

    #[test]
    fn replies_of_all_classes_have_head_and_file() {
        let store = Store::new(7, 1);
        for class in 0..4 {
            let file = FileId::new(0, class, 1).unwrap();
            for keep_alive in [true, false] {
                let mut reply = Vec::new();
                store.file(file).unwrap().reply(keep_alive, |bytes| reply.extend_from_slice(bytes));
                let mut expected = Vec::new();
                static_head(file.size_bytes(), keep_alive).write(&mut expected);
                let head_bytes = expected.len();
                expected.resize(head_bytes + file.size_bytes(), 0);
                store.content.file(file).fill(0, &mut expected[head_bytes..]);
                assert!(reply == expected, "class {class}");
            }
        }
    }
}
