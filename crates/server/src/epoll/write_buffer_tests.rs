//! What a write buffer writes, and how.

use super::*;

/// A connection that takes `space` bytes and remembers every write.
#[derive(Default)]
struct Sink {
    space: usize,
    writes: Vec<Vec<u8>>,
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let taken = bytes.len().min(self.space);
        if taken == 0 {
            return Err(Errno::AGAIN);
        }
        self.space -= taken;
        self.writes.push(bytes[..taken].to_vec());
        Ok(taken)
    }
}

fn line(text: &str) -> Arc<[u8]> {
    text.as_bytes().into()
}

fn give(buffer: &mut WriteBuffer, sink: &mut Sink, lines: &[&str]) {
    for text in lines {
        buffer.take(&line(text), |bytes| sink.write(bytes)).unwrap();
    }
}

fn push(buffer: &mut WriteBuffer, lines: &[&str]) {
    lines.iter().for_each(|text| buffer.push(&line(text)));
}

#[test]
fn classic_writes_each_line_at_once() {
    let (mut buffer, mut sink) = (WriteBuffer::classic(), Sink { space: 100, ..Sink::default() });
    give(&mut buffer, &mut sink, &["one", "two"]);
    assert_eq!(sink.writes, [b"one", b"two"]);
    assert_eq!(buffer.len(), 0);
}

#[test]
fn classic_writes_each_line_by_itself_after_a_full_buffer_too() {
    let (mut buffer, mut sink) = (WriteBuffer::classic(), Sink { space: 2, ..Sink::default() });
    give(&mut buffer, &mut sink, &["one", "two", "three"]);
    assert_eq!(buffer.len(), 9);
    sink.space = 5;
    buffer.flush(|bytes| sink.write(bytes)).unwrap();
    assert_eq!(buffer.len(), 4);
    sink.space = 100;
    buffer.flush(|bytes| sink.write(bytes)).unwrap();
    assert_eq!(buffer.len(), 0);
    give(&mut buffer, &mut sink, &["four"]);
    let expected: [&[u8]; 6] = [b"on", b"e", b"two", b"t", b"hree", b"four"];
    assert_eq!(sink.writes, expected);
}

#[test]
fn classic_writes_each_line_that_waited_by_itself() {
    let (mut buffer, mut sink) = (WriteBuffer::classic(), Sink { space: 100, ..Sink::default() });
    push(&mut buffer, &["one", "two"]);
    assert!(sink.writes.is_empty());
    buffer.flush(|bytes| sink.write(bytes)).unwrap();
    assert_eq!(sink.writes, [b"one", b"two"]);
}

#[test]
fn classic_writes_answers_together_but_no_delivery_with_them() {
    let (mut buffer, mut sink) = (WriteBuffer::classic(), Sink { space: 100, ..Sink::default() });
    let answer = |buffer: &mut WriteBuffer, text: &str| buffer.push_answer(&line(text));
    answer(&mut buffer, "one");
    answer(&mut buffer, "two");
    give(&mut buffer, &mut sink, &["three", "four"]);
    answer(&mut buffer, "five");
    assert_eq!((buffer.len(), sink.writes.len()), (19, 0), "a delivery does not overtake answers");
    buffer.flush(|bytes| sink.write(bytes)).unwrap();
    let expected: [&[u8]; 4] = [b"onetwo", b"three", b"four", b"five"];
    assert_eq!(sink.writes, expected);
    give(&mut buffer, &mut sink, &["six"]);
    assert_eq!(sink.writes.last().unwrap(), b"six", "nothing waits any more");
}

#[test]
fn classic_goes_on_where_a_jam_stopped_answers() {
    for space in 0..6 {
        let (mut buffer, mut sink) = (WriteBuffer::classic(), Sink { space, ..Sink::default() });
        buffer.push_answer(&line("one"));
        buffer.push_answer(&line("two"));
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        buffer.push_answer(&line("three"));
        assert_eq!(buffer.len(), 11 - space);
        sink.space = 100;
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        assert_eq!(sink.writes.concat(), b"onetwothree", "space for {space}");
        assert_eq!(buffer.len(), 0);
    }
}

#[test]
fn open_writes_all_together() {
    let (mut buffer, mut sink) = (WriteBuffer::open(true), Sink { space: 100, ..Sink::default() });
    push(&mut buffer, &["one", "two", "three"]);
    assert!(sink.writes.is_empty());
    assert_eq!(buffer.len(), 11);
    buffer.flush(|bytes| sink.write(bytes)).unwrap();
    assert_eq!(sink.writes, [b"onetwothree"]);
    assert_eq!(buffer.len(), 0);
}

