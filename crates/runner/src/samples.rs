//! Records for the tests of other crates, under the feature `samples`.

use klatch_platforms::{PlatformRequest, resolve};
use klatch_record::{Platform, Record, samples};

use crate::carrier::Carrier;
use crate::crowd_command::{CrowdAssignment, CrowdCommand};
use crate::description::{Started, describe_platform, name_and_value};
use crate::error::RunError;
use crate::plan::Plan;
use crate::run_options::run_options;
use crate::session::{crowd_java, workload_for};

/// The record of a trial of this plan with an invented result. Nothing is started.
///
/// # Errors
/// The platform or a knob of the plan does not exist.
pub fn record_of(plan: &Plan) -> Result<Record, RunError> {
    let request = PlatformRequest { workload: plan.workload.clone(), ..plan.platform.clone() };
    let platform = plan.target.is_none().then(|| resolve(&request)).transpose()?;
    let workload = workload_for(plan, platform.as_ref());
    let carrier = Carrier::new(plan, platform.as_ref(), None);
    let crowd_java = crowd_java(plan, platform.as_ref())?;
    let (host, port) =
        plan.target.as_ref().map_or(("127.0.0.1", 1), |target| (target.host.as_str(), target.port));
    let assignment =
        CrowdAssignment { workload: workload.clone(), server: (host, port), host: plan.remote.host(0) };
    let crowd = CrowdCommand::new(plan, &carrier, assignment, crowd_java.as_ref())?;
    let started = Started {
        address: crowd.address.clone(),
        class: None,
        command: platform.as_ref().map(|platform| vec![platform.name.clone()]),
        servers: plan.servers,
        start_s: None,
    };
    let described: Platform = describe_platform(platform.as_ref(), &carrier, started);
    let mut record = Record {
        platform: described,
        crowd: crowd.info,
        workload,
        options: Some(run_options(plan)),
        ..samples::record(1, 0, 1_000.0)
    };
    record.environment.sysctls = plan.sysctls.iter().map(name_and_value).collect();
    Ok(record)
}
