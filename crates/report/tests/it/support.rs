//! Sources for the tests of reports: complete records with invented numbers.

use std::path::Path;

use klatch_record::observed::{
    CostByLength, CostFit, CostRow, Decision, Distribution, JavaWaitsSide, LengthCount, LengthMoment,
    Lengths, Profile, ProfiledSide, Routine, Runqueue, Shares, Sides, WaitPlace, Waits,
};
use klatch_record::{
    Build, CellResult, CellStatus, ChatWorkload, Class, Cost, Duet, DuetEnd, DuetMetric, DuetSide, Estimate,
    InstrumentName, IntervalCounts, Judgement, JudgementStatus, Latency, METRICS, Observation,
    ObservationData, Pacing, PairResult, RatioEstimate, Record, ResultKind, STUDY_SCHEMA_NAME, Score,
    StageCounts, StageScores, Stages, StudyAxis, StudyResult, Support, Timeline, Usage, UsageOfBoth, Warning,
    WarningKind, Workload, WorkloadKind,
};
use klatch_report::{Run, Source};
use klatch_stats::mean_interval;

/// A study without cells.
pub(crate) fn study(name: &str, question: &str) -> Source {
    Source {
        result: Some(StudyResult {
            schema: STUDY_SCHEMA_NAME.into(),
            kind: ResultKind::Measured,
            name: name.into(),
            question: question.into(),
            klatch: Build { version: "0.1.0".into(), ..Build::default() },
            started_at: "2026-01-01T00:00:00Z".into(),
            ended_at: "2026-01-01T01:00:00Z".into(),
            seed: 1,
            options: Default::default(),
            rules: "converge: one trial after one warm-up run, 3 to 10 trials".into(),
            metric: "messages_per_s".into(),
            first_trials: None,
            axes: Vec::new(),
            cells: Vec::new(),
            pairs: Vec::new(),
        }),
        ..Source::empty(name.into())
    }
}

/// Adds a cell with trials of these throughputs.
pub(crate) fn add(study: &mut Source, at: &[(&str, &str)], class: Class, throughputs: &[f64]) {
    let id = at.iter().map(|(_, value)| *value).collect::<Vec<_>>().join("_");
    let result = study.result.as_mut().expect("it is a study");
    for (name, value) in at {
        axis(&mut result.axes, name, value);
    }
    let mut records = Vec::new();
    for (place, throughput) in throughputs.iter().enumerate() {
        let number = place as u32 + 1;
        let minute = study.runs.len();
        let mut record = record(at, number, minute, *throughput);
        record.platform.class = Some(class);
        let file = study.path.join("cells").join(&id).join(format!("block-{number:03}")).join("trial-1.json");
        study.runs.push(Run { record: record.clone(), file, cell: Some(id.clone()) });
        records.push(record);
    }
    let estimate = |of: fn(&Record) -> Option<f64>| {
        let values: Vec<f64> = records.iter().filter_map(of).collect();
        let interval = mean_interval(&values, 0.95).ok();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (low, high) = (interval.map(|interval| interval.low), interval.map(|interval| interval.high));
        (!values.is_empty()).then_some(Estimate { mean, low, high, values })
    };
    result.cells.push(CellResult {
        requirements: Vec::new(),
        id,
        at: at.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        status: CellStatus::Converged,
        verdict: format!("converged after {} trials", throughputs.len()),
        trials: throughputs.len() as u32,
        estimates: METRICS
            .iter()
            .filter(|metric| metric.is_estimated())
            .filter_map(|metric| Some((metric.name.to_owned(), estimate(metric.value?)?)))
            .collect(),
        failures: Vec::new(),
        warnings: Vec::new(),
        search: None,
    });
}

/// Adds a cell that failed with this cause.
pub(crate) fn add_failed(study: &mut Source, at: &[(&str, &str)], cause: &str) {
    add(study, at, Class::Classic, &[]);
    let cell = study.result.as_mut().and_then(|result| result.cells.last_mut()).expect("it was added");
    cell.status = CellStatus::Failed;
    cell.verdict = format!("failed twice: {cause}");
    cell.failures = vec![cause.to_owned(), cause.to_owned()];
}

