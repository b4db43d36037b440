//! Whether a score counts, and warnings that need data from outside the record.

use klatch_record::{
    Build, CROWD_FROZEN_MIN_S, Cause, CrowdGap, CrowdResult, Environment, FaultKind, Latency, Reason,
    Verdict, Warning, WarningKind,
};

/// A machine is busy above this share of CPU time used by other programs.
const OTHERS_SHARE_MAX: f64 = 0.05;
/// A machine is busy above this load average per CPU at the start, where that share is unknown.
const BUSY_LOAD_PER_CPU: f64 = 0.5;
/// Share of CPU time given to other guests above which there is a warning.
const STEAL_SHARE_MAX: f64 = 0.01;
/// Time for which a CPU quota held processes back above which there is a warning, all CPUs together, seconds.
const THROTTLED_S_MAX: f64 = 0.1;
/// Send lag of a crowd (99th percentile, µs) above which there is a warning, if it is also a tenth of the latency.
const LAG_P99_MAX_US: f64 = 1_000.0;

/// Most wrong replies that a reason shows.
const WRONG_SHOWN_MAX: usize = 3;

/// The verdict on the result of a crowd: every failure and every kind of fault is a reason.
pub fn judge(result: &CrowdResult) -> Verdict {
    let failure = result.failure.iter().map(ToString::to_string);
    let counts = [
        (FaultKind::Lost, result.lost),
        (FaultKind::Unsent, result.unsent),
        (FaultKind::Duplicated, result.duplicated),
        (FaultKind::Reordered, result.reordered),
        (FaultKind::Corrupted, result.corrupted),
        (FaultKind::Unexpected, result.unexpected),
        (FaultKind::Wrong, result.wrong),
    ];
    // Chat has no counts by party.
    let unit_received = if result.results.parties().is_some() { "reply" } else { "delivery" };
    let faults = counts.into_iter().filter(|(_, count)| *count > 0).map(|(kind, count)| {
        let (unit, what) = match kind {
            FaultKind::Lost => (unit_received, "lost"),
            FaultKind::Unsent => ("message", "never sent"),
            FaultKind::Duplicated => (unit_received, "duplicated"),
            FaultKind::Reordered => (unit_received, "reordered"),
            FaultKind::Corrupted => (unit_received, "corrupted"),
            FaultKind::Unexpected => (unit_received, "without a request"),
            FaultKind::Wrong => (unit_received, "wrong"),
        };
        let unit = if count == 1 { unit.to_owned() } else { plural(unit) };
        // What came in place of what was expected differs from reply to reply.
        let most = if kind == FaultKind::Wrong { WRONG_SHOWN_MAX } else { 1 };
        let examples = result.faults.iter().filter(|fault| fault.kind == kind).take(most);
        let examples = examples.map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let first = if examples.is_empty() { "" } else { "; first, " };
        format!("{count} {unit} {what}{first}{examples}")
    });
    let open = match result.results.repeated_and_open().1 {
        0 => None,
        1 => Some("1 handshake of a message was not complete at the end".to_owned()),
        count => Some(format!("{count} handshakes of messages were not complete at the end")),
    };
    let reasons = failure.chain(faults).chain(open);
    Verdict::from_reasons(reasons.map(|message| Reason::new(Cause::Crowd, message)).collect())
}

fn plural(unit: &str) -> String {
    unit.strip_suffix('y').map_or_else(|| format!("{unit}s"), |stem| format!("{stem}ies"))
}

/// Warnings about the crowd of a score.
pub(crate) fn crowd_warnings(
    result: &CrowdResult,
    latency: Option<&Latency>,
    send_lag: Option<&Latency>,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn =
        |kind, message, advice: &str| warnings.push(Warning { kind, message, advice: advice.to_owned() });
    for stranger in &result.strangers {
        let message = format!(
            "a stranger, {}, was in room {} and sent {} messages; the score leaves out what they sent and received",
            stranger.nick, stranger.room, stranger.messages
        );
        warn(WarningKind::Stranger, message, "repeat the run without them before you compare its score");
    }
    if let Some(message) = frozen(&result.gaps) {
        let advice = "what was late or silent then is not the server's: stop what else uses the CPUs, raise the crowd's CPU limit, and repeat";
        warn(WarningKind::CrowdFrozen, message, advice);
    }
    if let (Some(lag), Some(latency)) = (send_lag, latency)
        && lag.p99_us > LAG_P99_MAX_US.max(latency.p99_us / 10.0)
    {
        let message = format!("the crowd sent {:.1} ms late at the 99th percentile", lag.p99_us / 1e3);
        warn(
            WarningKind::CrowdLate,
            message,
            "latencies include its own delay: lower the rate, or give it more CPU",
        );
    }
    warnings
}

