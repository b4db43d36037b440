//! Drafts of cells: what each value of an axis changes in a plan.

use klatch_platforms::Setting;
use klatch_record::{Pacing, ReadOrder, TradeMix, Workload, usual_directories};
use klatch_runner::{CrowdKind, Plan};
use klatch_schedulers::SchedulerSpec;

use super::PacingName;

/// A cell before all axes have been applied.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) plan: Plan,
    pub(crate) pacing: PacingName,
    pub(crate) window: u32,
    pub(crate) rate: Option<f64>,
    /// Name and value of each axis so far.
    pub(crate) at: Vec<(String, String)>,
}

/// What one value of an axis changes in a plan.
#[derive(Clone)]
pub(crate) enum Change {
    Workload(WorkloadChange),
    Pacing(PacingName),
    Window(u32),
    Rate(f64),
    Server(Setting),
    Crowd(Setting),
    Sysctl(Setting),
    Scheduler(Option<SchedulerSpec>),
    CrowdKind(CrowdKind),
    CrowdLoops(usize),
    /// Number of server processes.
    Servers(u32),
    /// Number of crowd processes.
    Shards(u32),
    /// Number of CPUs for server and crowd, counted from the first.
    Cpus(u32),
}

/// A number of a workload. The file has been checked, so a number of another kind of workload does not occur.
#[derive(Clone)]
pub(crate) enum WorkloadChange {
    Rooms(u32),
    Users(u32),
    Count(u32),
    Size(u32),
    Pause(f64),
    Churn(f64),
    Connections(u32),
    Depth(u32),
    Duration(f64),
    Lines(u32),
    Line(u32),
    Directories(u32),
    Readers(u32),
    Block(u32),
    Order(ReadOrder),
    Files(u32),
    FileMib(u32),
    Verified(bool),
    Traders(u32),
    Quotes(u32),
    Mix(TradeMix),
    Think(f64),
    Database(String),
    Durable(bool),
    InjectionRate(u32),
    Population(u32),
    Ramp(f64),
}

impl WorkloadChange {
    fn apply(self, workload: &mut Workload) {
        match workload {
            Workload::Chat(chat) => match self {
                WorkloadChange::Rooms(rooms) => chat.rooms = rooms,
                WorkloadChange::Users(users) => chat.users = users,
                WorkloadChange::Count(count) => chat.count = count,
                WorkloadChange::Size(size) => chat.size_bytes = size,
                WorkloadChange::Pause(pause) => chat.pause_s = pause,
                WorkloadChange::Churn(churn) => chat.churn_per_user_per_s = churn,
                _ => {}
            },
            Workload::Web(web) => match self {
                WorkloadChange::Lines(lines) => web.lines = lines,
                WorkloadChange::Line(kbit) => web.line_kbit_per_s = Some(kbit).filter(|kbit| *kbit > 0),
                WorkloadChange::Directories(directories) => web.directories = directories,
                WorkloadChange::Duration(duration) => web.duration_s = duration,
                _ => {}
            },
            Workload::Files(files) => match self {
                WorkloadChange::Readers(readers) => files.readers = readers,
                WorkloadChange::Block(bytes) => files.block_bytes = bytes,
                WorkloadChange::Order(order) => files.order = order,
                WorkloadChange::Files(count) => files.files = count,
                WorkloadChange::FileMib(mib) => files.file_mib = mib,
                WorkloadChange::Verified(verified) => files.verified = verified,
                WorkloadChange::Duration(duration) => files.duration_s = duration,
                _ => {}
            },
            Workload::Trade(trade) => match self {
                WorkloadChange::Traders(traders) => trade.traders = traders,
                WorkloadChange::Users(users) => trade.users = users,
                WorkloadChange::Quotes(quotes) => trade.quotes = quotes,
                WorkloadChange::Mix(mix) => trade.mix = mix,
                WorkloadChange::Think(think) => trade.think_s = think,
                WorkloadChange::Database(name) => trade.database = Some(name),
                WorkloadChange::Durable(durable) => trade.durable = durable,
                WorkloadChange::Duration(duration) => trade.duration_s = duration,
                _ => {}
            },
            Workload::Orders(orders) => match self {
                WorkloadChange::InjectionRate(rate) => orders.injection_rate = rate,
                WorkloadChange::Population(rate) => orders.population = rate,
                WorkloadChange::Ramp(ramp) => orders.ramp_s = ramp,
                WorkloadChange::Database(name) => orders.database = Some(name),
                WorkloadChange::Durable(durable) => orders.durable = durable,
                WorkloadChange::Duration(duration) => orders.duration_s = duration,
                _ => {}
            },
            Workload::Rr(rr) => match self {
                WorkloadChange::Connections(connections) => rr.connections = connections,
                WorkloadChange::Depth(depth) => rr.depth = depth,
                WorkloadChange::Duration(duration) => rr.duration_s = duration,
                WorkloadChange::Size(size) => rr.size_bytes = size,
                _ => {}
            },
        }
    }
}

