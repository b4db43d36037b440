//! What a duet compares, and for how long.

use std::ops::RangeInclusive;
use std::time::Duration;

use klatch_platforms::{Setting, runs_on_java};
use klatch_record::{DuetSide, Pacing, Requirement};

use crate::duet::error::DuetError;
use crate::duet::halves::halves;
use crate::{CrowdKind, Plan, Subject};

/// The sides of a duet, and the time for it.
#[derive(Clone, Debug)]
pub struct DuetPlan {
    /// A and B. They share the folder for results, the workload and the seed.
    pub sides: [Plan; 2],
    /// Names of the sides in texts; `None` for one that follows from its plan.
    pub names: [Option<String>; 2],
    /// Time of the whole duet.
    pub time: Duration,
    /// Length of a slice without its margins.
    pub slice: Duration,
    /// Time at the beginning of each start that does not count.
    pub warmup: Duration,
    /// Starts of both sides.
    pub starts: u32,
    /// End early when the interval of the ratio reaches no further than this part of it to each side.
    pub within: Option<f64>,
    /// The difference that forecasts are about, as a part of the ratio: 0.02 is 2 %.
    pub asked: f64,
    /// Run both sides at the same time, each on half of the CPUs.
    pub together: bool,
    /// Observe where the CPU time of both sides goes, and what they do.
    pub explain: bool,
    /// Probability that an interval contains the true ratio.
    pub confidence: f64,
    /// Requirements by which the result is judged.
    pub require: Vec<Requirement>,
    /// Where results are written, below [`Plan::out`].
    pub folder_name: String,
}

/// Time of one start by default, and its first part that does not count. The differences between starts limit what a duet
/// shows, so starts are short; a JVM compiles for its first seconds.
const NATIVE_START: (Duration, Duration) = (Duration::from_secs(6), Duration::from_secs(1));
const JAVA_START: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(6));
/// Length of a slice by default: the scatter of pairs hardly depends on the length, so more and shorter slices show more.
const SLICE: Duration = Duration::from_millis(50);

/// Pairs of slices that each start must have time for.
pub const PAIRS_MIN: u32 = 20;

/// Possible lengths of a slice.
const SLICES: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(10);

/// The difference that forecasts are about unless one is asked for.
const ASKED: f64 = 0.02;

/// How long to measure, and how; `None` for what follows from the sides and from the rest.
#[derive(Clone, Debug, Default)]
pub struct DuetSchedule {
    /// Time of the whole duet.
    pub time: Option<Duration>,
    /// End early when the interval reaches no further than this part of the ratio to each side.
    pub within: Option<f64>,
    /// Starts of both sides.
    pub starts: Option<u32>,
    /// Length of a slice.
    pub slice: Option<Duration>,
    /// Time at the beginning of each start that does not count.
    pub warmup: Option<Duration>,
}

impl DuetSchedule {
    /// Time of a duet.
    pub const TIME: Duration = Duration::from_secs(120);
    /// Longest time of a duet that ends when its interval is narrow.
    pub const TIME_MAX: Duration = Duration::from_secs(3600);

    /// Time of the whole duet.
    pub fn time(&self) -> Duration {
        self.time.unwrap_or(if self.within.is_some() { DuetSchedule::TIME_MAX } else { DuetSchedule::TIME })
    }
}

impl DuetPlan {
    /// A duet of these sides with this schedule.
    ///
    /// # Errors
    /// The length of a slice is out of range, or a start is too short for a result.
    pub fn scheduled(sides: [Plan; 2], schedule: &DuetSchedule) -> Result<DuetPlan, DuetError> {
        let usual = DuetPlan::usual(sides, 1, 0.95);
        let time = schedule.time();
        let fitting = (time.as_secs_f64() / usual.time.as_secs_f64()).round() as u32;
        let most = if schedule.within.is_some() { 1000 } else { 100 };
        let starts = schedule.starts.unwrap_or(fitting.clamp(3, most));
        let per_start = time / starts;
        let warmup = schedule.warmup.unwrap_or(usual.warmup);
        let slice = schedule.slice.unwrap_or(usual.slice);
        if !SLICES.contains(&slice) {
            return Err(DuetError::Slice { slice });
        }
        let needed = warmup + 2 * PAIRS_MIN * slice;
        if per_start < needed {
            return Err(DuetError::ShortStarts {
                starts,
                per_start,
                warmup,
                slice,
                pairs: PAIRS_MIN,
                needed,
            });
        }
        Ok(DuetPlan { time, slice, warmup, starts, within: schedule.within, ..usual })
    }

    /// A duet of these sides with the usual schedule: starts of 6 s with 1 s of warm-up, or of 20 s with 6 s for Java, and
    /// slices of 50 ms.
    pub fn usual(sides: [Plan; 2], starts: u32, confidence: f64) -> DuetPlan {
        let server = |side: &Plan| side.subject.platform().is_some_and(|own| runs_on_java(&own.request));
        let java = |side: &Plan| side.crowd == CrowdKind::Java || server(side);
        let (per_start, warmup) = if sides.iter().any(java) { JAVA_START } else { NATIVE_START };
        DuetPlan {
            sides,
            names: [None, None],
            time: per_start * starts,
            slice: SLICE,
            warmup,
            starts,
            within: None,
            asked: ASKED,
            together: false,
            explain: false,
            confidence,
            require: Vec::new(),
            folder_name: "duet".to_owned(),
        }
    }

