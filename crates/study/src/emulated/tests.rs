use std::path::Path;

use klatch_lab::{Job, Kernel};
use klatch_record::Build;
use klatch_record::lab::{Configuration, DEFAULT_KERNEL};

use super::EmulatedStudy;
use crate::file::StudyFile;

const SMALL: &str = "question = '?'\nschedulers = ['fifo', 'o1:yield=2,warm_us=0']\nseeds = [1, 2]\n\
                     command = 'probe yield --tasks {tasks}'\nshow = []\n[vary]\ntasks = [5, 10]\n";

fn parsed(text: &str) -> Result<EmulatedStudy, String> {
    let build = Build { version: "0".to_owned(), ..Build::default() };
    let file = StudyFile::new(Path::new("small.toml"), text.to_owned());
    file.emulated(build).map_err(|error| error.to_string())
}

fn cells(text: &str) -> Vec<Configuration> {
    parsed(text).unwrap().plan.cells.into_iter().map(|cell| cell.job).collect()
}

#[test]
fn every_combination_is_a_cell_and_each_seed_a_boot() {
    let cells = cells(SMALL);
    let names: Vec<&str> = cells.iter().map(|cell| cell.id.as_str()).collect();
    let expected =
        ["fifo_tasks-5", "fifo_tasks-10", "o1-yield-2-warm_us-0_tasks-5", "o1-yield-2-warm_us-0_tasks-10"];
    assert_eq!(names, expected);
    assert_eq!(cells[3].commands, [["probe", "yield", "--tasks", "10", "--json"]]);
    let boots = [1, 2].map(|seed| Job::new(&cells[3].with_seed(seed), None));
    assert_eq!(
        boots[0].commands[0].join(" "),
        "sched run o1 --out scheduler.json --knob yield=2 --knob warm_us=0 -- /klatch probe yield --tasks 10 --json"
    );
    assert_ne!(boots[0].start_us, boots[1].start_us);
    assert!(Kernel::find(DEFAULT_KERNEL).is_some());
}

#[test]
fn several_commands_are_one_boot_and_each_loads_the_scheduler_again() {
    let several =
        SMALL.replace("'probe yield --tasks {tasks}'", "['probe forks', 'probe yield --tasks {tasks}']");
    let cells = cells(&several);
    assert_eq!(cells.len(), 4);
    let commands: Vec<String> =
        Job::new(&cells[0], None).commands.iter().map(|command| command.join(" ")).collect();
    let under = "sched run fifo --out scheduler.json -- /klatch probe";
    assert_eq!(commands, [format!("{under} forks --json"), format!("{under} yield --tasks 5 --json")]);
}

#[test]
fn machines_are_an_axis_in_place_of_cpus() {
    // A machine of arm64 has no topology, and on such a host the default kernel is for one.
    let machines = "show = []\nmachine = ['2 llcs x 2 cores', '4 cpus']\nkernels = ['6.18:amd64']";
    let all = cells(&SMALL.replace("show = []", machines));
    assert_eq!(all.len(), 8);
    assert!(all.iter().all(|cell| cell.cpus == 4));
    assert_eq!(all[0].machine.as_deref(), Some("2 llcs x 2 cores"));
    let error = |more: &str| parsed(&SMALL.replace("show = []", &format!("{machines}{more}"))).err().unwrap();
    assert!(error("\ncpus = [1]").contains("leave out cpus"));
    let error = |machine: &str| {
        let more = format!(
            "show = []\nmachine = ['{machine}']\nkernels = ['6.18:amd64']\ncounters = 'instructions'"
        );
        parsed(&SMALL.replace("show = []", &more)).err().unwrap()
    };
    assert!(error("65 cpus").contains("6:11: a machine of the lab has 1 to 64 CPUs"));
    assert!(error("2 apples").contains("is not a topology"));
    assert!(error("2 nodes x 2 cores").contains("has one node"));
}

#[test]
fn an_invalid_study_is_refused_with_line_and_column() {
    let error = |from: &str, to: &str| parsed(&SMALL.replace(from, to)).err().unwrap();
    assert!(error("'fifo'", "'cfs'").starts_with("small.toml:2:14: there is no scheduler cfs"));
    assert!(error("{tasks}", "5").contains("tasks varies, and the command has no {tasks}"));
    assert!(error("[5, 10]", "[]").contains("tasks has no value"));
    assert!(error("[1, 2]", "[]").starts_with("small.toml:3:9: seeds has no value"));
    assert!(error("show = []", "show = []\ncpus = [65]").contains("6:8: cpus must be 1 to 64, got 65"));
    assert!(error("show = []", "").starts_with("small.toml:1:1: missing field `show`"));
    assert!(error("show = []", "show = []\ncounters = 'z80'").contains("small.toml:6:12: "));
    assert!(error("show = []", "show = []\nper_operation = true").contains("needs counters"));
    assert!(error("show = []", "show = []\nkernels = ['./no/bzImage']").contains("there is no kernel"));
}

#[test]
fn a_kernel_that_is_to_be_fetched_is_no_mistake_and_a_named_value_has_a_short_name() {
    let text = SMALL.replace("[5, 10]", "[{ name = 'a few', value = '3 --rounds 7' }, 10]");
    let cells = cells(&text.replace("show = []", "show = []\nkernels = ['4.0', '6.18']"));
    assert_eq!(cells.len(), 8);
    let first = &cells[0];
    assert_eq!((first.id.as_str(), first.kernel.as_str()), ("kernel-4.0_fifo_tasks-a-few", "4.0"));
    assert_eq!(first.varied, [("tasks".to_owned(), "a few".to_owned())]);
    assert_eq!(first.commands[0].join(" "), "probe yield --tasks 3 --rounds 7 --json");
}