#[test]
fn open_goes_on_where_a_jam_stopped_it() {
    for space in 1..11 {
        let (mut buffer, mut sink) = (WriteBuffer::open(true), Sink { space, ..Sink::default() });
        push(&mut buffer, &["one", "two"]);
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        push(&mut buffer, &["three"]);
        assert_eq!(buffer.len(), 11 - space.min(6));
        sink.space = 100;
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        assert_eq!(sink.writes.concat(), b"onetwothree", "space for {space}");
    }
}

#[test]
fn the_last_line_follows_a_whole_line() {
    for (space, expected) in [
        (0, "end\n"),
        (2, "one\nend\n"),
        (4, "one\nend\n"),
        (5, "one\ntwo\nend\n"),
        (8, "one\ntwo\nend\n"),
        (10, "one\ntwo\nthree\nend\n"),
    ] {
        for mut buffer in [WriteBuffer::classic(), WriteBuffer::open(true)] {
            let mut sink = Sink { space, ..Sink::default() };
            push(&mut buffer, &["one\n", "two\n", "three\n"]);
            buffer.flush(|bytes| sink.write(bytes)).unwrap();
            buffer.end_with(&line("end\n"));
            sink.space = 100;
            buffer.flush(|bytes| sink.write(bytes)).unwrap();
            assert_eq!(sink.writes.concat(), expected.as_bytes(), "space for {space}");
            assert_eq!(buffer.len(), 0);
        }
    }
}

#[test]
fn frames_leave_no_rest_and_no_line_follows_a_part_of_one() {
    for space in 1..12 {
        let (mut buffer, mut sink) = (WriteBuffer::open(false), Sink { space, ..Sink::default() });
        push(&mut buffer, &["\n1234\n", "\n5678\n"]);
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        assert_eq!(buffer.len(), 12 - space);
        buffer.end_with(&line(""));
        assert_eq!(buffer.len(), 0, "space for {space}");
    }
}

#[test]
fn a_broken_connection_is_an_error() {
    assert_eq!(WriteBuffer::classic().take(&line("one"), |_| Err(Errno::PIPE)), Err(Errno::PIPE));
    for mut buffer in [WriteBuffer::classic(), WriteBuffer::open(true)] {
        push(&mut buffer, &["one"]);
        assert_eq!(buffer.flush(|_| Err(Errno::PIPE)), Err(Errno::PIPE));
    }
}

/// Puts brackets around each batch, and counts the batches.
struct Brackets(std::sync::atomic::AtomicUsize);

impl Seal for Brackets {
    fn seal(&self, plain: &[u8], raw: &mut Vec<u8>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        raw.extend_from_slice(&[b"[", plain, b"]"].concat());
    }
}

#[test]
fn a_batch_is_sealed_once_however_often_its_write_is_stopped() {
    for space in 0..12 {
        let (mut buffer, mut sink) = (WriteBuffer::open(true), Sink { space, ..Sink::default() });
        push(&mut buffer, &["raw"]);
        let brackets = Arc::new(Brackets(0.into()));
        let seal: Arc<dyn Seal> = brackets.clone();
        assert!(buffer.seal_batches(&seal));
        push(&mut buffer, &["one", "two"]);
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        push(&mut buffer, &["three"]);
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        sink.space = 100;
        buffer.flush(|bytes| sink.write(bytes)).unwrap();
        assert_eq!(sink.writes.concat(), b"raw[onetwo][three]", "space for {space}");
        assert_eq!(brackets.0.load(std::sync::atomic::Ordering::Relaxed), 2);
        assert_eq!(buffer.len(), 0);
    }
    let seal: Arc<dyn Seal> = Arc::new(Brackets(0.into()));
    assert!(!WriteBuffer::classic().seal_batches(&seal), "each delivery is a write, so also a unit");
}

#[test]
fn an_end_keeps_what_is_sealed_and_drops_the_rest() {
    let (mut buffer, mut sink) = (WriteBuffer::open(true), Sink { space: 2, ..Sink::default() });
    let seal: Arc<dyn Seal> = Arc::new(Brackets(0.into()));
    buffer.seal_batches(&seal);
    push(&mut buffer, &["one"]);
    buffer.flush(|bytes| sink.write(bytes)).unwrap();
    push(&mut buffer, &["two"]);
    buffer.end_with(&line(""));
    sink.space = 100;
    buffer.flush(|bytes| sink.write(bytes)).unwrap();
    assert_eq!(sink.writes.concat(), b"[one]");
}
