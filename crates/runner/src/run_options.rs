//! The options of a plan as its records hold them.

use std::path::PathBuf;

use klatch_record::{Authorities, RemoteOptions, RunOptions, Subprotocol};

use crate::plan::{Plan, PlatformPlan, Subject, TargetPlan};

/// What a plan asks for beside platform, crowd, workload and sysctls.
pub(crate) fn run_options(plan: &Plan) -> RunOptions {
    // Every field of a plan is named, so that a new one is not forgotten here.
    let Plan {
        subject,
        label,
        crowd: _,
        crowd_settings: _,
        sysctls: _,
        scheduler,
        workload: _,
        header_values: _,
        shards,
        remote,
        instruments,
        warmups,
        warmup,
        trials,
        require,
        out: _,
        timeout,
        connect_timeout,
        crowd_loops,
        seed,
        build: _,
    } = plan;
    let remote = (!remote.hosts.is_empty()).then(|| RemoteOptions {
        hosts: remote.hosts.clone(),
        reach: remote.reach.to_string(),
        program: remote.program.clone(),
    });
    RunOptions {
        label: label.clone(),
        scheduler: scheduler.as_ref().map(ToString::to_string),
        instruments: instruments.clone(),
        shards: *shards,
        remote,
        crowd_loops: *crowd_loops as u32,
        seed: *seed,
        warmups: *warmups,
        warmup_s: warmup.map(|warmup| warmup.as_secs_f64()),
        trials: *trials,
        require: require.iter().map(ToString::to_string).collect(),
        timeout_s: timeout.as_secs_f64(),
        connect_timeout_s: connect_timeout.as_secs_f64(),
        ..subject_options(subject)
    }
}

/// The options of the subject alone; all others are the defaults.
fn subject_options(subject: &Subject) -> RunOptions {
    let path = |path: &PathBuf| path.display().to_string();
    let word = |subprotocol: &Subprotocol| subprotocol.word().map(str::to_owned);
    match subject {
        Subject::Platform(PlatformPlan {
            request,
            servers,
            listen,
            ready_timeout,
            subprotocol,
            connecting,
        }) => RunOptions {
            catalog: request.catalog.as_ref().map(path),
            subprotocol: word(subprotocol),
            connecting: connecting.clone(),
            servers: *servers,
            listen: listen.to_string(),
            ready_timeout_s: ready_timeout.as_secs_f64(),
            ..RunOptions::default()
        },
        Subject::Target(TargetPlan { target, java: _ }) => RunOptions {
            target: Some(target.url()),
            connecting: target.endpoint.connecting.clone(),
            ca: target.endpoint.tls.as_ref().and_then(Authorities::file).map(path),
            subprotocol: target
                .endpoint
                .websocket
                .as_ref()
                .and_then(|websocket| word(&websocket.subprotocol)),
            ..RunOptions::default()
        },
    }
}