/// The times in which a crowd was frozen, in words; `None` if there was none.
fn frozen(gaps: &[CrowdGap]) -> Option<String> {
    let gaps: Vec<&CrowdGap> = gaps.iter().filter(|gap| gap.length_s() >= CROWD_FROZEN_MIN_S).collect();
    let longest = gaps.iter().max_by(|one, other| one.length_s().total_cmp(&other.length_s()))?;
    let sum_s: f64 = gaps.iter().map(|gap| gap.length_s()).sum();
    let when = format!("from {:.2} to {:.2} s", longest.from_s, longest.to_s);
    Some(match gaps.len() {
        1 => format!("the crowd itself did not run for {sum_s:.2} s of the run, {when}"),
        times => format!(
            "the crowd itself did not run for {sum_s:.2} s of the run, in {times} times, the longest {when}"
        ),
    })
}

/// Warns if a host ran its crowd with another Klatch than `own`, or with one that does not say which it is.
pub(crate) fn other_build(own: &Build, of_host: Option<&Build>, host: Option<&str>) -> Option<Warning> {
    let host = host.unwrap_or("another machine");
    let message = match of_host {
        None => format!(
            "the Klatch on {host} does not say which build it is, so it is an older one; this one is {own}"
        ),
        Some(build) if build == own && build.differs_from(own) => {
            format!("the Klatch on {host} may be another build than this one: both are {own}")
        }
        Some(build) if build != own => {
            format!("the Klatch on {host} is another build: {build}; this one is {own}")
        }
        Some(_) => return None,
    };
    let advice = "install the same package on all hosts, or set the path of the program on the hosts";
    Some(Warning { kind: WarningKind::OtherBuild, message, advice: advice.to_owned() })
}

