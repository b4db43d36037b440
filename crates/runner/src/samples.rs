//! Records for the tests of other crates, under the feature `samples`.

use klatch_record::{Record, samples};

use crate::carrier::Carrier;
use crate::crowd_command::{CrowdAssignment, CrowdCommand};
use crate::description::{Started, describe_external, describe_platform, name_and_value};
use crate::error::RunError;
use crate::plan::{Plan, Subject, TargetPlan};
use crate::resolved::ResolvedSubject;
use crate::run_options::run_options;
use crate::session::{crowd_java, workload_for};

/// The record of a trial of this plan with an invented result. Nothing is started.
///
/// # Errors
/// The platform or a knob of the plan does not exist.
pub fn record_of(plan: &Plan) -> Result<Record, RunError> {
    let subject = ResolvedSubject::of(plan)?;
    let workload = workload_for(plan, &subject);
    let carrier = Carrier::new(plan, &subject, None);
    let crowd_java = crowd_java(plan, &subject)?;
    let (host, port) = match &plan.subject {
        Subject::Platform(_) => ("127.0.0.1", 1),
        Subject::Target(TargetPlan { target, .. }) => (target.host.as_str(), target.port),
    };
    let assignment =
        CrowdAssignment { workload: workload.clone(), server: (host, port), host: plan.remote.host(0) };
    let crowd = CrowdCommand::new(plan, &carrier, assignment, crowd_java.as_ref())?;
    let address = crowd.address.clone();
    let platform = match &subject {
        ResolvedSubject::Platform(own, platform) => {
            let command = vec![platform.name.clone()];
            let started = Started { address, class: None, command, servers: own.servers, start_s: None };
            describe_platform(platform, started)
        }
        ResolvedSubject::Target(TargetPlan { target, .. }) => {
            describe_external(target.protocol, target.transport, address)
        }
    };
    let mut record = Record {
        platform,
        crowd: crowd.info,
        workload,
        options: Some(run_options(plan)),
        ..samples::record(1, 0, 1_000.0)
    };
    record.environment.sysctls = plan.sysctls.iter().map(name_and_value).collect();
    Ok(record)
}
