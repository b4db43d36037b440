//! Counts the write calls that carried deliveries in a log of strace.
//!
//! A line of the log is `4711 sendto(9, "\x3a\x61…", 41, MSG_NOSIGNAL, NULL, 0) = 41`. `writev` and `sendmsg` have several
//! strings. Another thread may split a call: `… <unfinished ...>` and later `4711 <... sendto resumed>…) = 41`. A call that
//! strace delayed ends with `(DELAYED)`.

use std::collections::HashMap;

/// The number of calls that carried a part of one of these streams of deliveries.
pub(super) fn carrying(log: &str, streams: &[Vec<u8>]) -> usize {
    calls(log)
        .iter()
        .filter(|data| !data.is_empty())
        .filter(|data| streams.iter().any(|stream| stream.windows(data.len()).any(|window| window == **data)))
        .count()
}

/// The bytes that each call has written, in order.
fn calls(log: &str) -> Vec<Vec<u8>> {
    let mut unfinished: HashMap<&str, Vec<u8>> = HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let call = call.trim_start();
        let mut data = match call.strip_prefix("<... ") {
            Some(_) => unfinished.remove(thread).unwrap_or_default(),
            None => strings(call),
        };
        if call.ends_with("<unfinished ...>") {
            unfinished.insert(thread, data);
        } else if let Some(written) = result(call) {
            data.truncate(written);
            calls.push(data);
        }
    }
    // strace detached before these calls returned.
    calls.extend(unfinished.into_values());
    calls
}

/// The return value of a call; `None` if it failed.
fn result(call: &str) -> Option<usize> {
    let (_, result) = call.rsplit_once(" = ")?;
    result.split(' ').next()?.parse().ok()
}

/// All strings of a call, concatenated. strace -xx writes every byte as `\xNN`.
fn strings(call: &str) -> Vec<u8> {
    let quoted = call.split('"').skip(1).step_by(2);
    let bytes = quoted.flat_map(|string| string.split("\\x").skip(1));
    bytes.filter_map(|digits| u8::from_str_radix(digits, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a string as strace -xx does.
    fn hex(text: &str) -> String {
        text.bytes().map(|byte| format!("\\x{byte:02x}")).collect()
    }

    fn count(log: &str) -> usize {
        carrying(log, &[b":a PRIVMSG #r :1\r\n:a PRIVMSG #r :2\r\n".to_vec()])
    }

    #[test]
    fn one_call_a_delivery() {
        let line = |text: &str| {
            format!("7 sendto(9, \"{}\", {}, 0, NULL, 0) = {}\n", hex(text), text.len(), text.len())
        };
        assert_eq!(count(&(line(":a PRIVMSG #r :1\r\n") + &line(":a PRIVMSG #r :2\r\n"))), 2);
    }

    #[test]
    fn parts_and_several_count_as_calls() {
        let write = |text: &str| format!("7 write(9, \"{}\", {}) = {}\n", hex(text), text.len(), text.len());
        assert_eq!(count(&(write(":a PRIVMSG #r :1") + &write("\r\n"))), 2);
        assert_eq!(count(&write(":a PRIVMSG #r :1\r\n:a PRIVMSG #r :2\r\n")), 1);
        assert_eq!(count(&write(":k PONG k :fence\r\n")), 0);
        assert_eq!(count("7 write(5, \"\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\", 8) = 8\n"), 0);
    }

    #[test]
    fn vectors_are_one_call() {
        let (a, b) = (hex(":a PRIVMSG #r :1"), hex("\r\n"));
        let log = format!(
            "7 writev(9, [{{iov_base=\"{a}\", iov_len=16}}, {{iov_base=\"{b}\", iov_len=2}}], 2) = 18 (DELAYED)\n"
        );
        assert_eq!(count(&log), 1);
    }

    #[test]
    fn calls_cut_in_two_count_once_and_failed_ones_not() {
        let text = hex(":a PRIVMSG #r :1\r\n");
        let log = format!(
            "7 write(9, \"{text}\", 18 <unfinished ...>\n8 write(3, \"\\x00\", 1) = 1\n7 <... write resumed>) = 18\n"
        );
        assert_eq!(count(&log), 1);
        assert_eq!(
            count(&format!("7 write(9, \"{text}\", 18) = -1 EAGAIN (Resource temporarily unavailable)\n")),
            0
        );
        assert_eq!(count(&format!("7 write(9, \"{text}\", 18 <unfinished ...>\n")), 1);
    }
}
