//! Checks a plan before anything starts.

use klatch_platforms::{CapacityError, Side, check_capacity};
use klatch_record::{
    CONNECTIONS_PER_SOURCE, ChatWorkload, ProtocolName, Subprotocol, Transport, Workload, WorkloadKind,
};
use klatch_schedulers::SchedulerError;

use crate::conflict::Conflict;
use crate::crowd_command::crowd_knobs;
use crate::error::RunError;
use crate::plan::{CrowdKind, Plan, PlatformPlan, Subject, TargetPlan};
use crate::resolved::{CheckedPlan, ResolvedSubject};

/// Resolves what a plan measures. Rejects every plan that is known to be impossible.
///
/// # Errors
/// The plan cannot run on this machine, or needs something that is not installed.
pub fn check_plan(plan: &Plan) -> Result<CheckedPlan<'_>, RunError> {
    plan.workload.check()?;
    check_split(plan)?;
    crowd_knobs(plan)?;
    let subject = ResolvedSubject::of(plan)?;
    let workload = plan.workload.kind();
    if plan.crowd == CrowdKind::Java && workload != WorkloadKind::Chat {
        return Err(RunError::CrowdWorkload { workload });
    }
    let (protocol, transport) = match &subject {
        ResolvedSubject::Platform(_, platform) => (platform.protocol(), platform.transport),
        ResolvedSubject::Target(TargetPlan { target, .. }) => {
            (target.endpoint.protocol, target.endpoint.transport())
        }
    };
    if !protocol.carries(workload) {
        return Err(RunError::Protocol { protocol, workload });
    }
    if !transport.carries(protocol, workload) {
        return Err(RunError::Transport { transport, protocol, workload });
    }
    if plan.crowd == CrowdKind::Java && protocol != ProtocolName::Irc {
        return Err(RunError::CrowdProtocol { protocol });
    }
    if let Subject::Platform(own) = &plan.subject {
        check_transport(plan, own, transport)?;
    }
    let (has_root, server) = match &subject {
        ResolvedSubject::Target(TargetPlan { target, .. }) => {
            (target.context_root().is_some(), Some(&target.endpoint))
        }
        ResolvedSubject::Platform(..) => (false, None),
    };
    let connecting = plan.subject.connecting();
    let asks = plan.workload.has_url();
    let is_of_mqtt = plan.workload.chat().is_some_and(|chat| !chat.mqtt.is_usual());
    let churns = plan.workload.chat().is_some_and(ChatWorkload::has_churn);
    first_conflict([
        (
            has_root && !matches!(workload, WorkloadKind::Trade | WorkloadKind::Rr),
            Conflict::ContextRootAndWorkload,
        ),
        (connecting.has_tls() && !transport.has_tls(), Conflict::TlsSettingsAndTransport),
        (
            connecting.certificate.is_some() && plan.subject.platform().is_some(),
            Conflict::CertificateAndPlatform,
        ),
        (!connecting.is_usual() && plan.crowd == CrowdKind::Java, Conflict::ConnectingAndCrowd),
        (asks && protocol != ProtocolName::Http, Conflict::UrlAndProtocol),
        (asks && plan.crowd != CrowdKind::Native, Conflict::UrlAndCrowd),
        (is_of_mqtt && protocol != ProtocolName::Mqtt, Conflict::MqttAndProtocol),
        (churns && plan.crowd != CrowdKind::Native, Conflict::ChurnAndCrowd),
        (plan.login().is_some() && plan.crowd == CrowdKind::Java, Conflict::LoginAndCrowd),
    ])?;
    plan.workload.request_parts(&plan.header_values, server)?;
    if plan.scheduler.is_some() && klatch_schedulers::sched_ext_state().is_none() {
        return Err(SchedulerError::NoSchedExt.into());
    }
    check_needs(plan, &subject)?;
    Ok(CheckedPlan { plan, subject })
}

