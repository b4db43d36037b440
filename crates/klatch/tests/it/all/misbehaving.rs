//! Schedulers of others that do wrong things, each in the emulated machine, and one that became slower.
//!
//! The program that loads them is this one: a test that other tests start.

use std::time::Duration;

use klatch_schedulers::samples::MISBEHAVING;
use klatch_testing::{Need, needs};
use libbpf_rs::{MapCore, MapFlags, ObjectBuilder};

use super::lab::lab;
use crate::support::Finished;

/// `manner` of misbehaving.bpf.c.
const WELL: u32 = 0;
const LOSES_A_TASK: u32 = 1;
const GIVES_UP: u32 = 2;

/// Loads the scheduler in `object`. Ends when the kernel has unloaded it, with the reason as the programs of the scx project print it.
fn schedule(object: &[u8], manner: u32, looks_at: u32) -> ! {
    let reason = load_and_wait(object, manner, looks_at);
    eprintln!("{}", reason.unwrap_or_else(|error| format!("cannot load the scheduler: {error:#}")));
    std::process::exit(1)
}

fn load_and_wait(object: &[u8], manner: u32, looks_at: u32) -> libbpf_rs::Result<String> {
    let mut open = ObjectBuilder::default().open_memory(object)?;
    for mut map in open.maps_mut().filter(|map| map.name().to_string_lossy().ends_with(".rodata")) {
        let values: Vec<u8> = [manner, looks_at].into_iter().flat_map(u32::to_ne_bytes).collect();
        map.initial_value_mut().expect("it has constants")[..values.len()].copy_from_slice(&values);
    }
    let mut object = open.load()?;
    let mut ops = object.maps_mut().find(|map| map.name() == "sample").expect("the object has it");
    let _link = ops.attach_struct_ops()?;
    let endings = object.maps().find(|map| map.name() == "endings").expect("the object has it");
    loop {
        // The kernel tells nobody.
        std::thread::sleep(Duration::from_millis(20));
        let ending = endings.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap()).into_owned()
        };
        let (reason, message) = ending.split_at(64);
        if !text(reason).is_empty() {
            return Ok(format!("EXIT: {} ({})", text(reason), text(message)));
        }
    }
}

#[test]
#[ignore = "other tests start it in the lab"]
fn loses_a_task() {
    schedule(MISBEHAVING, LOSES_A_TASK, 0);
}

#[test]
#[ignore = "other tests start it in the lab"]
fn gives_up() {
    schedule(MISBEHAVING, GIVES_UP, 0);
}

#[test]
#[ignore = "other tests start it in the lab"]
fn behaves() {
    schedule(MISBEHAVING, WELL, 8);
}

#[test]
#[ignore = "other tests start it in the lab"]
fn looks_at_one_more() {
    schedule(MISBEHAVING, WELL, 9);
}

/// A function that the kernel does not have.
#[test]
#[ignore = "other tests start it in the lab"]
fn needs_another_kernel() {
    let (name, other) = (b"scx_bpf_dsq_insert", b"scx_bpf_dsq_insorb");
    let mut object = MISBEHAVING.to_vec();
    for at in 0..object.len() - name.len() {
        if object[at..].starts_with(name) {
            object[at..at + name.len()].copy_from_slice(other);
        }
    }
    schedule(&object, WELL, 0);
}

/// The command that loads one of the schedulers above.
fn command(name: &str) -> String {
    let program = std::env::current_exe().unwrap();
    format!("{} --exact all::misbehaving::{name} --ignored --nocapture", program.display())
}

/// One boot for all: each runs a chat under one scheduler, and says which is in force afterwards.
#[test]
fn a_run_says_why_a_scheduler_did_not_stay_and_nothing_is_left() {
    needs!(Need::Qemu);
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let run = "/klatch run --platform native-threads --rooms 1 --users 5 --count 200 --warmups 0 --trials 1";
    // Leaves its group, and ends when its child has loaded the scheduler, or at once.
    let daemon = |end: &str| format!("exec:/bin/sh -c \"/usr/bin/setsid {} & {end}\"", command("behaves"));
    let late = daemon("until grep -q enabled /sys/kernel/sched_ext/state; do sleep 0.1; done");
    let cases = [
        command("loses_a_task"),
        command("gives_up"),
        command("needs_another_kernel"),
        "exec:/klatch sched run cfs -- /bin/sleep 1".to_owned(),
        late,
        daemon("exit 0"),
    ];
    let mut text = String::new();
    for case in &cases {
        text += &format!(
            "{run} --scheduler '{case}' 2>&1; echo status $?; cat /sys/kernel/sched_ext/state\necho ---\n"
        );
    }
    std::fs::write(&script, text).unwrap();
    let mut exec = lab(&["exec", "--file"]);
    exec.arg(std::env::current_exe().unwrap());
    for file in ["/bin/sh", "/bin/cat", "/bin/sleep", "/bin/grep", "/usr/bin/setsid"] {
        exec.args(["--file", file]);
    }
    let finished = Finished::run(exec.arg("--file").arg(&script).args(["--", "/bin/sh"]).arg(&script));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let said: Vec<&str> = finished.out.split("---\n").collect();
    for (said, words) in said.iter().zip([
        &["did not stay in force", "runnable task stall", "failed to run for", "status 1\ndisabled"][..],
        &["did not stay in force", "scx_bpf_error", "the sample gives up", "status 1\ndisabled"],
        &["ended before its scheduler was in force", "scx_bpf_dsq_insorb", "status 2\ndisabled"],
        &[
            "ended before its scheduler was in force",
            "it said: there is no scheduler cfs",
            "status 2\ndisabled",
        ],
    ]) {
        for word in words {
            assert!(said.contains(word), "{word} is missing: {said}");
        }
    }
    // Whether the shell is still there when the scheduler is seen in force is a matter of milliseconds.
    let [late, early] = [said[4], said[5]];
    assert!(late.contains("went to the background") && late.ends_with("disabled\n"), "{late}");
    assert!(
        early.contains("went to the background, where it could not be stopped")
            && early.ends_with("status 2\ndisabled\n"),
        "{early}"
    );
}

/// What grew is named: the routine of the scheduler that looks at one more task. It grows by 2.4 % over ten thousand yields; over one
/// thousand, what the kernel does at its own times, such as to reseed its random numbers, is as large.
#[test]
fn a_scheduler_that_looks_at_one_more_task_is_found() {
    needs!(Need::Qemu);
    let mut compare = lab(&["compare", "--within", "1"]);
    for name in ["behaves", "looks_at_one_more"] {
        compare.args(["--scheduler", &command(name)]);
    }
    let finished = Finished::run(compare.args(["--", "probe", "yield", "--tasks", "20", "--rounds", "500"]));
    assert_eq!(finished.status, Some(1), "{finished:?}");
    let first = finished.out.lines().find(|line| line.contains("bpf_"));
    assert!(first.is_some_and(|line| line.contains("dsq") || line.contains("dispatch")), "{finished:?}");
}
