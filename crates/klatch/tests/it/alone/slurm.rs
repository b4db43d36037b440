//! The files of contrib/slurm on a real Slurm: a controller and three nodes, which are network namespaces. Needs root.

use std::path::Path;
use std::process::Command;

use crate::support::{Finished, klatch, root};
use klatch_record::{Record, Status};
use klatch_testing::{Need, needs};

/// A run that ends by itself within a second.
const SHORT: &str = "--rooms 4 --users 5 --count 50";
/// A run that takes longer than the test.
const LONG: &str = "--rooms 4 --users 5 --count 1000 --pacing rate --rate 5";

macro_rules! needs_slurm {
    () => {
        needs!(
            Need::Root,
            Need::NetworkNamespaces,
            Need::Program("slurmctld", "slurm-wlm"),
            Need::Program("ip", "iproute2")
        );
    };
}

/// Runs lines of a shell on the controller of a cluster of its own. `submit FILE OPTIONS` submits a file of contrib/slurm.
fn on_cluster(folder: &Path, lines: &str) -> Finished {
    let root = root();
    let prelude = format!(
        "set -eu; export KLATCH={}; cd {}\n\
         submit() {{ file=$1; shift; sbatch --parsable --output=log {}/contrib/slurm/$file.sbatch \"$@\"; }}\n\
         until_log() {{ timeout 30 grep -q -m 1 \"$1\" <(tail -F -n +1 log 2>/dev/null); }}\n\
         until_done() {{ while [ -n \"$(squeue --noheader --jobs=$1)\" ]; do sleep 0.1; done; }}\n",
        env!("CARGO_BIN_EXE_klatch"),
        folder.display(),
        root.display()
    );
    let mut command = Command::new("timeout");
    command.arg("100").arg(root.join("scripts/slurm-cluster.sh")).args(["bash", "-c", &(prelude + lines)]);
    Finished::run(&mut command)
}

