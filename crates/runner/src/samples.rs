//! Records for the tests of other crates, under the feature `samples`.

use std::net::SocketAddr;

use klatch_record::{Authorities, Record, samples};

use crate::crowd_command::{CrowdAssignment, CrowdCommand};
use crate::description::{Instance, describe_external, describe_platform, name_and_value};
use crate::error::RunError;
use crate::plan::{Plan, TargetPlan};
use crate::resolved::ResolvedSubject;
use crate::run_options::run_options;
use crate::session::workload_for;
use crate::started::crowd_java;

/// The record of a trial of this plan with an invented result. Nothing is started.
///
/// # Errors
/// The platform or a knob of the plan does not exist.
pub fn record_of(plan: &Plan) -> Result<Record, RunError> {
    let subject = ResolvedSubject::of(plan)?;
    let workload = workload_for(plan, &subject);
    let crowd_java = crowd_java(plan, &subject)?;
    let (server, platform) = match &subject {
        ResolvedSubject::Platform(own, platform) => {
            let local = SocketAddr::from(([127, 0, 0, 1], 1));
            let instance = Instance {
                variables: [].into(),
                address: local.to_string(),
                class: None,
                command: vec![platform.name.clone()],
                servers: own.servers,
                start_s: None,
                io: None,
                vm: None,
            };
            let server = own.endpoint(&platform.endpoint(local, Authorities::System));
            (server, describe_platform(platform, instance))
        }
        ResolvedSubject::Target(TargetPlan { target, .. }) => {
            (target.endpoint.clone(), describe_external(&target.endpoint))
        }
    };
    let assignment =
        CrowdAssignment { workload: workload.clone(), server, host: plan.remote.host(0), ledger: None };
    let crowd = CrowdCommand::new(plan, assignment, crowd_java.as_ref())?;
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
