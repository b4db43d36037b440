//! The early schedulers: on a kernel without sched_ext, and in the lab.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use klatch_host::privileges::{PrivateFolder, cache_path};
use klatch_testing::{Need, needs};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Finished, klatch};

/// One scheduler, a short chat and one queue length, for a short test.
const SMALL: &str = "question = 'Does it boot?'\nschedulers = ['o1']\nshow = ['decisions', 'length', 'cost']\n\
    command = ['run --platform native-threads --rooms 1 --users 5 --count 2 --warmups 0 --trials 1', \
               'probe yield --tasks 20 --rounds 50']\n";

pub(super) fn lab(arguments: &[&str]) -> Command {
    let mut command = klatch();
    command.arg("lab").args(arguments);
    command
}

fn refused(command: &mut Command, words: &[&str]) {
    let finished = Finished::run(command);
    assert_eq!(finished.status, Some(2), "{finished:?}");
    for word in words {
        assert!(finished.err.contains(word), "{word} is missing: {finished:?}");
    }
}

#[test]
fn two_boots_give_the_same_output_to_the_last_digit() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let study = folder.path().join("small.toml");
    std::fs::write(&study, SMALL).unwrap();
    let mut command = klatch();
    let finished = Finished::run(command.args(["study", "--twice", "--out"]).arg(folder.path()).arg(&study));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(
        finished.out.contains("the second boots gave the same output, to the last digit"),
        "{finished:?}"
    );
    let results = finished.out.lines().find_map(|line| line.strip_prefix("results: ")).expect("a folder");
    let results = std::path::Path::new(results);
    let report = results.join("report.html");
    assert!(finished.out.contains(&format!("report: {}", report.display())), "{finished:?}");
    assert!(std::fs::read_to_string(&report).unwrap().contains("Does it boot?"));
    let result = std::fs::read_to_string(results.join("result.json")).unwrap();
    assert!(result.contains("\"kind\": \"emulated\""), "{result}");
    let outcome = results.join("cells/o1/seed-1/trial.json");
    let outcome: serde_json::Value = serde_json::from_slice(&std::fs::read(outcome).unwrap()).unwrap();
    assert_eq!(outcome["scheduler"]["lost"], serde_json::Value::Null);
    let yields = outcome["scheduler"]["observed"]["stats"].as_array().unwrap();
    let yields = yields.iter().find(|stat| stat["name"] == "yields").unwrap()["value"].as_u64().unwrap();
    assert!(yields >= 1_000, "{outcome}");
    let record = &outcome["results"][1];
    assert_eq!(record["score"]["total"], 5 * 2 * 5, "messages and deliveries of 5 users: {outcome}");
}

/// Counts of a short probe on two CPUs, and what klatch said.
fn counted_probe(cache: &Path, options: &[&str], out: &Path) -> (String, String) {
    let mut exec = lab(&["exec", "--counters=instructions", "--cpus", "2", "--out"]);
    exec.arg(out).args(options).args([
        "--",
        "probe",
        "ping-pong",
        "--tasks",
        "3",
        "--rounds",
        "50",
        "--json",
    ]);
    exec.env("XDG_CACHE_HOME", cache);
    let finished = Finished::run(&mut exec);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let counts = std::fs::read_to_string(out.join("counters.json")).unwrap();
    (format!("{counts}\n{}", finished.out.lines().next().unwrap_or_default()), finished.err)
}

