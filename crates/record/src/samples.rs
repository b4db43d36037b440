//! Records for the tests of several crates, under the feature `samples`.

use crate::{
    Build, ChatWorkload, Checks, Class, CrowdInfo, CrowdProgram, Environment, Limits, Noise, Pacing,
    Platform, ProtocolName, Record, Results, Role, RunOptions, SCHEMA_NAME, Score, Shard, Status, Transport,
    Usage, UsageOfBoth, Verdict, Workload, WorkloadKind,
};

/// A valid trial with this throughput that began in this minute.
pub fn record(number: u32, minute: u32, messages_per_s: f64) -> Record {
    Record {
        schema: SCHEMA_NAME.into(),
        klatch: Build {
            version: "0".into(),
            commit: Some("c0ffee".into()),
            profile: Some("release".into()),
            ..Build::default()
        },
        started_at: format!("2026-01-01T00:{minute:02}:00Z"),
        role: Role::Trial,
        number,
        platform: Platform {
            name: "x".into(),
            class: Some(Class::Classic),
            protocol: ProtocolName::Irc,
            transport: Transport::Plain,
            knobs: [].into(),
            version: None,
            address: "127.0.0.1:1".into(),
            servers: 1,
            start_s: None,
            chosen_because: None,
            command: None,
            environment: [].into(),
            io: None,
            runtime: None,
            database: None,
        },
        crowd: CrowdInfo { kind: CrowdProgram::Native, knobs: [].into(), command: Vec::new(), runtime: None },
        workload: Workload::Chat(ChatWorkload {
            rooms: 10,
            users: 20,
            count: 100,
            size_bytes: 60,
            start: 1,
            pacing: Pacing::Turns,
            pause_s: 0.0,
            churn_per_user_per_s: 0.0,
            duration_s: None,
            stages: None,
            arrivals: crate::Arrivals::Even,
            mqtt: crate::MqttSettings::default(),
        }),
        options: Some(RunOptions::default()),
        operations: None,
        results: Results::default(),
        audit: None,
        verdict: Verdict { status: Status::Valid, reasons: Vec::new() },
        warnings: Vec::new(),
        score: Score {
            sent: 20_000,
            received: 380_000,
            total: 400_000,
            elapsed_s: 400_000.0 / messages_per_s,
            messages_per_s,
            cpu_us_per_message: None,
            switches_per_message: None,
            cores_obtained: None,
            join_s: 0.1,
        },
        latency: None,
        send_lag: None,
        over_time: None,
        stages: None,
        checks: Checks {
            lost: 0,
            unsent: 0,
            duplicated: 0,
            reordered: 0,
            corrupted: 0,
            unexpected: 0,
            wrong: 0,
            faults: Vec::new(),
            strangers: Vec::new(),
            failure: None,
            finished: false,
        },
        usage: UsageOfBoth { server: None, crowd: None, database: None },
        observations: Vec::new(),
        joining: None,
        environment: Environment {
            kernel: "6".into(),
            kernel_build: "#1".into(),
            architecture: "x86_64".into(),
            distribution: Some("Debian GNU/Linux 12".into()),
            cpu_model: Some("a CPU".into()),
            cpus: 2,
            cpu_quota: None,
            memory_bytes: Some(8_000_000_000),
            load_1min: None,
            steal_share_since_boot: None,
            steal_share_in_run: None,
            others_share_in_run: None,
            throttled_in_run_s: None,
            cpu_mhz_in_run: None,
            noise: None,
            settings: [("smt".to_owned(), "on".to_owned())].into(),
            variables: Default::default(),
            sysctls: Default::default(),
            scheduler: None,
            sched_ext: None,
            limits: Limits {
                open_files: None,
                user_processes: None,
                threads_max: None,
                pid_max: None,
                max_map_count: None,
            },
            instruments: Vec::new(),
        },
        shards: Vec::new(),
    }
}

/// A native crowd of one event loop with the first 10 rooms.
pub fn shard() -> Shard {
    Shard {
        workload: WorkloadKind::Chat,
        start: 1,
        rooms: 10,
        host: None,
        klatch: None,
        address: "127.0.0.1:1".into(),
        addresses: Vec::new(),
        request: None,
        command: Vec::new(),
        gate: None,
        gate_run: None,
        tls: None,
        mqtt_version: None,
        loops: Some(1),
        opened: None,
        elapsed_s: 1.0,
        gaps: Vec::new(),
        total: 400_000,
        reasons: Vec::new(),
        warnings: Vec::new(),
        database: None,
        usage: None,
        environment: None,
    }
}

/// What a process with one thread used that needed so much CPU time.
pub fn usage(cpu_s: f64) -> Usage {
    Usage {
        cpu_s,
        user_s: cpu_s,
        system_s: 0.0,
        cpu_us_per_message: cpu_s * 1e6 / 400_000.0,
        user_us_per_message: cpu_s * 1e6 / 400_000.0,
        system_us_per_message: 0.0,
        switches_voluntary: Some(0),
        switches_involuntary: Some(0),
        switches_per_message: Some(0.0),
        threads: 1,
        memory_peak_bytes: Some(1),
        gc_s: None,
    }
}

/// Two starts of the server differ by this part at most.
pub fn noise(part: f64) -> Noise {
    Noise {
        measured_at: "2026-01-01T00:00:00Z".into(),
        platform: "x".into(),
        starts: 20,
        between_starts: [("messages_per_s".to_owned(), part)].into(),
    }
}
