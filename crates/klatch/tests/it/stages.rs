//! Load in stages: every crowd has the same schedule, and a planted knee is found in one run.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use klatch_record::{Record, StageScore, Status};

use crate::support::{Finished, klatch, run_once};

/// The chat of each crowd: 12 users at 50/s for 300 ms, and then down to 0.
const CHAT: [&str; 8] =
    ["--rooms", "3", "--users", "4", "--pacing", "rate", "--stages", "0s:50,300ms:50,200ms:0"];

fn chat(more: &[&str]) -> Record {
    let out = tempfile::tempdir().unwrap();
    let finished = Finished::run(run_once(out.path(), &CHAT).args(more));
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    let stages = &record.stages.as_ref().unwrap().stages;
    let numbers: Vec<u32> = stages.iter().map(|stage| stage.number).collect();
    assert_eq!((record.workload.duration_s(), numbers), (Some(0.5), vec![2, 3]), "{finished:?}");
    let intended: u64 = stages.iter().map(|stage| stage.intended).sum();
    let times: u64 =
        stages.iter().filter_map(|stage| stage.latency.as_ref()).map(|latency| latency.count).sum();
    assert_eq!((intended, times), (record.score.received, record.score.received));
    let again = klatch_report::run_again(&record).unwrap().join(" ");
    assert!(again.contains(" --stages 0s:50,0.3s:50,0.2s:0") && !again.contains("--duration"), "{again}");
    record
}

fn intended(record: &Record) -> Vec<u64> {
    record.stages.as_ref().unwrap().stages.iter().map(|stage| stage.intended).collect()
}

#[test]
fn every_crowd_of_a_chat_has_the_same_stages() {
    let [native, threads] = ["native", "native-threads"]
        .map(|crowd| intended(&chat(&["--platform", "native-epoll", "--crowd", crowd])));
    // 15 messages of each user, then 5, each to 3 others; its phase decides on the last one.
    assert_eq!((native[0], &native), (12 * 15 * 3, &threads));
    assert!((12 * 4 * 3..=12 * 5 * 3).contains(&native[1]), "{native:?}");
    let poisson = ["--platform", "native-epoll", "--arrivals", "poisson"];
    let [one, shards] = [vec![], vec!["--shards", "3"]]
        .map(|more: Vec<&str>| intended(&chat(&[&poisson[..], &more].concat())));
    assert_eq!(one, shards, "shards have the schedules of one crowd, and their stages are added");
    assert_ne!(one[0], native[0]);
}

#[test]
fn a_java_crowd_has_the_stages_of_the_native_one() {
    for arrivals in ["even", "poisson"] {
        let both = ["native", "java"].map(|crowd| {
            intended(&chat(&["--platform", "native-epoll", "--arrivals", arrivals, "--crowd", crowd]))
        });
        assert_eq!(both[0], both[1], "{arrivals}");
    }
}

/// An echo server that takes 3 ms for each request, one at a time: at most 333/s.
fn slow_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_nodelay(true).unwrap();
        let mut request = [0; 16];
        while client.read_exact(&mut request).is_ok() {
            std::thread::sleep(Duration::from_millis(3));
            let _ = client.write_all(&request);
        }
    });
    address
}

#[test]
fn stages_find_a_planted_knee() {
    let out = tempfile::tempdir().unwrap();
    let target = format!("echo://{}", slow_server());
    let mut run = klatch();
    run.args([
        "run",
        "rr",
        "--target",
        &target,
        "--size",
        "16",
        "--depth",
        "4096",
        "--warmups",
        "0",
        "--trials",
        "1",
    ])
    .args(["--stages", "0s:60,4s:60,0s:1000,1s:1000,1s:0", "--hdr"])
    .arg(out.path().join("stages.hlog"))
    .arg("--out")
    .arg(out.path());
    let finished = Finished::run(&mut run);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let sentence = "Stage 4 (1000/s of each connection) is the first that does not keep up: ";
    assert_eq!(finished.out.matches(sentence).count(), 2, "table and answer: {finished:?}");
    assert!(finished.out.contains(", stage 4 does not keep up, valid"), "{finished:?}");
    let latest = out.path().join("latest");
    let record: Record =
        serde_json::from_str(&std::fs::read_to_string(latest.join("trial-1.json")).unwrap()).unwrap();
    let stages = record.stages.unwrap();
    let [steady, knee, down] = &stages.stages[..] else { panic!("{stages:?}") };
    assert_eq!(
        (stages.first_behind, steady.keeps_up, knee.keeps_up, down.keeps_up),
        (Some(4), true, false, false)
    );
    assert!((239..=241).contains(&steady.intended) && (999..=1_001).contains(&knee.intended), "{stages:?}");
    assert!(knee.achieved_per_s < 400.0, "1.1 s at 333/s: {stages:?}");
    let p50_us = |stage: &StageScore| stage.latency.as_ref().unwrap().p50_us;
    assert!(p50_us(knee) > 10.0 * p50_us(steady), "latency counts from the intended time: {stages:?}");
    let hlog = std::fs::read_to_string(out.path().join("stages.hlog")).unwrap();
    let tags: Vec<&str> =
        hlog.lines().filter_map(|line| line.strip_prefix("Tag=")?.split(',').next()).collect();
    assert_eq!(tags, ["stage-2", "stage-4", "stage-5"]);
    let mut report = klatch();
    report.arg("report").arg(&latest).args(["--format", "md", "--out", "-"]);
    assert!(Finished::run(&mut report).out.contains(sentence));
}

#[test]
fn stages_belong_to_no_duet_and_a_warm_up_has_their_mean_rate() {
    let finished =
        Finished::run(klatch().args(["duet", "native-epoll", "native-uring", "rr", "--stages", "1s:5"]));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    let out = tempfile::tempdir().unwrap();
    let mut run = klatch();
    run.args(["run", "rr", "--platform", "native-epoll", "--trials", "1", "--warmup", "200ms"])
        .args(["--stages", "200ms:100,200ms:0", "--out"])
        .arg(out.path());
    let finished = Finished::run(&mut run);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let record = |name: &str| -> Record {
        serde_json::from_str(&std::fs::read_to_string(out.path().join("latest").join(name)).unwrap()).unwrap()
    };
    let (warmup, trial) = (record("warm-up-1.json"), record("trial-1.json"));
    assert_eq!((warmup.workload.rate_per_s(), warmup.workload.duration_s()), (Some(50.0), Some(0.2)));
    assert_eq!((warmup.stages, trial.stages.unwrap().stages.len()), (None, 2));
}