#[test]
fn a_machine_from_a_snapshot_counts_as_one_that_boots_anew() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let [cache, out] = ["cache", "out"].map(|name| folder.path().join(name));
    // Or that boot fetches it.
    const KERNEL: &str = "vmlinuz-6.18.15+deb13-cloud-amd64";
    PrivateFolder::create(&cache.join("klatch")).unwrap();
    let own_kernel = cache.join("klatch").join(KERNEL);
    if std::fs::copy(cache_path().unwrap().join(KERNEL), &own_kernel).is_ok() {
        std::fs::set_permissions(&own_kernel, Permissions::from_mode(0o600)).unwrap();
    }
    let snapshots = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(cache.join("klatch/snapshots")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path().join("state")).collect()
    };
    let run = |options: &[&str]| counted_probe(&cache, options, &out);
    let (first, _) = run(&[]);
    let [state] = &snapshots()[..] else { panic!("{:?}", snapshots()) };
    let made = state.metadata().unwrap().modified().unwrap();
    let (counts, said) = run(&[]);
    assert_eq!(counts, first, "from the snapshot");
    assert!(!said.contains("snapshot"), "{said}");
    // Files come with the job, so another one makes no other machine.
    let file = folder.path().join("file");
    std::fs::write(&file, [7; 100_000]).unwrap();
    run(&["--file", file.to_str().unwrap()]);
    assert_eq!((state.metadata().unwrap().modified().unwrap(), snapshots().len()), (made, 1));
    assert_eq!(run(&["--boot-anew"]).0, first, "a state of its own");
}