/// Warnings about the machine of a score.
pub(crate) fn machine_warnings(environment: &Environment) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn =
        |kind, message, advice: &str| warnings.push(Warning { kind, message, advice: advice.to_owned() });
    // The load average includes the run before this one, so it is only the fallback.
    let throttled_s = environment.throttled_in_run_s.filter(|throttled_s| *throttled_s > THROTTLED_S_MAX);
    if let (Some(throttled_s), Some(quota)) = (throttled_s, environment.cpu_quota) {
        let message =
            format!("the CPU quota of {quota:.2} CPUs held server and crowd back for {throttled_s:.1} s");
        warn(
            WarningKind::Throttled,
            message,
            "raise the quota (cpu.max of the control group, or the CPU limit of the container), or compare only runs with the same one",
        );
    }
    let busy = match (environment.others_share_in_run, environment.load_1min) {
        (Some(share), _) => (share > OTHERS_SHARE_MAX)
            .then(|| format!("other programs used {:.1} % of the CPU time", share * 100.0)),
        // Processes that a quota holds back are part of the load.
        (None, Some(load))
            if throttled_s.is_none() && load > BUSY_LOAD_PER_CPU * environment.usable_cpus() =>
        {
            Some(format!("the load average was {load:.2} on {} CPUs at the start", environment.cpus))
        }
        _ => None,
    };
    if let Some(message) = busy {
        warn(WarningKind::MachineBusy, message, "stop other programs, or compare CPU µs per message instead");
    }
    if let Some(steal) = environment.steal_share_in_run.filter(|steal| *steal > STEAL_SHARE_MAX) {
        let message = format!("the hypervisor gave {:.1} % of the CPU time to others", steal * 100.0);
        warn(WarningKind::Steal, message, "compare CPU µs per message, or use a machine of your own");
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::record as sample;
    use klatch_record::{Failure, FailureKind, Fault, Status};

    #[test]
    fn the_load_average_counts_only_where_the_cpu_time_of_others_is_unknown() {
        let warning = |others_share_in_run, load_1min| {
            let warnings = machine_warnings(&Environment {
                others_share_in_run,
                load_1min,
                ..sample(1, 0, 1.0).environment
            });
            warnings.into_iter().next().map(|warning| warning.message)
        };
        assert_eq!(warning(Some(0.12), None).as_deref(), Some("other programs used 12.0 % of the CPU time"));
        assert_eq!(warning(Some(0.01), Some(61.0)), None);
        let by_load = warning(None, Some(61.0)).unwrap();
        assert!(by_load.starts_with("the load average was 61.00 on "), "{by_load}");
    }

    #[test]
    fn a_quota_that_held_processes_back_is_the_reason_and_not_other_programs() {
        let warned = |throttled_in_run_s| {
            let environment = sample(1, 0, 1.0).environment;
            let cpu_quota = Some(1.5);
            let environment =
                Environment { cpu_quota, throttled_in_run_s, load_1min: Some(9.0), ..environment };
            let warnings = machine_warnings(&environment);
            warnings.into_iter().map(|warning| (warning.kind, warning.message)).collect::<Vec<_>>()
        };
        let message = "the CPU quota of 1.50 CPUs held server and crowd back for 36.0 s";
        assert_eq!(warned(Some(36.0)), [(WarningKind::Throttled, message.to_owned())]);
        assert_eq!(warned(Some(0.0))[0].0, WarningKind::MachineBusy);
    }

    #[test]
    fn a_crowd_that_did_not_run_is_named_in_every_pacing() {
        let warned = |gaps: Vec<CrowdGap>| {
            let result = CrowdResult { gaps, ..CrowdResult::default() };
            let warnings = crowd_warnings(&result, None, None);
            warnings.into_iter().map(|warning| (warning.kind, warning.message)).next()
        };
        let (one, other) = (CrowdGap { from_s: 1.0, to_s: 6.0 }, CrowdGap { from_s: 8.0, to_s: 8.5 });
        let message = "the crowd itself did not run for 5.00 s of the run, from 1.00 to 6.00 s";
        assert_eq!(warned(vec![one.clone()]), Some((WarningKind::CrowdFrozen, message.to_owned())));
        let (_, several) = warned(vec![one, other]).unwrap();
        assert!(
            several.ends_with("5.50 s of the run, in 2 times, the longest from 1.00 to 6.00 s"),
            "{several}"
        );
        assert_eq!(warned(vec![CrowdGap { from_s: 1.0, to_s: 1.2 }]), None);
    }

    #[test]
    fn a_host_with_another_build_is_named() {
        let build = |commit: &str, build_id: Option<&str>| Build {
            version: "1.0.0".into(),
            commit: Some(commit.into()),
            profile: None,
            build_id: build_id.map(str::to_owned),
        };
        let warned = |own: &Build, of_host: Option<&Build>| {
            other_build(own, of_host, Some("alpha")).map(|warning| warning.message)
        };
        let (clean, dirty) = (build("c0ffee", None), build("c0ffee-dirty", Some("ab01")));
        assert_eq!((warned(&clean, Some(&clean)), warned(&dirty, Some(&dirty))), (None, None));
        assert_eq!(
            warned(&clean, Some(&build("beef", None))).as_deref(),
            Some("the Klatch on alpha is another build: 1.0.0 beef; this one is 1.0.0 c0ffee")
        );
        let same_commit = warned(&dirty, Some(&build("c0ffee-dirty", Some("ab02")))).unwrap();
        assert!(same_commit.contains("is another build: 1.0.0 c0ffee-dirty, build ab02;"), "{same_commit}");
        let unknown = build("c0ffee-dirty", None);
        assert!(warned(&unknown, Some(&unknown)).unwrap().contains("may be another build"));
        assert!(warned(&clean, None).unwrap().contains("does not say which build it is"));
    }

    #[test]
    fn a_result_without_a_fault_is_valid() {
        let verdict = judge(&CrowdResult::default());
        assert_eq!((verdict.status, verdict.reasons.len()), (Status::Valid, 0));
    }

    #[test]
    fn every_kind_of_fault_is_a_reason_with_count_and_first_example() {
        let (user, speaker, sequence) = (Some(7), Some(2), Some(41));
        let fault = |kind, count| Fault {
            kind,
            connection: None,
            reader: None,
            room: 3,
            user,
            speaker,
            sequence,
            count,
            detail: None,
        };
        let result = CrowdResult {
            lost: 12,
            unsent: 1,
            corrupted: 1,
            faults: vec![fault(FaultKind::Corrupted, 1), fault(FaultKind::Lost, 12)],
            failure: Some(Failure {
                connection: None,
                kind: FailureKind::Disconnect,
                room: Some(3),
                user: Some(7),
                detail: "the server closed the connection".into(),
            }),
            ..CrowdResult::default()
        };
        let verdict = judge(&result);
        assert_eq!(verdict.status, Status::Invalid);
        let messages: Vec<&str> = verdict.reasons.iter().map(|reason| reason.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "room 3, user 7: the server closed the connection",
                "12 deliveries lost; first, lost: room 3, user 7, message 41 of user 2 and 11 after it",
                "1 message never sent",
                "1 delivery corrupted; first, corrupted: room 3, user 7, message 41 of user 2",
            ]
        );
    }
}