    /// Makes the workloads endless, and keeps the parties of two crowds on one server apart.
    ///
    /// # Errors
    /// A combination that cannot be measured in slices.
    pub(crate) fn prepared(mut self) -> Result<DuetPlan, DuetError> {
        let workload = &self.sides[0].workload;
        if workload.chat().is_some_and(|chat| chat.pacing == Pacing::Flood) {
            return Err(DuetError::Flood);
        }
        if self.sides.iter().any(|side| !side.remote.hosts.is_empty()) {
            return Err(DuetError::Hosts);
        }
        let parties = workload.parties();
        if let [Subject::Target(a), Subject::Target(b)] = self.sides.each_ref().map(|side| &side.subject)
            && a.target == b.target
        {
            let other = &mut self.sides[1].workload;
            *other = other.with_parties(other.start() + parties, other.parties());
        }
        for side in &mut self.sides {
            side.workload = side.workload.endless();
            side.workload.check().map_err(|error| DuetError::Run(Box::new(error.into())))?;
        }
        Ok(self)
    }

    /// The plans of one start. Together, the sides change CPUs from start to start, as CPUs are not equal.
    pub(crate) fn sides_of_start(&self, number: u32) -> Result<[Plan; 2], DuetError> {
        let mut sides = self.sides.clone();
        if !self.together {
            return Ok(sides);
        }
        let halves = halves().ok_or(DuetError::OneCpu)?;
        for (place, side) in sides.iter_mut().enumerate() {
            let cpus = &halves[(place + number as usize) % 2];
            let server = match &mut side.subject {
                Subject::Platform(own) => Some(&mut own.request.settings),
                Subject::Target(_) => None,
            };
            for settings in server.into_iter().chain([&mut side.crowd_settings]) {
                if settings.iter().any(|setting| setting.name == "cpus") {
                    return Err(DuetError::Cpus);
                }
                settings.push(Setting { name: "cpus".to_owned(), value: cpus.clone() });
            }
        }
        Ok(sides)
    }

    /// Both sides in words; `platforms` are the names of their platforms.
    ///
    /// # Errors
    /// Both have the same name.
    pub(crate) fn describe(&self, platforms: &[String; 2]) -> Result<[DuetSide; 2], DuetError> {
        let own = |side: usize| {
            let plan = &self.sides[side];
            let settings = plan.subject.platform().map_or(&[][..], |own| &own.request.settings);
            joined(&platforms[side], ":", settings, ",")
        };
        let with_crowd = |side: usize| {
            let plan = &self.sides[side];
            format!("{}, crowd {}", own(side), joined(plan.crowd.name(), ":", &plan.crowd_settings, ","))
        };
        let alternatives = [[0, 1].map(own), [0, 1].map(with_crowd), ["base", "change"].map(str::to_owned)];
        let different = alternatives.into_iter().find(|[a, b]| a != b);
        let [a, b] = different.unwrap_or_default();
        let [given_a, given_b] = self.names.clone();
        let names = [given_a.unwrap_or(a), given_b.unwrap_or(b)];
        if names[0] == names[1] {
            return Err(DuetError::Names(names[0].clone()));
        }
        Ok([0, 1].map(|side| self.describe_side(side, &names[side], &platforms[side])))
    }

    /// A side in words.
    pub(crate) fn describe_side(&self, side: usize, name: &str, platform: &str) -> DuetSide {
        let plan = &self.sides[side];
        let with = |name: &str, settings: &[Setting]| match settings {
            [] => name.to_owned(),
            some => joined(name, " (", some, ", ") + ")",
        };
        DuetSide {
            name: name.to_owned(),
            platform: with(platform, plan.subject.platform().map_or(&[], |own| &own.request.settings)),
            crowd: with(plan.crowd.name(), &plan.crowd_settings),
        }
    }
}

/// A name with settings; the name alone without any.
fn joined(name: &str, start: &str, settings: &[Setting], separator: &str) -> String {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    if settings.is_empty() { name.to_owned() } else { format!("{name}{start}{}", settings.join(separator)) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use klatch_platforms::PlatformRequest;
    use klatch_record::Build;

    use super::*;
    use crate::PlatformPlan;

    fn names(
        knobs: [&str; 2],
        crowds: [CrowdKind; 2],
        given: [Option<&str>; 2],
    ) -> Result<[String; 2], String> {
        let sides = [0, 1].map(|side| {
            let settings = knobs[side].split(',').filter(|knob| !knob.is_empty());
            let settings = settings.map(|knob| knob.parse().unwrap()).collect();
            let request = PlatformRequest { settings, ..PlatformRequest::default() };
            let build = Build { version: "1".to_owned(), ..Build::default() };
            let subject = Subject::Platform(PlatformPlan::new(request));
            Plan { crowd: crowds[side], ..Plan::new(subject, PathBuf::new(), build) }
        });
        let given = given.map(|name| name.map(str::to_owned));
        let plan = DuetPlan { names: given, ..DuetPlan::usual(sides, 1, 0.95) };
        let platforms = ["pychat", "pychat"].map(str::to_owned);
        plan.describe(&platforms).map(|sides| sides.map(|side| side.name)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_sides_of_a_duet_have_different_names() {
        use CrowdKind::{Java, Native};
        let named = |knobs, crowds, given| names(knobs, crowds, given).unwrap();
        let none = [None, None];
        assert_eq!(named(["", "a=1,b=2"], [Native, Native], none), ["pychat", "pychat:a=1,b=2"]);
        assert_eq!(named(["", ""], [Native, Java], none), ["pychat, crowd native", "pychat, crowd java"]);
        assert_eq!(named(["", ""], [Native, Native], none), ["base", "change"]);
        assert_eq!(named(["", ""], [Native, Native], [None, Some("patch 7")]), ["base", "patch 7"]);
        let error = names(["", ""], [Native, Native], [Some("x"), Some("x")]).unwrap_err();
        assert_eq!(error, "both sides are called x: give one of them another name");
    }
}