/// Rejects options that the transport of a platform does not have, or that it cannot have.
fn check_transport(plan: &Plan, own: &PlatformPlan, transport: Transport) -> Result<(), Conflict> {
    first_conflict([
        (
            own.subprotocol != Subprotocol::Usual && !transport.has_websocket(),
            Conflict::SubprotocolAndTransport,
        ),
        (transport.has_tls() && !plan.remote.hosts.is_empty(), Conflict::HostsAndCertificate),
    ])
}

/// The first of these conflicts that applies, as an error.
fn first_conflict<const N: usize>(conflicts: [(bool, Conflict); N]) -> Result<(), Conflict> {
    match conflicts.into_iter().find(|(applies, _)| *applies) {
        Some((_, conflict)) => Err(conflict),
        None => Ok(()),
    }
}

/// Refuses a plan if its parties cannot be split among its servers, shards and hosts.
fn check_split(plan: &Plan) -> Result<(), RunError> {
    let (shards, parties) = (plan.crowd_processes(), plan.workload.parties());
    if parties < shards {
        let party = plan.workload.kind().party_name();
        return Err(RunError::TooFewParties { shards, parties, party });
    }
    let remote = !plan.remote.hosts.is_empty();
    let reads = !plan.workload.kind().has_server();
    let (own, servers) = (plan.subject.platform(), plan.subject.servers());
    first_conflict([
        (reads && own.is_none(), Conflict::ReadersAndTarget),
        (reads && plan.crowd != CrowdKind::Native, Conflict::ReadersAndCrowd),
        (reads && !plan.crowd_settings.is_empty(), Conflict::ReadersAndCrowdKnobs),
        (reads && remote, Conflict::ReadersAndHosts),
        (reads && servers > 1, Conflict::ReadersAndServers),
        (remote && plan.workload.kind().has_database(), Conflict::LedgersAndHosts),
        (remote && plan.crowd == CrowdKind::Java, Conflict::JavaCrowdAndHosts),
        (remote && !plan.crowd_settings.is_empty(), Conflict::CrowdKnobsAndHosts),
        (remote && own.is_some_and(|own| own.listen.is_loopback()), Conflict::HostsAndLoopback),
    ])?;
    Ok(())
}

/// Refuses a plan that needs more threads, files or memory than this machine has. A run would fail only later.
fn check_needs(plan: &Plan, subject: &ResolvedSubject<'_>) -> Result<(), CapacityError> {
    let servers = plan.subject.servers();
    let connections = |processes: u32| {
        let parties = plan.workload.parties().div_ceil(processes);
        plan.workload.with_parties(plan.workload.start(), parties).connections()
    };
    if let (Workload::Files(files), Some(platform)) = (&plan.workload, subject.platform()) {
        let side = platform.side(u64::from(plan.shards), connections(plan.shards));
        return check_capacity(&[side.with_memory_mib(files.bytes() >> 20)], 0);
    }
    let mut sides = Vec::new();
    if let Some(platform) = subject.platform() {
        sides.push(platform.side(u64::from(servers), connections(servers)));
    }
    let local = plan.remote.hosts.is_empty();
    if local {
        let (processes, each) = (u64::from(plan.crowd_processes()), connections(plan.crowd_processes()));
        sides.push(match plan.crowd {
            CrowdKind::Native => Side::for_native_crowd(processes, each),
            CrowdKind::NativeThreads => Side::for_threads_crowd(processes, each),
            CrowdKind::Java => Side::for_java_crowd(&plan.crowd_settings, processes, each),
        });
    }
    // A native crowd connects from another loopback address once one has this many connections.
    let per_address = match plan.crowd {
        CrowdKind::Native | CrowdKind::NativeThreads
            if plan.subject.platform().is_some_and(|own| own.listen.is_loopback()) =>
        {
            u64::from(CONNECTIONS_PER_SOURCE)
        }
        _ => u64::MAX,
    };
    check_capacity(&sides, if local { connections(servers).min(per_address) } else { 0 })
}
