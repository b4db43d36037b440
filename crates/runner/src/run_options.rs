//! The options of a plan as its records hold them.

use klatch_record::{RemoteOptions, RunOptions};

use crate::plan::Plan;

/// What a plan asks for beside platform, crowd, workload and sysctls.
pub(crate) fn run_options(plan: &Plan) -> RunOptions {
    // Every field of a plan is named, so that a new one is not forgotten here.
    let Plan {
        platform,
        target,
        crowd: _,
        crowd_settings: _,
        sysctls: _,
        scheduler,
        workload: _,
        shards,
        servers,
        listen,
        remote,
        instruments,
        warmups,
        trials,
        out: _,
        ready_timeout,
        timeout,
        connect_timeout,
        subprotocol,
        ca,
        crowd_loops,
        seed,
        build: _,
    } = plan;
    let remote = (!remote.hosts.is_empty()).then(|| RemoteOptions {
        hosts: remote.hosts.clone(),
        reach: remote.reach.to_string(),
        program: remote.program.clone(),
    });
    let path = |path: &std::path::PathBuf| path.display().to_string();
    RunOptions {
        target: target.as_ref().map(|target| target.url()),
        ca: ca.as_ref().map(path),
        catalog: platform.catalog.as_ref().map(path),
        subprotocol: subprotocol.clone(),
        scheduler: scheduler.as_ref().map(ToString::to_string),
        instruments: instruments.clone(),
        servers: *servers,
        shards: *shards,
        listen: listen.to_string(),
        remote,
        crowd_loops: *crowd_loops as u32,
        seed: *seed,
        warmups: *warmups,
        trials: *trials,
        ready_timeout_s: ready_timeout.as_secs_f64(),
        timeout_s: timeout.as_secs_f64(),
        connect_timeout_s: connect_timeout.as_secs_f64(),
    }
}