impl Draft {
    pub(crate) fn new(plan: &Plan) -> Draft {
        Draft { plan: plan.clone(), pacing: PacingName::Turns, window: 1, rate: None, at: Vec::new() }
    }

    pub(crate) fn apply(&mut self, change: &Change) {
        let (platform, workload) = (&mut self.plan.platform, &mut self.plan.workload);
        match change {
            Change::Workload(change) => change.clone().apply(workload),
            Change::Pacing(pacing) => self.pacing = *pacing,
            Change::Window(window) => self.window = *window,
            Change::Rate(rate) => self.rate = Some(*rate),
            Change::Server(setting) => platform.settings.push(setting.clone()),
            Change::Crowd(setting) => self.plan.crowd_settings.push(setting.clone()),
            Change::Sysctl(setting) => self.plan.sysctls.push(setting.clone()),
            Change::Scheduler(spec) => self.plan.scheduler.clone_from(spec),
            Change::CrowdKind(kind) => self.plan.crowd = *kind,
            Change::Servers(servers) => self.plan.servers = *servers,
            Change::Shards(shards) => self.plan.shards = *shards,
            Change::CrowdLoops(loops) => self.plan.crowd_loops = *loops,
            Change::Cpus(count) => {
                let setting = Setting { name: "cpus".to_owned(), value: format!("first:{count}") };
                platform.settings.push(setting.clone());
                if workload.kind().has_server() {
                    self.plan.crowd_settings.push(setting);
                }
            }
        }
    }

    /// Sets the pacing of the plan, and drops the axes that belong to another pacing.
    pub(crate) fn finish(mut self) -> Draft {
        let has_directories = self.at.iter().any(|(axis, _)| axis == "directories");
        if let Workload::Web(web) = &mut self.plan.workload
            && !has_directories
        {
            web.directories = usual_directories(web.lines);
        }
        let has_population = self.at.iter().any(|(axis, _)| axis == "population");
        if let Workload::Orders(orders) = &mut self.plan.workload {
            orders.suppliers = orders.injection_rate;
            if !has_population {
                orders.population = orders.injection_rate;
            }
        }
        let Workload::Chat(chat) = &mut self.plan.workload else {
            if let Workload::Trade(trade) = &mut self.plan.workload {
                *trade = trade.clone().with_all_users();
            }
            if let Some(rate) = self.rate {
                self.plan.workload = self.plan.workload.with_rate(rate);
            }
            return self;
        };
        let (is_rounds, is_rate) = (self.pacing == PacingName::Rounds, self.pacing == PacingName::Rate);
        self.at.retain(|(axis, _)| (is_rounds || axis != "window") && (is_rate || axis != "rate"));
        chat.pacing = match self.pacing {
            PacingName::Turns => Pacing::Turns,
            PacingName::Flood => Pacing::Flood,
            PacingName::Rounds => Pacing::Rounds { window: self.window },
            PacingName::Rate => Pacing::Rate { per_user_per_s: self.rate.unwrap_or(0.0) },
        };
        self
    }
}
