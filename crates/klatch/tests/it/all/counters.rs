//! The lab's counters: known counts, equal boots, and the instruments of a run.

use std::path::Path;

use crate::support::{Finished, klatch};
use klatch_record::lab::{LabCounts, RoutineCounts};
use klatch_record::{ObservationData, Record};
use klatch_testing::{Need, needs};

/// Lines of 32 bytes, first-level caches of 16 kB.
const CACHES: &str = "--counters=pentium-ii-xeon-450";

/// Boots once, counts a command, and saves the files in `out`.
fn counted(out: &Path, machine: &[&str], command: &[&str]) -> Finished {
    let mut exec = klatch();
    exec.args(["lab", "exec", CACHES, "--out"]).arg(out).args(machine).arg("--").args(command);
    let finished = Finished::run(&mut exec);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished
}

fn counts(out: &Path) -> LabCounts {
    serde_json::from_str(&std::fs::read_to_string(out.join("counters.json")).unwrap()).unwrap()
}

/// A routine of the program.
fn routine<'a>(counts: &'a LabCounts, name: &str) -> &'a RoutineCounts {
    let found = counts.routines.iter().find(|one| one.routine.ends_with(name) && one.process == "klatch");
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

fn within_one_percent(got: u64, expected: u64) -> bool {
    got.abs_diff(expected) * 100 <= expected
}

#[test]
fn a_copy_misses_once_a_line_and_a_second_boot_counts_the_same() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let outs = ["first", "second"].map(|name| folder.path().join(name));
    const COPY: [&str; 10] =
        ["probe", "memory", "--pattern", "copy", "--elements", "100000", "--stride", "8", "--rounds", "30"];
    let printed = outs.each_ref().map(|out| counted(out, &[], &COPY).out);
    let first = counts(&outs[0]);
    // 800 kB are read and written 30 times, and neither fits into the first level.
    let copy = routine(&first, "memory::copy").own;
    assert!(within_one_percent(copy.l1d_misses, 2 * 30 * 100_000 * 8 / 32), "{copy:?}");
    assert_eq!((copy.transfers, copy.upgrades), (0, 0));
    // Every miss of data is one of some data, and what a program copies is its own.
    let by_data = |name: &str| -> u64 {
        let named = first.data.iter().filter(|one| one.data.contains(name));
        named.map(|one| one.counts.l1d_misses).sum()
    };
    assert_eq!(by_data(""), first.total().l1d_misses);
    assert!(by_data("memory of programs") >= copy.l1d_misses * 99 / 100, "{:?}", first.data);
    assert!(by_data("task_struct.") > 100 && by_data("per CPU runqueues") > 100, "{:?}", first.data);
    assert_eq!(by_data("others") + by_data("unknown"), 0, "{:?}", first.data);
    // One nanosecond of the machine is one instruction. To open and to close takes 13,000 that the time does not contain.
    let total = first.total().instructions;
    assert!(total.abs_diff(first.elapsed_ns) * 1_000 <= total, "{total} in {} ns", first.elapsed_ns);
    assert_eq!(first, counts(&outs[1]));
    // What follows names the folder.
    let numbers = printed.each_ref().map(|text| text.split("\nresults: ").next().unwrap());
    assert_eq!(numbers[0], numbers[1]);
    assert!(printed[0].contains("by l1d_misses") && printed[0].contains("memory::copy"), "{}", printed[0]);

    let compared = Finished::run(klatch().args(["lab", "compare"]).args(&outs).args(["--within", "0"]));
    assert_eq!(compared.status, Some(0), "{compared:?}");
    assert!(compared.out.contains("no routine has other instructions"), "{compared:?}");
}