/// Adds a warning to the first cell.
pub(crate) fn warn(study: &mut Source, message: &str) {
    let cell = study.result.as_mut().and_then(|result| result.cells.first_mut()).expect("it has a cell");
    let (message, advice) = (message.to_owned(), "use a machine of your own".to_owned());
    cell.warnings.push(Warning { kind: WarningKind::Steal, message, advice });
}

fn axis(axes: &mut Vec<StudyAxis>, name: &str, value: &str) {
    let place = axes.iter().position(|axis| axis.name == name).unwrap_or_else(|| {
        axes.push(StudyAxis { name: name.to_owned(), values: Vec::new() });
        axes.len() - 1
    });
    if !axes[place].values.iter().any(|known| known == value) {
        axes[place].values.push(value.to_owned());
    }
}

fn record(at: &[(&str, &str)], number: u32, minute: usize, messages_per_s: f64) -> Record {
    let of = |name: &str| at.iter().find(|(axis, _)| *axis == name).map(|(_, value)| *value);
    let rooms = of("rooms").and_then(|rooms| rooms.parse().ok()).unwrap_or(10);
    let elapsed_s = 400_000.0 / messages_per_s;
    let usage = UsageOfBoth {
        server: Some(usage(1.5 * elapsed_s)),
        crowd: Some(usage(0.3 * elapsed_s)),
        database: None,
    };
    let mut score = Score::new(klatch_record::WorkloadKind::Chat, 20_000, 380_000, elapsed_s, 0.25, &usage);
    score.messages_per_s = messages_per_s;
    let delay = |share: f64| (share * 1e11 / messages_per_s) as u64;
    let latency = Latency::from_counts_ns(&[
        (delay(1.0), 200_000),
        (delay(2.0), 150_000),
        (delay(4.0), 29_000),
        (delay(9.0), 999),
        (delay(40.0), 1),
    ]);
    let mut record = klatch_record::samples::record(number, 0, messages_per_s);
    record.started_at =
        format!("2026-01-{:02}T{:02}:{:02}:00Z", minute / 1440 + 1, minute / 60 % 24, minute % 60);
    record.platform.name = of("platform").unwrap_or("native-epoll").into();
    record.platform.command =
        Some(vec!["klatch".into(), "serve".into(), "--name".into(), "two words".into()]);
    record.workload = record.workload.with_parties(record.workload.start(), rooms);
    record.score = score;
    record.latency = latency.expect("these times fit");
    record.usage = usage;
    record.klatch.version = "0.1.0".into();
    record.crowd.command = vec!["klatch".into(), "crowd".into()];
    let environment = &mut record.environment;
    environment.kernel = "6.18.0".into();
    environment.kernel_build = "#1 SMP".into();
    environment.distribution = Some("Debian GNU/Linux 12".into());
    environment.cpu_model = Some("A CPU".into());
    environment.memory_bytes = Some(16_000_000_000);
    environment.load_1min = Some(0.25);
    environment.steal_share_in_run = Some(0.01);
    environment.limits.open_files = Some(1_048_576);
    environment.limits.threads_max = Some(100_000);
    environment.limits.pid_max = Some(4_194_304);
    environment.limits.max_map_count = Some(65_530);
    record
}

fn usage(cpu_s: f64) -> Usage {
    Usage {
        cpu_s,
        user_s: cpu_s / 4.0,
        system_s: cpu_s * 3.0 / 4.0,
        cpu_us_per_message: cpu_s * 1e6 / 400_000.0,
        user_us_per_message: cpu_s * 1e6 / 1_600_000.0,
        system_us_per_message: cpu_s * 3e6 / 1_600_000.0,
        switches_voluntary: Some(440_000),
        switches_involuntary: Some(20_000),
        switches_per_message: Some(1.15),
        threads: 400,
        memory_peak_bytes: Some(120_000_000),
        gc_s: None,
    }
}

