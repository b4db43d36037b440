//! A run that exceeds a limit of the machine is refused before anything starts, with the limit and the command that raises it.

use std::process::Command;

use crate::support::Finished;
use klatch_testing::{Need, needs};

/// `klatch run` with this number of rooms of 20 users, started through `wrapper`.
fn run(wrapper: &[&str], platform: &str, rooms: &str) -> Finished {
    let out = tempfile::tempdir().unwrap();
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(env!("CARGO_BIN_EXE_klatch"));
    command.args([
        "run",
        "--platform",
        platform,
        "--rooms",
        rooms,
        "--count",
        "1",
        "--trials",
        "1",
        "--warmups",
        "0",
    ]);
    Finished::run(command.arg("--json").arg("--out").arg(out.path()))
}

fn refused(finished: &Finished, message: &str) {
    assert_eq!((finished.status, finished.out.as_str()), (Some(2), ""), "{finished:?}");
    assert!(finished.err.contains(message), "{message:?} is not in {finished:?}");
}

#[test]
fn too_few_open_files_are_refused() {
    let wrapper = ["prlimit", "--nofile=150:150"];
    let finished = run(&wrapper, "native-epoll", "3");
    refused(
        &finished,
        "klatch: native-epoll with 60 connections needs 160 open files, and the hard limit of open files is 150; \
         raise it with `ulimit -Hn 160`\nthe native crowd with 60 connections needs 160 open files",
    );
    assert_eq!(run(&wrapper, "native-epoll", "2").status, Some(0), "what fits runs");
}

#[test]
fn a_low_soft_limit_of_open_files_is_raised_for_every_server() {
    let finished = run(&["prlimit", "--nofile=30:1000"], "redis", "3");
    assert_eq!(finished.status, Some(0), "{finished:?}");
}

#[test]
fn too_few_local_ports_are_refused() {
    needs!(Need::UserNamespaces, Need::Program("ip", "iproute2"));
    let script = "ip link set lo up && echo 40000 40049 > /proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" \"$@\"";
    let wrapper = ["unshare", "--map-root-user", "--net", "sh", "-c", script];
    let message = "the crowd needs 60 local ports, and the number of ports in net.ipv4.ip_local_port_range \
                   (40000 to 40049) is 50; raise it with `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`";
    refused(&run(&wrapper, "native-epoll", "3"), message);
    assert_eq!(run(&wrapper, "native-epoll", "2").status, Some(0), "what fits runs");
}

#[test]
fn too_many_threads_are_refused() {
    let finished = run(&["env"], "native-threads", "10000");
    refused(
        &finished,
        "native-threads with 200000 connections needs 1601000 memory maps, and vm.max_map_count is ",
    );
    assert!(finished.err.contains("raise it with `sysctl -w vm.max_map_count=1601000`"), "{finished:?}");
}

#[test]
fn a_heap_larger_than_the_memory_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let mut command = crate::support::run_once(out.path(), &["--crowd", "java", "--crowd-knob", "heap=900t"]);
    let finished = Finished::run(command.args(["--platform", "native-epoll"]));
    refused(&finished, "native-epoll and the Java crowd needs 943718");
}
