//! Files of folded stacks, `outermost;…;innermost count` a line, and such a file as a profile of pprof.

use std::collections::HashMap;

use prost::Message;

/// The stacks of a file, and how often each was sampled.
pub(crate) fn stacks(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let (stack, count) = line.rsplit_once(' ')?;
        Some((stack, count.parse().ok()?))
    })
}

/// Profile of pprof, format `profile.proto`: fields that stacks without addresses have.
#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    /// The first is empty.
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
}

/// Places in the table of strings.
#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// Innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

/// Each function is one location.
#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
}

/// The profile of such a file, not compressed, which pprof reads as well. Values are counts of samples. `None` if no line has a stack.
pub fn pprof(folded: &str) -> Option<Vec<u8>> {
    let mut ids: HashMap<&str, u64> = HashMap::new();
    let texts = ["", "samples", "count"].map(str::to_owned);
    let named = texts.len() as i64;
    let mut profile = Profile {
        sample_type: vec![ValueType { kind: 1, unit: 2 }],
        string_table: texts.to_vec(),
        ..Profile::default()
    };
    for (stack, count) in stacks(folded) {
        let mut location_id: Vec<u64> = stack
            .split(';')
            .map(|name| {
                let next = ids.len() as u64 + 1;
                *ids.entry(name).or_insert_with(|| {
                    profile.string_table.push(name.to_owned());
                    profile.function.push(Function { id: next, name: named + next as i64 - 1 });
                    profile.location.push(Location { id: next, line: vec![Line { function_id: next }] });
                    next
                })
            })
            .collect();
        location_id.reverse();
        profile.sample.push(Sample { location_id, value: vec![count as i64] });
    }
    (!profile.sample.is_empty()).then(|| profile.encode_to_vec())
}