/// Gives every record a timeline of 40 intervals of 250 ms; four intervals of the last trial have no deliveries.
pub(crate) fn time(study: &mut Source) {
    let trials = study.runs.len();
    for (place, run) in study.runs.iter_mut().enumerate() {
        let stalls = place + 1 == trials;
        let latency_ns = (0..40_u64).map(|at| match at {
            10..14 if stalls => Vec::new(),
            14 if stalls => vec![(2_000_000, 800), (1_073_741_824, 50)],
            at => vec![(2_000_000, 900), (4_000_000, 90), (6_000_000 + (at % 4) * 1_000_000, 10)],
        });
        let counts = IntervalCounts { interval_ms: 250, latency_ns: latency_ns.collect() };
        run.record.score.elapsed_s = 9.9;
        run.record.over_time = Some(Timeline::from_counts(&counts).expect("these times fit"));
    }
}

/// Makes every record one of a chat in stages, of which all after the first fall behind.
pub(crate) fn in_stages(study: &mut Source) {
    let stages: Stages = "10s:100,0s:200,20s:400,5s:0".parse().unwrap();
    let chat = ChatWorkload {
        rooms: 1,
        users: 2,
        count: 100_000_000,
        pacing: Pacing::Rate { per_user_per_s: None },
        duration_s: Some(stages.time_s()),
        stages: Some(stages.clone()),
        ..ChatWorkload::default()
    };
    for (number, run) in (1..).zip(&mut study.runs) {
        let counts = [(1_000, 1_000, 1), (0, 0, 0), (12_000, 8_700 + number, 900), (2_000, 400, 1_500)];
        let counts = counts.map(|(intended, in_time, ms)| StageCounts {
            intended,
            in_time,
            latency_ns: vec![(ms * 1_000_000, intended)],
        });
        run.record.workload = Workload::Chat(chat.clone());
        run.record.stages = StageScores::from_counts(&stages, &counts).unwrap();
    }
}

/// Gives every record observations, and a file of stacks beside it.
pub(crate) fn observe(study: &mut Source, folder: &Path, stacks: &str) {
    for run in &mut study.runs {
        run.file = folder.join(&run.file);
        let beside = run.file.parent().expect("it is in a folder").to_owned();
        std::fs::create_dir_all(&beside).expect("the folder can be written to");
        std::fs::write(beside.join("trial-1.folded"), stacks).expect("the folder can be written to");
        let routine =
            |name: &str, samples| Routine { name: name.into(), samples, share: samples as f64 / 1000.0 };
        let machine = ProfiledSide {
            top_data: Vec::new(),
            synchronization: None,
            samples: 1000,
            kernel: 0.62,
            inclusive: Shares { scheduler: 0.31, wake_up: 0.22, network: 0.4, locks: 0.1, copy: 0.02 },
            top_self: vec![routine("finish_task_switch", 130), routine("tcp_sendmsg_locked", 90)],
        };
        let side = |samples| ProfiledSide { samples, ..machine.clone() };
        let sides = Sides { server: Some(side(600)), crowd: Some(side(200)) };
        let profile = Profile {
            frequency_hz: Some(499),
            events_per_sample: None,
            samples: 1000,
            stacks_lost: 0,
            machine,
            sides,
        };
        let lengths = Lengths { decisions: 1000, mean: 3.0, sd: 2.0, max: 40 };
        let runqueue = Runqueue {
            all: lengths,
            cpus: vec![lengths],
            lengths: (1..=40)
                .map(|length| LengthCount { length, decisions: 2_000 / (length * length + 1) })
                .collect(),
            over_time: (0..30)
                .map(|at| LengthMoment { at_s: f64::from(at) / 10.0, decisions: 33, mean: 3.0, max: 9 })
                .collect(),
        };
        let by_length = (1..=20)
            .map(|at| CostRow {
                length_min: at * 2,
                length_max: at * 2 + 1,
                decisions: 500 / at + 30,
                median_ns: 1_000.0 + 12.0 * at as f64,
                mean_ns: 1_100.0,
            })
            .collect();
        let fit = Some(CostFit {
            ns_per_task: 6.0,
            ns_per_task_low: 5.5,
            ns_per_task_high: 6.5,
            ns_at_zero: 1_000.0,
            r2: Some(0.98),
            points: 20,
        });
        let all_ns = Distribution { count: 5_000, mean: 1_100.0, ..Distribution::default() };
        let cost = CostByLength { all_ns, by_length, fit };
        let decision = Decision { decision: cost.clone(), whole: cost, share_of_cpus: 0.1 };
        let place = |method: &str, monitor: Option<&str>, wait_s| {
            let (method, monitor) = (method.to_owned(), monitor.map(str::to_owned));
            WaitPlace { method, monitor, count: 10, wait_s }
        };
        let waits = |place| Waits { count: 10, wait_s: 0.5, max_ms: 90.0, places: vec![place] };
        let server = JavaWaitsSide {
            threshold_us: 100,
            monitors: waits(place("org.klatch.server.SendQueue.add", Some("org.klatch.chat.Room"), 0.4)),
            pinned: waits(place("java.lang.VirtualThread.park", None, 0.1)),
        };
        let java = Sides { server: Some(server), crowd: None };
        let files = vec!["trial-1.folded".to_owned()];
        run.record.observations = vec![
            seen(InstrumentName::Profile, ObservationData::Profile(profile), files),
            seen(InstrumentName::Runqueue, ObservationData::Runqueue(runqueue), Vec::new()),
            seen(InstrumentName::Decision, ObservationData::Decision(decision), Vec::new()),
            seen(InstrumentName::Jfr, ObservationData::Jfr(java), Vec::new()),
        ];
    }
}

