//! `--shard`: which share of the rooms a crowd has, by its number among several.

use std::str::FromStr;

use anyhow::Context;
use klatch_record::{Gate, Workload};
use klatch_runner::split_parties;

/// A variable in which an engine numbers the tasks of a job.
struct Numbering {
    name: &'static str,
    /// The number of the first task, where no variable has it.
    first: u32,
    /// The variable with the number of the first task, and the one with the distance of two.
    of_array: Option<[&'static str; 2]>,
}

const fn from_zero(name: &'static str) -> Numbering {
    Numbering { name, first: 0, of_array: None }
}

/// The first one that is set counts. A job array of Slurm sets SLURM_PROCID as well, to 0 in all its tasks, and so does a batch script in
/// which MPI starts tasks.
const NUMBERINGS: [Numbering; 12] = [
    from_zero("JOB_COMPLETION_INDEX"),
    Numbering {
        of_array: Some(["SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP"]),
        ..from_zero("SLURM_ARRAY_TASK_ID")
    },
    from_zero("PBS_ARRAY_INDEX"),
    from_zero("OMPI_COMM_WORLD_RANK"),
    from_zero("PALS_RANKID"),
    from_zero("PMI_RANK"),
    from_zero("PMIX_RANK"),
    from_zero("FLUX_TASK_RANK"),
    from_zero("SLURM_PROCID"),
    from_zero("HQ_TASK_ID"),
    from_zero("NOMAD_ALLOC_INDEX"),
    Numbering { first: 1, ..from_zero("PARALLEL_SEQ") },
];

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

/// The number of this task of an engine.
fn from_environment(variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<u32> {
    let set = NUMBERINGS.iter().find_map(|numbering| Some((numbering, variable(numbering.name)?)));
    let Some((Numbering { name, first, of_array }, value)) = set else {
        let names: Vec<&str> = NUMBERINGS.iter().map(|numbering| numbering.name).collect();
        anyhow::bail!("--shard: none of the variables {} is set; give the number: I/N", names.join(", "));
    };
    let of_array = of_array.map(|names| names.map(|name| variable(name)?.parse::<u32>().ok()));
    let [least, step] = of_array.unwrap_or_default();
    let (first, step) = (least.unwrap_or(*first), step.unwrap_or(1).max(1));
    let number = value.parse::<u32>().ok().and_then(|number| number.checked_sub(first));
    number
        .map(|number| number / step)
        .with_context(|| format!("--shard: the variable {name} is {value}, and not a number from {first}"))
}

impl ShardOption {
    /// Its share of a workload.
    ///
    /// # Errors
    /// There are more shards than rooms, or the environment has no number of this shard.
    pub(crate) fn share(self, workload: &Workload) -> anyhow::Result<Workload> {
        let (parties, shards) = (workload.parties(), self.shards);
        let index = self.index.map_or_else(|| from_environment(|name| std::env::var(name).ok()), Ok)?;
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
    fn engines_number_their_tasks_in_variables() {
        let number = |all: &[(&str, &str)]| {
            let value = |name: &str| all.iter().find(|(one, _)| *one == name).map(|(_, value)| *value);
            from_environment(|name| value(name).map(str::to_owned)).map_err(|error| error.to_string())
        };
        assert_eq!(number(&[("JOB_COMPLETION_INDEX", "3")]), Ok(3));
        assert_eq!(number(&[("SLURM_PROCID", "0"), ("SLURM_ARRAY_TASK_ID", "2")]), Ok(2));
        let array = |id| {
            [("SLURM_ARRAY_TASK_MIN", "10"), ("SLURM_ARRAY_TASK_STEP", "5"), ("SLURM_ARRAY_TASK_ID", id)]
        };
        assert_eq!(["10", "15", "20"].map(|id| number(&array(id))), [Ok(0), Ok(1), Ok(2)]);
        assert!(number(&array("9")).unwrap_err().contains("not a number from 10"));
        for rank in [
            "PMI_RANK",
            "PMIX_RANK",
            "OMPI_COMM_WORLD_RANK",
            "PALS_RANKID",
            "FLUX_TASK_RANK",
            "PBS_ARRAY_INDEX",
        ] {
            assert_eq!(number(&[("SLURM_PROCID", "0"), (rank, "3")]), Ok(3), "{rank}");
        }
        assert_eq!(number(&[("PARALLEL_SEQ", "1")]), Ok(0));
        assert!(number(&[("PARALLEL_SEQ", "0")]).unwrap_err().contains("not a number from 1"));
        assert!(number(&[]).unwrap_err().contains("none of the variables JOB_COMPLETION_INDEX"));
    }

    #[test]
    fn what_is_no_shard_is_an_error() {
        for text in ["", "1", "a/3", "1/x", "3/3", "-1/3", "0/0", "env/0"] {
            assert!(text.parse::<ShardOption>().is_err(), "{text}");
        }
    }
}
