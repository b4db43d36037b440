//! Tests of the post log and its audit, with planted faults.

use super::*;

fn entry(client: u32, sequence: u32) -> PostEntry {
    let file = FileId::at((client * 36 + sequence * 7) as usize).unwrap();
    PostEntry { client, sequence, file }
}

fn entries() -> Vec<PostEntry> {
    (0..5).flat_map(|client| (0..4).map(move |sequence| entry(client, sequence))).collect()
}

fn log(entries: &[PostEntry]) -> Vec<u8> {
    let mut log = PostLog::default();
    assert!(entries.iter().all(|entry| log.append(1_700_000_000, entry)));
    let mut bytes = Vec::new();
    log.write(&mut bytes);
    assert_eq!(bytes.len(), log.len());
    bytes
}

/// The place of a record's first byte, for positions from 1.
fn record(position: usize) -> usize {
    COUNT_BYTES + (position - 1) * POST_RECORD_BYTES
}

#[test]
fn records_have_the_published_form() {
    let log = log(&[PostEntry { client: 7, sequence: 2, file: FileId::new(12, 1, 3).unwrap() }]);
    let expected = format!(
        "         1\n         1 1700000000          0    12  1  3          7 {:60}          0      10002\n",
        "/file_set/dir00012/class1_3"
    );
    assert_eq!(String::from_utf8(log).unwrap(), expected);
    assert_eq!(expected.len(), COUNT_BYTES + POST_RECORD_BYTES);
    assert_eq!(FIELD_BYTES.iter().sum::<usize>() + FIELD_BYTES.len(), POST_RECORD_BYTES);
    let largest =
        PostEntry { client: u32::MAX, sequence: u32::MAX - FIRST_USER, file: FileId::at(3_599_999).unwrap() };
    assert_eq!(check_post_log(&self::log(&[largest]), &[largest]), []);
}

#[test]
fn a_full_log_takes_no_more_until_it_is_cleared() {
    let mut log = PostLog::default();
    assert!((0..POSTS_MAX as u32).all(|sequence| log.append(0, &PostEntry { sequence, ..entry(1, 0) })));
    let bytes = log.len();
    assert!(!log.append(0, &entry(2, 0)));
    assert_eq!(log.len(), bytes);
    log.clear();
    assert!(log.append(0, &entry(2, 0)));
}

#[test]
fn a_right_log_has_no_findings() {
    let mut confirmed = entries();
    let log = log(&confirmed);
    confirmed.reverse();
    assert_eq!(check_post_log(&log, &confirmed), []);
    assert_eq!(check_post_log(b"         0\n", &[]), []);
}

#[test]
fn lost_and_unconfirmed_posts_are_found() {
    let mut confirmed = entries();
    let unconfirmed = confirmed.pop().unwrap();
    confirmed.push(entry(9, 9));
    let expected = [Finding::Unconfirmed(unconfirmed), Finding::Lost(entry(9, 9))];
    assert_eq!(check_post_log(&log(&entries()), &confirmed), expected);
    let empty = check_post_log(&log(&[]), &[entry(1, 2)]);
    assert_eq!(empty, [Finding::Lost(entry(1, 2))]);
    assert_eq!(empty[0].to_string(), "POST 2 of line 1 was confirmed and has no record");
}

#[test]
fn doubled_records_are_found() {
    let mut twice = entries();
    twice.push(entry(2, 2));
    let findings = check_post_log(&log(&twice), &entries());
    assert_eq!(findings, [Finding::Doubled { entry: entry(2, 2), times: 2 }]);
}

#[test]
fn a_record_of_another_file_is_found() {
    let other = FileId::new(77, 2, 2).unwrap();
    let mut logged = entries();
    logged[3].file = other;
    let findings = check_post_log(&log(&logged), &entries());
    assert_eq!(findings, [Finding::WrongFile { expected: entries()[3], found: other }]);
    assert!(
        findings[0]
            .to_string()
            .ends_with("/file_set/dir00000/class2_3, and its record names /file_set/dir00077/class2_2"),
        "{}",
        findings[0]
    );
}

#[test]
fn a_torn_record_is_found_and_hides_no_other() {
    let confirmed = entries();
    // Bytes of record 6 are missing, from its beginning, its middle or its end.
    for (from, to) in [(0, 1), (40, 90), (POST_RECORD_BYTES - 2, POST_RECORD_BYTES - 1)] {
        let mut log = log(&confirmed);
        log.drain(record(6) + from..record(6) + to);
        assert_eq!(
            check_post_log(&log, &confirmed),
            [Finding::Torn { record: 6 }, Finding::Lost(confirmed[5])],
            "{from}..{to}"
        );
    }
    // The last record was not written to its end.
    let mut short = log(&confirmed);
    short.truncate(short.len() - 1);
    assert_eq!(
        check_post_log(&short, &confirmed),
        [Finding::Torn { record: 20 }, Finding::Lost(confirmed[19])]
    );
    // Two records were written into each other: one is overwritten by the other.
    let mut mixed = log(&confirmed);
    let (from, to) = (record(3), record(4) + 60);
    mixed.copy_within(from..from + 60, to);
    let findings = check_post_log(&mixed, &confirmed);
    assert_eq!(findings, [Finding::Torn { record: 4 }, Finding::Lost(confirmed[3])]);
}

#[test]
fn every_altered_byte_of_a_record_is_found_but_those_of_time_and_processes() {
    let confirmed = entries();
    let free = [11..21, 22..32, 117..127];
    for at in 0..POST_RECORD_BYTES {
        let mut log = log(&confirmed);
        let byte = &mut log[record(2) + at];
        *byte = if *byte == b'9' { b'8' } else { b'9' };
        let is_free = free.iter().any(|field| field.contains(&at));
        assert!(is_free || !check_post_log(&log, &confirmed).is_empty(), "byte {at}");
    }
}

#[test]
fn wrong_numbers_are_found() {
    let confirmed = entries();
    let mut wrong_count = log(&confirmed);
    wrong_count[9] = b'1';
    assert_eq!(
        check_post_log(&wrong_count, &confirmed),
        [Finding::WrongCount { stated: Some(21), records: 20 }]
    );
    wrong_count[9] = b'x';
    let findings = check_post_log(&wrong_count, &confirmed);
    assert_eq!(findings, [Finding::WrongCount { stated: None, records: 20 }]);
    let mut wrong_number = log(&confirmed);
    wrong_number[record(2) + 9] = b'3';
    let findings = check_post_log(&wrong_number, &confirmed);
    assert_eq!(findings, [Finding::Misnumbered { record: 2, stated: 3 }]);
    assert_eq!(check_post_log(b"", &[]), [Finding::WrongCount { stated: None, records: 0 }]);
}