fn seen(instrument: InstrumentName, found: ObservationData, files: Vec<String>) -> Observation {
    Observation {
        share_of_time: None,
        instrument,
        support: Support::Usable { base: "BPF".into() },
        failure: None,
        cost: Some(Cost { cpu_s: 0.1, runs: 1000, share_of_cpu: Some(0.012), memory_bytes: 1_000_000 }),
        data: Some(found),
        files,
    }
}

/// A duet of two variants of a server; the ratio of its server CPU time has this interval.
pub(crate) fn duet(names: [&str; 2], low: f64, high: f64) -> Duet {
    let side = |name: &str| DuetSide {
        name: name.to_owned(),
        platform: "jetty@25".to_owned(),
        crowd: "native".to_owned(),
    };
    let metric = |name: &str, (low, high): (f64, f64)| DuetMetric {
        metric: name.to_owned(),
        a: Some(100.0),
        b: Some(100.0 * f64::sqrt(low * high)),
        ratio: Some(RatioEstimate { estimate: f64::sqrt(low * high), low, high, smallest_difference: 0.09 }),
        absent: None,
        starts: vec![f64::sqrt(low * high); 3],
        within_start: Some(0.01),
        between_starts: Some(0.012),
    };
    Duet {
        schema: klatch_record::DUET_SCHEMA_NAME.to_owned(),
        klatch: klatch_record::samples::record(1, 0, 1.0).klatch,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        a: side(names[0]),
        b: side(names[1]),
        workload: WorkloadKind::Web.usual(),
        slice_ms: 50.0,
        together: false,
        confidence: 0.95,
        seed: 1,
        starts: Vec::new(),
        metrics: vec![
            metric("messages_per_s", (0.97, 1.05)),
            metric("server_cpu_us_per_message", (low, high)),
            metric("latency_p99_us", (2.4, 2.6)),
        ],
        explanation: None,
        unexplained: None,
        exact: None,
        uncounted: None,
        requirements: vec![Judgement {
            requirement: "B/A server_cpu_us <= 1.02".into(),
            status: JudgementStatus::Met,
            metric: "server_cpu_us_per_message".into(),
            is_ratio: true,
            value: Some(0.81),
            low: Some(0.79),
            high: Some(0.83),
            limit: 1.02,
            trials: 5,
            trials_needed: None,
            reason: None,
        }],
        end: DuetEnd::Complete,
    }
}

/// Adds the comparison of a cell with a reference; the ratio of its server CPU time has this interval.
pub(crate) fn add_pair(study: &mut Source, reference: &str, id: &str, (low, high): (f64, f64)) {
    let Duet { metrics, confidence, .. } = duet(["base", "change"], low, high);
    let pair = PairResult {
        a: reference.to_owned(),
        b: id.to_owned(),
        starts: 3,
        slices: 400,
        confidence,
        metrics,
        requirements: Vec::new(),
        failures: Vec::new(),
    };
    study.result.as_mut().expect("it is a study").pairs.push(pair);
}