#[test]
fn operations_are_counted_without_the_start_of_the_program() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut exec = klatch();
    exec.args(["lab", "exec", "--counters=instructions", "--operations", "--out"]).arg(&out);
    exec.args(["--", "probe", "ping-pong", "--tasks", "1", "--rounds", "500"]);
    let finished = Finished::run(&mut exec);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let counts = counts(&out);
    let operations = counts.operations.as_ref().unwrap();
    assert_eq!((operations.name.as_str(), operations.count), ("wake-up", 1_000));
    // To start the program takes millions; two switches and four system calls take thousands.
    let each = counts.total().instructions / 1_000;
    assert!((2_000..20_000).contains(&each), "{each}");
    let of_run = folder.path().join("run");
    let mut exec = klatch();
    exec.args(["lab", "exec", "--counters=instructions", "--operations", "--out"]).arg(&of_run);
    exec.args(["--", "run", "--platform", "native-epoll", "--rooms", "1", "--users", "5", "--count", "20"]);
    let finished = Finished::run(exec.args(["--warmups", "0", "--trials", "1"]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let run = self::counts(&of_run);
    assert_eq!(run.operations.as_ref().unwrap().count, 5 * 20 * 5);
    // What the parent reads of its processes before and after is none of a message. The crowd reads its own twice.
    let calls = |name: &str| {
        run.routines.iter().filter(|one| one.routine.ends_with(name)).map(|one| one.calls).sum::<u64>()
    };
    assert!(run.routines.iter().any(|one| one.routine == "tcp_sendmsg"));
    assert_eq!((calls("Snapshot::take"), calls("Snapshot::take_own")), (0, 2));
    let compared = Finished::run(klatch().args(["lab", "compare"]).args([&out, &out]));
    assert!(compared.out.contains("counts of a wake-up; before 1,000 of them"), "{compared:?}");
}

#[test]
fn a_word_that_two_cpus_write_in_turn_is_transferred_each_time() {
    needs!(Need::Qemu);
    // So many that what else the two CPUs share, at the start and in interrupts, is less than one per cent.
    const ROUNDS: u64 = 20_000;
    let out = tempfile::tempdir().unwrap();
    let rounds = ROUNDS.to_string();
    let share = ["probe", "memory", "--pattern", "share", "--rounds", &rounds];
    counted(out.path(), &["--cpus", "2"], &share);
    let counts = counts(out.path());
    let shared = routine(&counts, "memory::hand_over").inclusive;
    assert!(within_one_percent(shared.transfers, 2 * ROUNDS), "{shared:?}");
    assert!(within_one_percent(shared.upgrades, 2 * ROUNDS), "{shared:?}");
    let of_programs =
        counts.data.iter().filter(|one| one.process == "klatch" && one.data.contains("of programs"));
    let transfers: u64 = of_programs.map(|one| one.counts.transfers).sum();
    // The word, and what else the program's two threads share.
    assert!((2 * ROUNDS..ROUNDS * 21 / 10).contains(&transfers), "{transfers}, {:?}", counts.data);
    assert_eq!(counts.instructions_by_cpu.len(), 2);
}

#[test]
fn a_run_in_the_lab_has_exact_profiles_of_server_and_crowd() {
    needs!(Need::Qemu);
    let out = tempfile::tempdir().unwrap();
    let run = "run --platform native-epoll --crowd native --rooms 1 --users 5 --count 20 --warmups 0 --trials 1 \
               --instrument instructions,modelled_cycles";
    let finished = counted(out.path(), &[], &run.split_whitespace().collect::<Vec<_>>());
    assert!(finished.out.contains("every one counted"), "{finished:?}");
    let folder = std::fs::read_dir(out.path().join("results")).unwrap().next().unwrap().unwrap().path();
    let record: Record =
        serde_json::from_str(&std::fs::read_to_string(folder.join("trial-1.json")).unwrap()).unwrap();
    assert_eq!(record.observations.len(), 2);
    for one in &record.observations {
        let profile = match one.data.as_ref().unwrap() {
            ObservationData::Instructions(profile) | ObservationData::ModelledCycles(profile) => profile,
            other => panic!("{other:?}"),
        };
        assert_eq!(profile.events_per_sample, Some(1), "{one:?}");
        let sides = [profile.sides.server.as_ref().unwrap(), profile.sides.crowd.as_ref().unwrap()];
        for side in sides {
            assert!(side.samples > 1_000 && side.kernel > 0.1 && side.inclusive.network > 0.05, "{one:?}");
            let has = |name: &str| side.top_data.iter().any(|one| one.name == name);
            let is_modelled = matches!(one.data, Some(ObservationData::ModelledCycles(_)));
            assert_eq!(has("kernel stacks") && has("slab TCP"), is_modelled, "{one:?}");
        }
        assert!(sides.iter().map(|side| side.samples).sum::<u64>() <= profile.samples, "{one:?}");
        let folded = std::fs::read_to_string(folder.join(&one.files[0])).unwrap();
        assert!(
            folded.lines().any(|line| line.starts_with("server;klatch;") && line.contains("tcp_sendmsg_[k]"))
        );
        assert!(folded.contains("klatch_server::"), "no routine of the program has a name");
    }
}

#[test]
fn unknown_caches_are_refused_before_the_boot() {
    let finished = Finished::run(klatch().args(["lab", "exec", "--counters=z80", "--", "--version"]));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("there is no hardware z80"), "{finished:?}");
}
