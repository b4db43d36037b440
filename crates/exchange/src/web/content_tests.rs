//! Tests of the contents, with planted faults.

use super::*;
use crate::web::files::{CLASSES, FILES_PER_CLASS};

fn file(directory: u32, class: u8, number: u8) -> FileId {
    FileId::new(directory, class, number).unwrap()
}

fn bytes(content: &FileContent) -> Vec<u8> {
    let mut bytes = vec![0; content.size_bytes()];
    assert_eq!(content.fill(0, &mut bytes), content.size_bytes());
    bytes
}

fn occurrences(bytes: &[u8], text: &[u8]) -> Vec<usize> {
    bytes.windows(text.len()).enumerate().filter(|(_, window)| *window == text).map(|(at, _)| at).collect()
}

#[test]
fn files_are_printable_lines_with_their_path_first() {
    let content = Content::new(7);
    for class in 0..CLASSES {
        for number in 0..FILES_PER_CLASS {
            let file = file(3, class, number);
            let bytes = bytes(&content.file(file));
            assert_eq!(bytes.len(), file.size_bytes());
            assert!(bytes.starts_with(&file.path()));
            assert!(bytes.iter().all(|&byte| matches!(byte, b' '..=b'~' | b'\n')), "class {class}");
            let longest = bytes.split(|&byte| byte == b'\n').map(<[u8]>::len).max();
            assert!(longest < Some(63 * 2 + TAG_BYTES), "{longest:?}");
        }
    }
}

#[test]
fn each_section_of_classes_1_and_2_has_one_whole_tag() {
    let content = Content::new(7);
    for (class, sections) in [(0, 0), (1, 9), (2, 9), (3, 0)] {
        let content = content.file(file(199, class, 8));
        let bytes = bytes(&content);
        let stored = tag(ad_file(content.stored_ad));
        let places = occurrences(&bytes, &stored);
        assert_eq!(places.len(), sections, "class {class}");
        let offsets: Vec<_> = (0..).map_while(|number| content.tag_offset(number)).collect();
        assert_eq!(places, offsets);
        assert_eq!(occurrences(&bytes, b"<").len(), 3 * sections, "there is no other markup");
    }
}

#[test]
fn any_piece_fills_and_verifies_as_the_whole() {
    let content = Content::new(u64::MAX);
    for file in [file(0, 0, 0), file(12, 1, 2), file(12, 2, 0), file(99_999, 3, 0)] {
        for content in [content.file(file), content.file(file).rotated(77)] {
            let whole = bytes(&content);
            for size in [1, 2, 61, 62, 63, 1000, 4096, whole.len()] {
                for offset in (0..whole.len()).step_by(size) {
                    let mut piece = vec![0; size];
                    let filled = content.fill(offset, &mut piece);
                    assert_eq!(piece[..filled], whole[offset..(offset + size).min(whole.len())]);
                    assert_eq!(content.verify(offset, &piece[..filled]), Ok(()));
                }
            }
            assert_eq!(content.fill(whole.len(), &mut [0; 9]), 0);
            assert_eq!(content.fill(usize::MAX / 2, &mut [0; 9]), 0);
        }
    }
}

#[test]
fn an_altered_byte_is_found_at_its_offset() {
    let content = Content::new(7);
    let content = content.file(file(5, 1, 1)).rotated(200);
    let mut bytes = bytes(&content);
    for offset in 0..bytes.len() {
        let expected = bytes[offset];
        bytes[offset] = b'~';
        let difference = content.verify(0, &bytes).unwrap_err();
        assert_eq!((difference.offset, difference.expected), (offset, Some(expected)));
        let tags = (0..2).map(|number| content.tag_offset(number).unwrap());
        let kind = match offset {
            0..IDENTITY_BYTES => DifferenceKind::Identity,
            _ if tags.into_iter().any(|tag| (tag..tag + TAG_BYTES).contains(&offset)) => DifferenceKind::Tag,
            _ => DifferenceKind::Text,
        };
        assert_eq!(difference.kind, kind, "{offset}");
        // The same in a piece that begins there.
        assert_eq!(content.verify(offset, &bytes[offset..]), Err(difference));
        bytes[offset] = expected;
    }
}

#[test]
fn surplus_bytes_are_found_after_the_end() {
    let content = Content::new(7);
    let content = content.file(file(5, 0, 1));
    let mut bytes = bytes(&content);
    bytes.push(b'x');
    let difference = content.verify(0, &bytes).unwrap_err();
    let surplus = FirstDifference { offset: 204, expected: None, found: b'x', kind: DifferenceKind::Surplus };
    assert_eq!(difference, surplus);
    assert_eq!(difference.to_string(), "byte 204 of the file, after the end: found 'x'");
}

#[test]
fn another_file_differs_in_its_path() {
    let content = Content::new(7);
    let expected = content.file(file(5, 2, 3));
    for other in [file(6, 2, 3), file(5, 1, 3), file(5, 2, 4)] {
        let contents = bytes(&content.file(other));
        let difference = expected.verify(0, &contents).unwrap_err();
        assert_eq!(difference.kind, DifferenceKind::Identity);
        // Without its first line too, if the rest is long enough to compare.
        let rest = &contents[IDENTITY_BYTES..];
        assert!(expected.verify(IDENTITY_BYTES, rest).unwrap_err().offset < IDENTITY_BYTES + 99);
    }
    let other_seed = bytes(&Content::new(8).file(file(5, 2, 3)));
    assert_eq!(expected.verify(0, &other_seed).unwrap_err().kind, DifferenceKind::Identity);
}

#[test]
fn a_tag_that_was_not_rotated_is_stale() {
    let content = Content::new(7);
    let stored = content.file(file(5, 1, 0));
    let ad = (stored.stored_ad + 1) % ADS as u16;
    let difference = stored.rotated(ad).verify(0, &bytes(&stored)).unwrap_err();
    assert_eq!(difference.kind, DifferenceKind::StaleTag);
    let tag_offset = stored.tag_offset(0).unwrap();
    assert!((tag_offset..tag_offset + TAG_BYTES).contains(&difference.offset));
    // The wrong ad has the class of the stored one, so that only the directory and the file differ.
    let other = stored.rotated((stored.stored_ad + 5 * 36 + 1) % ADS as u16);
    assert_eq!(stored.rotated(ad).verify(0, &bytes(&other)).unwrap_err().kind, DifferenceKind::Tag);
}

#[test]
fn rotation_keeps_the_size() {
    let content = Content::new(7);
    let stored = content.file(file(5, 2, 8));
    assert_eq!(stored.size_bytes(), stored.rotated(0).size_bytes());
    let (one, other) = (bytes(&stored.rotated(0)), bytes(&stored.rotated(359)));
    let different = one.iter().zip(&other).filter(|(one, other)| one != other).count();
    assert_eq!(different, 9 * 3, "directory 0 and 9, class 0 and 3, file 0 and 8, in nine tags");
}
