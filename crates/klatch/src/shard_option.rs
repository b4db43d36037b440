//! `--shard`: which share of the rooms a crowd has, by its number among several.

use std::str::FromStr;

use anyhow::anyhow;
use klatch_record::{Gate, Workload};
use klatch_runner::{split_parties, task_number};

/// One of several shards, as on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardOption {
    /// Its number, from 0 to `shards` - 1; `None` if the environment has it.
    index: Option<u32>,
    shards: u32,
}

impl FromStr for ShardOption {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardOption, String> {
        let form = || format!("it must be I/N with I from 0 to N - 1, or env/N, and is {text}");
        let (index, shards) = text.split_once('/').ok_or_else(form)?;
        let shards = shards.parse().map_err(|_| form())?;
        let index = match index {
            "env" => None,
            digits => Some(digits.parse().map_err(|_| form())?),
        };
        if index.unwrap_or_default() >= shards {
            return Err(form());
        }
        Ok(ShardOption { index, shards })
    }
}

impl ShardOption {
    /// Its share of a workload.
    ///
    /// # Errors
    /// There are more shards than rooms, or the environment has no number of this shard.
    pub(crate) fn share(self, workload: &Workload) -> anyhow::Result<Workload> {
        let (parties, shards) = (workload.parties(), self.shards);
        let index = match self.index {
            Some(index) => index,
            None => task_number().map_err(|error| anyhow!("--shard: {error}"))?,
        };
        anyhow::ensure!(
            index < shards,
            "--shard: the number of this shard is {index}, and {shards} shards have the numbers 0 to {}",
            shards - 1
        );
        anyhow::ensure!(
            shards <= parties,
            "--shard: there are {shards} shards for {parties} rooms; each shard needs one"
        );
        Ok(split_parties(workload, shards).swap_remove(index as usize))
    }

    /// The gate for all shards: the one of the user, or the default one.
    ///
    /// # Errors
    /// The gate of the user is for another number of shards.
    pub(crate) fn gate(self, own: Option<Gate>) -> anyhow::Result<Gate> {
        let gate = own.map_or_else(|| self.shards.to_string().parse(), Ok)?;
        anyhow::ensure!(
            gate.shards == self.shards,
            "--shard counts {} shards, and --gate {}; give both the same number",
            self.shards,
            gate.shards
        );
        Ok(gate)
    }
}

#[cfg(test)]
mod tests {
    use klatch_record::ChatWorkload;

    use super::*;

    #[test]
    fn a_shard_has_its_share_of_the_rooms_and_the_gate_of_all() {
        let shard: ShardOption = "2/3".parse().unwrap();
        let whole = Workload::Chat(ChatWorkload { rooms: 10, ..ChatWorkload::default() });
        let share = shard.share(&whole).unwrap();
        assert_eq!((share.start(), share.parties()), (7, 4));
        assert_eq!(shard.gate(None).unwrap(), "3".parse().unwrap());
        assert_eq!(shard.gate(Some("3:mine".parse().unwrap())).unwrap().name, "mine");
        assert!(shard.gate(Some("4".parse().unwrap())).unwrap_err().to_string().contains("the same number"));
        let many = "2/11".parse::<ShardOption>().unwrap().share(&whole).unwrap_err().to_string();
        assert!(many.contains("11 shards for 10 rooms"), "{many}");
    }

    #[test]
    fn what_is_no_shard_is_an_error() {
        for text in ["", "1", "a/3", "1/x", "3/3", "-1/3", "0/0", "env/0"] {
            assert!(text.parse::<ShardOption>().is_err(), "{text}");
        }
    }
}