fn read(path: &Path) -> Record {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The records of the run below `out`, in their order.
fn records(out: &Path) -> Vec<Record> {
    let run = std::fs::read_dir(out).unwrap().flatten().map(|entry| entry.path());
    let run = run.filter(|path| path.is_dir() && !path.is_symlink()).max().unwrap();
    let mut files: Vec<_> = std::fs::read_dir(run).unwrap().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

#[test]
fn one_allocation_gives_a_full_record_with_trials() {
    needs_slurm!();
    let folder = tempfile::tempdir().unwrap();
    let options = format!("--platform native-epoll {SHORT} --warmups 1 --trials 2 --out out");
    let finished = on_cluster(folder.path(), &format!("submit reach {options} >job; until_done $(cat job)"));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    let records = records(&folder.path().join("out"));
    assert_eq!(records.len(), 3, "{log}");
    for record in records {
        assert_eq!(record.verdict.status, Status::Valid, "{:?}", record.verdict);
        let hosts: Vec<_> = record.shards.iter().map(|shard| shard.host.as_deref().unwrap()).collect();
        assert_eq!(hosts, ["beta", "gamma"], "alpha has the server");
        assert_eq!(record.shards[0].command[0], "srun");
        assert!(record.usage.server.unwrap().cpu_s > 0.0 && record.usage.crowd.unwrap().cpu_s > 0.0);
    }
}

#[test]
fn a_heterogeneous_job_merges_with_its_server_and_not_with_another_job() {
    needs_slurm!();
    let folder = tempfile::tempdir().unwrap();
    let lines = format!(
        "job=$(submit batch {SHORT}); until_done $job; mv klatch-$job one\n\
         job=$(submit batch {SHORT}); until_done $job; mv klatch-$job other"
    );
    let finished = on_cluster(folder.path(), &lines);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let merged = read(&folder.path().join("one/merged.json"));
    assert_eq!((merged.verdict.status, merged.shards.len()), (Status::Valid, 2), "{:?}", merged.verdict);
    assert_eq!((merged.score.sent, merged.score.received), (1_000, 4_000));
    assert!(merged.usage.server.unwrap().cpu_s > 0.0);
    let mut command = klatch();
    command.arg("merge").arg(folder.path().join("one/shard-0.json"));
    let refused = Finished::run(command.arg(folder.path().join("other/shard-1.json")));
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.err.contains("the run at the gate is"), "{refused:?}");
}

#[test]
fn a_cancelled_batch_job_leaves_invalid_records_and_nothing_running() {
    needs_slurm!();
    let folder = tempfile::tempdir().unwrap();
    let lines = format!(
        "job=$(submit batch {LONG}); mkdir -p klatch-$job; cd klatch-$job; touch shard-0.log shard-1.log\n\
         for shard in 0 1; do\n\
             timeout 30 grep -q -m 1 'shards at the gate' <(tail -F -n +1 shard-$shard.log 2>/dev/null)\n\
         done; cd ..\n\
         scancel $job; until_done $job; mv klatch-$job job; ! grep -qsx klatch /proc/[0-9]*/comm"
    );
    let finished = on_cluster(folder.path(), &lines);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    // Slurm stops the server and the shards at once, so a shard reports its own signal or the end of the server.
    for name in ["job/shard-0.json", "job/shard-1.json"] {
        let verdict = read(&folder.path().join(name)).verdict;
        assert_eq!(verdict.status, Status::Invalid, "{verdict:?}");
        assert!(!verdict.reasons.is_empty(), "{name}");
    }
}

#[test]
fn a_cancelled_allocation_leaves_nothing_running() {
    needs_slurm!();
    let folder = tempfile::tempdir().unwrap();
    let lines = format!(
        "job=$(submit reach --platform native-epoll {LONG} --warmups 0 --trials 1 --out out)\n\
         until_log 'all joined'; scancel $job; until_done $job; cat log; ! grep -qsx klatch /proc/[0-9]*/comm"
    );
    let finished = on_cluster(folder.path(), &lines);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(
        finished.out.contains("klatch: interrupted before a run was finished; server and crowd are stopped"),
        "{finished:?}"
    );
}

#[test]
fn a_node_that_dies_ends_the_run_and_is_named() {
    needs_slurm!();
    let folder = tempfile::tempdir().unwrap();
    // Everything on the node is killed at once, and its network with it.
    let lines = format!(
        "job=$(submit reach --platform native-epoll {LONG} --warmups 0 --trials 1 --out out)\n\
         until_log 'all joined'; beta=$(cat $SLURM_CLUSTER_FOLDER/beta.pid)\n\
         network=$(readlink /proc/$beta/ns/net)\n\
         for process in /proc/[0-9]*; do\n\
             if [ \"$(readlink $process/ns/net)\" = \"$network\" ]; then kill -KILL ${{process#/proc/}}; fi\n\
         done\n\
         until_done $job; ! grep -qsx klatch /proc/[0-9]*/comm"
    );
    let finished = on_cluster(folder.path(), &lines);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let record = records(&folder.path().join("out")).pop().unwrap();
    let reasons = &record.verdict.reasons;
    assert!(reasons[0].message.starts_with("the shard of rooms 1 to 2 on beta: "), "{reasons:?}");
    assert!(reasons[0].message.ends_with("srun: error: Node failure on beta"), "{reasons:?}");
}

#[test]
fn shards_that_do_not_fit_are_counted_at_the_gate() {
    needs_slurm!();
    let folder = tempfile::tempdir().unwrap();
    let lines = format!(
        "{{ $KLATCH serve --listen 10.77.0.1:0 --ready-file server.json & }} >/dev/null; server=$!\n\
         srun --nodes=2 --ntasks-per-node=1 --output=shard-%t.json --error=shard-%t.log $KLATCH crowd \
         --server-file server.json --wait-for-server 20 --shard env/3 --gate-timeout 2 --out - {SHORT} || true\n\
         kill $server"
    );
    let finished = on_cluster(folder.path(), &lines);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    // The first to give up names the number; for the other one a shard has left the gate then, unless it gives up at the same time.
    let records = ["shard-0.json", "shard-1.json"].map(|name| read(&folder.path().join(name)));
    assert!(records.iter().all(|record| record.verdict.status == Status::Invalid), "{records:?}");
    let mut reasons = records.iter().flat_map(|record| &record.verdict.reasons);
    assert!(reasons.any(|reason| reason.message.contains("2 of 3 shards are at the gate")), "{records:?}");
}
