//! What engines that start crowds on many machines tell each of their tasks: its number, and the nodes of its allocation.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use klatch_host::privileges::Program;
use thiserror::Error;

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

/// The reason why the number of this task is not known.
#[derive(Debug, Error)]
pub enum TaskNumberError {
    /// No engine has set its variable.
    #[error("none of the variables {} is set; give the number: I/N", NUMBERINGS.map(|one| one.name).join(", "))]
    NotSet,
    /// The value of a variable is none.
    #[error("the variable {name} is {value}, and not a number from {first}")]
    Invalid {
        /// Name of the variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The number of the first task.
        first: u32,
    },
}

/// The number of this task of an engine among all of the job, from 0, by the variable that the engine sets.
///
/// # Errors
/// See [`TaskNumberError`].
pub fn task_number() -> Result<u32, TaskNumberError> {
    from_environment(|name| std::env::var(name).ok())
}

fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<u32, TaskNumberError> {
    let set = NUMBERINGS.iter().find_map(|numbering| Some((numbering, variable(numbering.name)?)));
    let (Numbering { name, first, of_array }, value) = set.ok_or(TaskNumberError::NotSet)?;
    let of_array = of_array.map(|names| names.map(|name| variable(name)?.parse::<u32>().ok()));
    let [least, step] = of_array.unwrap_or_default();
    let (first, step) = (least.unwrap_or(*first), step.unwrap_or(1).max(1));
    let number = value.parse::<u32>().ok().and_then(|number| number.checked_sub(first));
    number.map(|number| number / step).ok_or(TaskNumberError::Invalid { name, value, first })
}

/// Longest time in which Slurm lists the nodes. Its controller may not answer.
const SCONTROL_TIMEOUT: Duration = Duration::from_secs(30);

/// The reason why the other nodes of an allocation of Slurm are not known.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The program that lists them cannot be run.
    #[error("cannot run scontrol, which lists the nodes of this allocation")]
    Run(#[source] io::Error),
    /// It failed.
    #[error("scontrol show hostnames {list} failed with {status}: {words}")]
    Failed {
        /// The nodes, as Slurm abbreviates them.
        list: String,
        /// How it ended.
        status: ExitStatus,
        /// What it wrote to standard error.
        words: String,
    },
    /// There is no other node.
    #[error("this allocation has only the node {node}, and the crowd needs another one")]
    Alone {
        /// Name of this node; empty if Slurm has not set it.
        node: String,
    },
}

/// The nodes of this allocation of Slurm except this one, which has the server. `None` outside of an allocation.
///
/// # Errors
/// See [`SlurmError`].
pub fn slurm_nodes() -> Result<Option<Vec<String>>, SlurmError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let Some(list) = variable("SLURM_JOB_NODELIST") else { return Ok(None) };
    let output = Program::new("scontrol").args(["show", "hostnames", &list]).output_within(SCONTROL_TIMEOUT);
    let output = output.map_err(SlurmError::Run)?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(SlurmError::Failed { list, status: output.status, words });
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let this = variable("SLURMD_NODENAME");
    let others: Vec<String> =
        names.lines().filter(|node| Some(*node) != this.as_deref()).map(str::to_owned).collect();
    if others.is_empty() {
        return Err(SlurmError::Alone { node: this.unwrap_or_default() });
    }
    Ok(Some(others))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
