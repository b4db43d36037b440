//! A cell that is being put together: what each value of an axis changes.

use klatch_platforms::Setting;
use klatch_record::{Pacing, Workload};
use klatch_runner::{CrowdKind, Plan};
use klatch_schedulers::Wish;

use super::PacingName;

/// A cell that is being put together.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) plan: Plan,
    pub(crate) pacing: PacingName,
    pub(crate) window: u32,
    pub(crate) rate: Option<f64>,
    /// Values of the axes so far.
    pub(crate) at: Vec<(String, String)>,
}

/// What one value of an axis means.
#[derive(Clone)]
pub(crate) enum Change {
    Rooms(u32),
    Users(u32),
    Count(u32),
    Size(u32),
    Pause(f64),
    Pacing(PacingName),
    Window(u32),
    Rate(f64),
    Server(Setting),
    Crowd(Setting),
    Sysctl(Setting),
    Scheduler(Option<Wish>),
    CrowdKind(CrowdKind),
    CrowdLoops(usize),
    /// Server processes over which the rooms are spread.
    Servers(u32),
    /// Crowd processes over which the rooms are spread.
    Shards(u32),
    /// The first so many CPUs, for server and crowd.
    Cpus(u32),
}

impl Draft {
    pub(crate) fn of(plan: &Plan) -> Draft {
        Draft { plan: plan.clone(), pacing: PacingName::Turns, window: 1, rate: None, at: Vec::new() }
    }

    pub(crate) fn change(&mut self, change: &Change) {
        let (plan, workload) = (&mut self.plan.platform, &mut self.plan.workload);
        match change {
            Change::Rooms(rooms) => workload.rooms = *rooms,
            Change::Users(users) => workload.users = *users,
            Change::Count(count) => workload.count = *count,
            Change::Size(size) => workload.size_bytes = *size,
            Change::Pause(pause) => workload.pause_s = *pause,
            Change::Pacing(pacing) => self.pacing = *pacing,
            Change::Window(window) => self.window = *window,
            Change::Rate(rate) => self.rate = Some(*rate),
            Change::Server(setting) => plan.settings.push(setting.clone()),
            Change::Crowd(setting) => self.plan.crowd_settings.push(setting.clone()),
            Change::Sysctl(setting) => self.plan.sysctls.push(setting.clone()),
            Change::Scheduler(wish) => self.plan.scheduler.clone_from(wish),
            Change::CrowdKind(kind) => self.plan.crowd = *kind,
            Change::Servers(servers) => self.plan.servers = *servers,
            Change::Shards(shards) => self.plan.shards = *shards,
            Change::CrowdLoops(loops) => self.plan.crowd_loops = *loops,
            Change::Cpus(count) => {
                let setting = Setting { name: "cpus".to_owned(), value: format!("first:{count}") };
                plan.settings.push(setting.clone());
                self.plan.crowd_settings.push(setting);
            }
        }
    }

    /// The plan with its pacing; the axes of another pacing are left out.
    pub(crate) fn finish(mut self) -> Draft {
        let (of_rounds, of_rate) = (self.pacing == PacingName::Rounds, self.pacing == PacingName::Rate);
        self.at.retain(|(axis, _)| (of_rounds || axis != "window") && (of_rate || axis != "rate"));
        self.plan.workload = Workload {
            pacing: match self.pacing {
                PacingName::Turns => Pacing::Turns,
                PacingName::Flood => Pacing::Flood,
                PacingName::Rounds => Pacing::Rounds { window: self.window },
                PacingName::Rate => Pacing::Rate { per_user_per_s: self.rate.unwrap_or(0.0) },
            },
            ..self.plan.workload
        };
        self
    }
}
