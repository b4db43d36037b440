//! A record of merged shards as text.

use klatch_record::{Record, Shard, grouped};

use crate::summary::{headline, one_line, trials};

/// The merged record as text: what ran, each shard, and the result.
pub fn merged(record: &Record) -> String {
    let shard =
        |shard: &Shard| format!("{shard}: {} messages in {:.2} s\n", grouped(shard.total), shard.elapsed_s);
    headline(&record.platform, record.crowd.kind.name(), &record.workload)
        + &record.shards.iter().map(shard).collect::<String>()
        + &format!("{}\n\n{}", one_line(record), trials(std::slice::from_ref(record)))
}

#[cfg(test)]
mod tests {
    use klatch_record::samples;

    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn a_merged_record_is_as_it_was_at_three_widths() {
        let shard = |start, host: &str| Shard { start, host: Some(host.to_owned()), ..samples::shard() };
        let record = Record {
            shards: vec![shard(1, "load-1.example"), shard(11, "load-2.example")],
            ..samples::record(1, 1, 50_000.0)
        };
        insta::assert_snapshot!(at_widths(|| merged(&record)));
    }
}