#[test]
fn a_trace_that_was_recorded_in_the_machine_returns() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let mut command = lab(&["exec", "--out"]);
    command.arg(folder.path()).args(["--", "run", "--platform", "native-threads", "--rooms", "1"]);
    command.args(["--users", "5", "--count", "2", "--warmups", "0", "--trials", "1"]);
    let finished = Finished::run(command.args(["--instrument", "trace"]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let results = std::fs::read_dir(folder.path().join("results")).unwrap().next().unwrap().unwrap();
    let trace = results.path().join("trial-1.trace");
    let shown = Finished::run(klatch().args(["trace", "summary"]).arg(&trace));
    assert_eq!(shown.status, Some(0), "{shown:?}");
    assert!(shown.out.contains("receiver"), "{shown:?}");
}

/// Kernels differ in the functions for schedulers and in their arguments. One boot for all.
#[test]
fn schedulers_load_on_the_newer_kernel() {
    needs!(Need::Qemu);
    // The first two use all of them together. Tasks queued for a CPU that goes offline must move, and one that cannot
    // come to a CPU now must be found by it later (o1, in some of five rounds). A CPU that comes online again must still
    // handle work sent by interrupt, or unloading never ends (fifo).
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let ping_pong = "probe ping-pong --tasks 5 --rounds 20 --json";
    let hotplug = "probe hotplug --tasks 8 --rounds 5 --json";
    let cases = [("multiqueue", ping_pong), ("o1", hotplug), ("fifo", hotplug)];
    let lines =
        cases.map(|(scheduler, probe)| format!("/klatch sched run {scheduler} -- /klatch {probe} || exit\n"));
    std::fs::write(&script, lines.concat()).unwrap();
    let mut exec = lab(&["exec", "--kernel", "7.2", "--cpus", "2", "--file", "/bin/sh", "--file"]);
    let finished = Finished::run(exec.arg(&script).args(["--", "/bin/sh"]).arg(&script));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert_eq!(finished.out.matches("\"elapsed_ns\"").count(), cases.len(), "{finished:?}");
}

/// A short chat in the machine under the scheduler that a program loads. klatch itself is such a program.
#[test]
fn a_run_under_the_scheduler_of_a_program_names_it() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let command = "exec:/klatch sched run fifo -- /bin/sleep 1000";
    let mut run = lab(&["exec", "--file", "/bin/sleep", "--out"]);
    run.arg(folder.path()).args(["--", "run", "--platform", "native-epoll", "--rooms", "1", "--users", "5"]);
    run.args(["--count", "20", "--warmups", "0", "--trials", "1", "--scheduler", command]);
    let finished = Finished::run(&mut run);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let results = std::fs::read_dir(folder.path().join("results")).unwrap().next().unwrap().unwrap();
    let record = std::fs::read(results.path().join("trial-1.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    let scheduler = &record["environment"]["scheduler"];
    assert_eq!(scheduler["name"], "klatch_fifo sched run fifo -- /bin/sleep 1000");
    assert_eq!(scheduler["program_sha256"].as_str().map(str::len), Some(64), "{scheduler}");
    assert_eq!(record["environment"]["sched_ext"], serde_json::Value::Null);
    assert_eq!(record["environment"]["settings"]["fair_scheduler"], "EEVDF");
    assert_eq!(record["options"]["scheduler"], command);
}

/// apt checks the packages; their drivers are modules, and the instruments adapt to the oldest.
#[test]
fn a_kernel_of_debian_is_got_and_booted() {
    needs!(Need::Qemu);
    let got = Finished::run(&mut lab(&["get-kernel", "5.10"]));
    assert_eq!(got.status, Some(0), "{got:?}");
    let release = got.out.trim().rsplit(' ').next().unwrap().to_owned();
    assert!(release.starts_with("5.10.") && got.out.starts_with("got 5.10."), "{got:?}");
    let listed = Finished::run(&mut lab(&["kernels"]));
    assert!(listed.out.contains(&release), "{listed:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut exec = lab(&["exec", "--kernel", "5.10", "--out"]);
    exec.arg(folder.path()).args([
        "--",
        "run",
        "--platform",
        "native-threads",
        "--rooms",
        "1",
        "--users",
        "5",
    ]);
    exec.args(["--count", "50", "--warmups", "0", "--trials", "1"]);
    let instruments = ["runqueue", "wakeups", "syscalls", "profile"];
    for name in instruments {
        exec.args(["--instrument", name]);
    }
    let finished = Finished::run(&mut exec);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let results = std::fs::read_dir(folder.path().join("results")).unwrap().next().unwrap().unwrap();
    let record = std::fs::read_to_string(results.path().join("trial-1.json")).unwrap();
    assert!(record.contains(&release), "{record}");
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let observed = &record["observations"];
    assert!(observed.to_string().contains("sched_switch"), "{observed}");
    for name in instruments {
        assert!(observed.to_string().contains(name), "{name}: {observed}");
    }
}

/// The guest's own tools see the machine that the simulator means by the same line.
#[test]
fn the_machine_has_the_nodes_caches_and_threads_of_its_topology() {
    needs!(Need::Qemu);
    let machine = "2 nodes x 2 llcs x 1 core x 2 threads";
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let text = "lscpu -e -J\necho ---\ncd /sys/devices/system; cat node/node1/distance cpu/vulnerabilities/spectre_v2\n";
    std::fs::write(&script, text).unwrap();
    let mut exec = lab(&["exec", "--machine", machine, "--append", "mitigations=auto"]);
    exec.args(["--file", "/usr/bin/lscpu", "--file", "/bin/cat"]);
    let finished = Finished::run(exec.arg("--file").arg(&script).args(["--", "/bin/sh"]).arg(&script));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let (listing, rest) = finished.out.split_once("---\n").unwrap();
    // A parameter overrides that of the lab.
    let mitigated = rest.strip_prefix("20 10\n").is_some_and(|state| state.starts_with("Mitigation: "));
    assert!(mitigated, "{rest}");
    let file = folder.path().join("guest.json");
    std::fs::write(&file, listing).unwrap();
    let simulated = Finished::run(klatch().args(["simulate", "run", "--json", "--machine"]).arg(&file));
    assert!(simulated.out.contains(&format!("\"machine\":\"{machine}\"")), "{simulated:?}");
    refused(
        &mut lab(&["exec", "--machine", "65 cpus", "--", "--version"]),
        &["a machine of the lab has 1 to 64 CPUs, got 65"],
    );
}

/// The machine called `host` has the CPUs of the one that the tests run on.
#[test]
fn the_machine_can_be_as_this_one() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let mut exec = lab(&["exec", "--machine", "host", "--file", "/usr/bin/lscpu"]);
    let finished = Finished::run(exec.args(["--", "/usr/bin/lscpu", "-e", "-J"]));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    std::fs::write(folder.path().join("guest.json"), finished.out).unwrap();
    let [guest, host] = ["guest.json", "host"].map(|machine| {
        let mut simulate = klatch();
        simulate.args(["simulate", "run", "--json", "--set", "count=1", "--machine", machine]);
        let finished = Finished::run(simulate.current_dir(folder.path()));
        let result: serde_json::Value = serde_json::from_str(&finished.out).unwrap();
        result["machine"].as_str().unwrap().to_owned()
    });
    assert_eq!(guest, host);
}

/// Any command, and a scheduler for it from a program of this machine.
#[test]
fn the_machine_runs_programs_of_this_machine() {
    needs!(Need::Qemu);
    let scheduler = format!("{} sched run fifo -- /bin/sleep 1000", env!("CARGO_BIN_EXE_klatch"));
    let mut command =
        lab(&["exec", "--file", "/bin/sleep", "--scheduler", &scheduler, "--", "/bin/uname", "-r"]);
    let finished = Finished::run(&mut command);
    assert_eq!(
        (finished.status, finished.out.trim()),
        (Some(0), "6.18.15+deb13-cloud-amd64"),
        "{finished:?}"
    );
    refused(
        &mut lab(&["exec", "--scheduler", "./no/scx", "--", "probe", "yield"]),
        &["there is no program ./no/scx"],
    );
    refused(
        &mut lab(&["exec", "--kernel", "4.0", "--", "probe", "yield"]),
        &["there is no kernel 4.0 here", "get-kernel"],
    );
}

#[test]
fn an_interrupted_lab_leaves_nothing_behind() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let left = || std::fs::read_dir(folder.path()).unwrap().count();
    let started =
        |command: &mut Command| command.env("TMPDIR", folder.path()).stderr(Stdio::piped()).spawn().unwrap();
    let mut klatch =
        started(&mut lab(&["exec", "--", "probe", "yield", "--tasks", "2", "--rounds", "100000000"]));
    let console =
        || std::fs::read_dir(folder.path()).unwrap().flatten().any(|one| one.path().join("console").exists());
    while !console() {
        assert_eq!(klatch.try_wait().unwrap(), None, "the lab has ended");
        sleep(Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&klatch), Signal::TERM).unwrap();
    let finished = klatch.wait_with_output().unwrap();
    assert_eq!(finished.status.code(), Some(130), "{finished:?}");
    assert_eq!(left(), 0, "files are left in TMPDIR");
}

#[test]
fn the_machine_dies_with_a_killed_lab() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let mut command = lab(&["exec", "--", "probe", "yield", "--tasks", "2", "--rounds", "100000000"]);
    let mut klatch = command.env("TMPDIR", folder.path()).stderr(Stdio::null()).spawn().unwrap();
    let booting =
        || std::fs::read_dir(folder.path()).unwrap().flatten().any(|one| one.path().join("console").exists());
    let machine = loop {
        // Before the boot another QEMU shows its version.
        if let Some(child) = child_named(klatch.id(), "qemu-system-x86").filter(|_| booting()) {
            break child;
        }
        assert_eq!(klatch.try_wait().unwrap(), None, "the lab ended before its machine began");
        sleep(Duration::from_millis(20));
    };
    let handle = rustix::process::pidfd_open(machine, rustix::process::PidfdFlags::empty()).unwrap();
    klatch.kill().unwrap();
    klatch.wait().unwrap();
    let mut ended = [PollFd::new(&handle, PollFlags::IN)];
    let patience = Timespec { tv_sec: 20, tv_nsec: 0 };
    let dead = poll(&mut ended, Some(&patience)).unwrap() == 1;
    // A surviving machine would burn a CPU for the rest of the tests.
    let _ = kill_process(machine, Signal::KILL);
    assert!(dead, "QEMU outlived klatch");
}

/// A child of the process, once it has executed this program.
fn child_named(parent: u32, name: &str) -> Option<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?.flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<i32> = children.flat_map(|list| pids(&list)).collect();
    let child = children.into_iter().find(|child| {
        std::fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|comm| comm.trim() == name)
    });
    child.and_then(Pid::from_raw)
}

fn pids(list: &str) -> Vec<i32> {
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[test]
fn without_sched_ext_the_error_names_the_lab() {
    needs!(Need::NoSchedExt);
    let named = ["no sched_ext", "klatch lab"];
    refused(klatch().args(["sched", "status"]), &named);
    refused(klatch().args(["sched", "stats"]), &named);
    refused(klatch().args(["sched", "run", "o1", "--", "true"]), &named);
    refused(klatch().args(["run", "--platform", "native-epoll", "--scheduler", "goodness"]), &named);
}

#[test]
fn with_sched_ext_a_scheduler_is_loaded_for_a_command() {
    needs!(Need::SchedExt, Need::Root);
    let finished =
        Finished::run(klatch().args(["sched", "run", "fifo", "--", "cat", "/sys/kernel/sched_ext/root/ops"]));
    // Some kernels append a version to the scheduler's name.
    assert!(finished.status == Some(0) && finished.out.starts_with("klatch_fifo"), "{finished:?}");
}

#[test]
fn unknown_schedulers_and_kernels_are_refused() {
    refused(klatch().args(["sched", "run", "cfs", "--", "true"]), &["no scheduler cfs", "multiqueue"]);
    refused(
        klatch().args(["sched", "run", "o1", "--knob", "yield=4", "--", "true"]),
        &["must be 1 to 3, got 4"],
    );
    refused(&mut lab(&["exec", "--kernel", "2.3", "--", "--version"]), &["no kernel 2.3", "6.18"]);
}

#[test]
fn missing_parts_of_the_lab_are_reported() {
    needs!(Need::Qemu, Need::Program("apt-get", "apt"));
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("klatch");
    std::fs::create_dir(&cache).unwrap();
    // An unreachable proxy has the same effect as no network.
    let exec = |variable: &str, value: &str| {
        let mut exec = lab(&["exec", "--", "--version"]);
        exec.env("http_proxy", "http://127.0.0.1:9").env("XDG_CACHE_HOME", folder.path());
        exec.env_remove("DEBIAN_MIRROR").env(variable, value);
        exec
    };
    let mut named = exec("DEBIAN_MIRROR", "http://mirror.invalid/debian/");
    refused(
        &mut named,
        &["cannot download the kernel 6.18", "mirror.invalid/debian/pool/", "snapshot.debian.org"],
    );
    // The mirror that apt uses, by a sources file of the test.
    let (sources, config) = (folder.path().join("sources.list"), folder.path().join("apt.conf"));
    std::fs::write(&sources, "deb http://apt.invalid/debian bookworm main\n").unwrap();
    let text = format!("Dir::Etc::sourcelist \"{}\";\nDir::Etc::sourceparts \"-\";\n", sources.display());
    std::fs::write(&config, text).unwrap();
    refused(&mut exec("APT_CONFIG", config.to_str().unwrap()), &["http://apt.invalid/debian/pool/"]);
    std::fs::write(&sources, "").unwrap();
    let mut without = exec("APT_CONFIG", config.to_str().unwrap());
    refused(&mut without, &["apt has no Debian mirror here, set DEBIAN_MIRROR", "snapshot.debian.org"]);
    std::fs::write(cache.join("vmlinuz-6.18.15+deb13-cloud-amd64"), "tea").unwrap();
    refused(&mut named, &["SHA-256", "it was not used", "vmlinuz-6.18.15"]);
    // Reported before anything is downloaded, so an empty cache makes no difference.
    let mut without_qemu = exec("PATH", "/nowhere");
    std::fs::remove_file(cache.join("vmlinuz-6.18.15+deb13-cloud-amd64")).unwrap();
    refused(&mut without_qemu, &["apt-get install qemu-system-x86"]);
    refused(
        klatch().args(["study", "goodness-cost", "--out", "/proc/klatch"]),
        &["cannot write results to /proc/klatch"],
    );
}
