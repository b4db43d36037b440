//! Runs a whole crowd: starts its threads, supervises them, and merges their results.

use std::ops::Range;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle, available_parallelism};
use std::time::{SystemTime, UNIX_EPOCH};

use klatch_exchange::trade::{DayTrader, DayTraderOptions, Prices, Trader};
use klatch_exchange::web::PostEntry;
use klatch_exchange::{orders, trade};
use klatch_record::{
    ChatWorkload, CrowdResult, Gate, HttpVersion, OrdersWorkload, ProtocolName, Results, RrWorkload,
    TradeWorkload, WebWorkload, Workload,
};

use crate::addresses::Addresses;
use crate::brokerage_statistics;
use crate::channel::ClientEndpoint;
use crate::connections::Connections;
use crate::control::ControlReceiver;
use crate::districts::{Districts, Factories};
use crate::event_loop::EventLoop;
use crate::exchanges::Exchanges;
use crate::fetches::Fetches;
use crate::gaps::Gaps;
use crate::gate_client;
use crate::http_command::HttpServer;
use crate::http_connection::HttpConnection;
use crate::http1::Http1;
use crate::http2::{self, Http2};
use crate::irc::Irc;
use crate::ledger_file;
use crate::lines::Lines;
use crate::mqtt::{self, Mqtt, MqttTerms};
use crate::nats::Nats;
use crate::options::{CrowdError, OnEvent, Options, Threads};
use crate::parties::Parties;
use crate::pauses::Pauses;
use crate::post_log;
use crate::postgres::PostgresEcho;
use crate::protocol::{Protocol, UserId};
use crate::redis::{Redis, RedisEcho};
use crate::request_digest::request_digest;
use crate::requests::{Echo, HttpEcho, RequestProtocol};
use crate::rooms::Rooms;
use crate::shared::{ControlMessage, Phase, Shared, Wake};
use crate::site::{HOST, Site};
use crate::stats::CrowdStats;
use crate::supervisor::{Supervised, Supervisor};
use crate::timed_connection::TimedConnection;
use crate::traders::{Traders, mix, population};
use crate::urls::Urls;
use crate::user_threads::{self, UserLinks};
use crate::worker::Worker;

/// Runs a crowd to its end and reports events on the way.
///
/// # Errors
/// The crowd could not start. Later failures are part of the result.
pub fn run(
    server: &ClientEndpoint,
    options: &Options,
    inbox: ControlReceiver,
    on_event: OnEvent<'_>,
) -> Result<CrowdResult, CrowdError> {
    let has_threads = matches!(options.workload, Workload::Chat(_) | Workload::Rr(_));
    if options.threads.is_two_per_user() && !has_threads {
        return Err(CrowdError::Threads { workload: options.workload.kind() });
    }
    if let Workload::Rr(rr) = &options.workload
        && rr.has_url()
    {
        check_urls(server.protocol, options.threads)?;
    }
    send_when_due();
    let addresses = Addresses::new(options.check(server)?, &server.connecting);
    let run = Run { server, options, addresses: addresses.clone(), inbox };
    let result = run.workload(on_event)?;
    let request = options.request.as_ref().and_then(request_digest);
    Ok(CrowdResult { addresses: addresses.used(), request, ..result })
}

/// Has the timers of this thread, and of those that it starts, end when they are set to. By default the kernel lets them be 50 µs late, to
/// wake a CPU less often, which would be a part of every latency of a schedule.
fn send_when_due() {
    // No kernel refuses it, and the lag of what was sent is in the record.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Rejects requests for URLs where they cannot be made.
fn check_urls(protocol: ProtocolName, threads: Threads) -> Result<(), CrowdError> {
    match (protocol, threads.is_two_per_user()) {
        (ProtocolName::Http, false) => Ok(()),
        (ProtocolName::Http, true) => Err(CrowdError::UrlThreads),
        _ => Err(CrowdError::Url(protocol)),
    }
}

/// A crowd that is about to start.
struct Run<'a> {
    server: &'a ClientEndpoint,
    options: &'a Options,
    addresses: Addresses,
    inbox: ControlReceiver,
}

impl Run<'_> {
    /// Runs the workload of the options.
    fn workload(self, on_event: OnEvent<'_>) -> Result<CrowdResult, CrowdError> {
        let (options, protocol) = (self.options, self.server.protocol);
        match (&options.workload, protocol) {
            (Workload::Chat(chat), ProtocolName::Irc) => self.rooms::<Irc>(chat, &options.login, on_event),
            (Workload::Chat(chat), ProtocolName::Redis) => {
                self.rooms::<Redis>(chat, &options.login, on_event)
            }
            (Workload::Chat(chat), ProtocolName::Nats) => self.rooms::<Nats>(chat, &options.login, on_event),
            (Workload::Chat(chat), ProtocolName::Mqtt) => self.rooms_of_mqtt(chat, on_event),
            (Workload::Rr(rr), ProtocolName::Echo) => self.exchanges::<Echo>(rr, on_event),
            (Workload::Rr(rr), ProtocolName::Redis) => self.exchanges::<RedisEcho>(rr, on_event),
            (Workload::Rr(rr), ProtocolName::Postgres) => self.exchanges::<PostgresEcho>(rr, on_event),
            (Workload::Rr(rr), ProtocolName::Http) if rr.has_url() => self.fetches(rr, on_event),
            (Workload::Rr(rr), ProtocolName::Http) => self.exchanges::<HttpEcho>(rr, on_event),
            (Workload::Web(web), ProtocolName::Http) => self.lines(web, on_event),
            (Workload::Trade(trade), ProtocolName::Http) => match &trade.daytrader {
                Some(root) => self.day_traders(trade, root, on_event),
                None => self.traders(trade, on_event),
            },
            (Workload::Orders(orders), ProtocolName::Http) => self.districts(orders, on_event),
            (workload, protocol) => Err(CrowdError::Protocol { workload: workload.kind(), protocol }),
        }
    }

    /// The server, for requests before and after the run.
    fn http_server(&self) -> HttpServer {
        HttpServer {
            server: self.server.clone(),
            addresses: self.addresses.clone(),
            connect_timeout: self.options.connect_timeout,
            answer_timeout: self.options.timeout,
        }
    }

    fn rooms<P: Protocol>(
        self,
        chat: &ChatWorkload,
        terms: &P::Terms,
        on_event: OnEvent<'_>,
    ) -> Result<CrowdResult, CrowdError> {
        let Run { server, options, addresses, inbox } = &self;
        let (addresses, control) = (addresses.clone(), inbox.1.clone());
        let start_gate_client = |gate: &Gate, shared: &Arc<Shared>| {
            let (addresses, shared) = (addresses.clone(), shared.clone());
            gate_client::spawn::<P>(server, options, terms, gate.clone(), addresses, shared, control.clone())
        };
        let rooms = |worker, range| Rooms::<P>::new(worker, chat, options.seed, terms, range);
        Ok(self.parties(rooms, start_gate_client, on_event)?.0)
    }

    /// Rooms of a broker, which speak the version of MQTT that it knows.
    fn rooms_of_mqtt(self, chat: &ChatWorkload, on_event: OnEvent<'_>) -> Result<CrowdResult, CrowdError> {
        let Run { server, options, addresses, .. } = &self;
        let terms = MqttTerms::new(chat, &options.login);
        let first = UserId { room: chat.start, user: 0, users: chat.users };
        let timeout = options.connect_timeout;
        let version =
            mqtt::negotiate(first, &terms, || TimedConnection::open(server, addresses, timeout, timeout));
        let result = self.rooms::<Mqtt>(chat, &MqttTerms { version, ..terms }, on_event)?;
        // Nothing was agreed on before all users had joined.
        let mqtt_version = result.opened_ns.map(|_| version);
        Ok(CrowdResult { mqtt_version, ..result })
    }

    fn exchanges<P: RequestProtocol>(
        self,
        rr: &RrWorkload,
        on_event: OnEvent<'_>,
    ) -> Result<CrowdResult, CrowdError> {
        let (seed, login) = (self.options.seed, self.options.login.clone());
        let exchanges = |worker, range| Exchanges::<P>::new(worker, rr, seed, &login, range);
        Ok(self.parties(exchanges, no_gate, on_event)?.0)
    }

    /// Connections that ask for URLs, in the version of HTTP of the workload.
    fn fetches(self, rr: &RrWorkload, on_event: OnEvent<'_>) -> Result<CrowdResult, CrowdError> {
        let parts = self.options.request.clone().unwrap_or_default();
        let urls = Urls::new(rr, &parts, self.options.seed);
        match rr.http {
            HttpVersion::Http1 => {
                let http = Http1::new(&urls, &parts, self.server);
                self.fetches_by(rr, urls, &http, on_event)
            }
            HttpVersion::Http2 => {
                let http = Http2::new(&urls, &parts, self.server, rr.in_flight_max());
                let http = http.map_err(|(url, source)| CrowdError::Request { url, source })?;
                let tls = self.server.tls.clone().map(|tls| tls.with_application_protocol(http2::ALPN));
                let server = ClientEndpoint { tls, ..self.server.clone() };
                Run { server: &server, ..self }.fetches_by(rr, urls, &http, on_event)
            }
        }
    }

    /// Connections that are made anew from `http`, and ask for URLs. Each of these is asked for once before.
    fn fetches_by<H: HttpConnection>(
        self,
        rr: &RrWorkload,
        urls: Urls,
        http: &H,
        on_event: OnEvent<'_>,
    ) -> Result<CrowdResult, CrowdError> {
        let (seed, server) = (self.options.seed, self.http_server());
        let urls = urls.ask(|url, is_head, bytes_max| http.ask(&server, url, is_head, bytes_max));
        let urls = Arc::new(urls.map_err(|(url, source)| CrowdError::FirstReply { url, source })?);
        let fetches = |worker, range| Fetches::new(worker, rr, urls.clone(), http, seed, range);
        Ok(self.parties(fetches, no_gate, on_event)?.0)
    }

    fn lines(self, web: &WebWorkload, on_event: OnEvent<'_>) -> Result<CrowdResult, CrowdError> {
        let server = self.http_server();
        if !web.static_only {
            post_log::reset(&server).map_err(CrowdError::PostLog)?;
        }
        let site = Site::new(web, self.options.seed);
        let lines = |worker, range| Lines::new(worker, web, site.clone(), range);
        let (mut result, kept) = self.parties(lines, no_gate, on_event)?;
        if !web.static_only {
            post_log::audit(&server, web, &kept.posts, &mut result);
        }
        Ok(result)
    }

    fn traders(self, trade: &TradeWorkload, on_event: OnEvent<'_>) -> Result<CrowdResult, CrowdError> {
        let (seed, path) = (self.options.seed, self.options.ledger.clone());
        let ledgers: trade::Ledgers = ledger_file::read(path.as_deref())?;
        let server = self.http_server();
        let before = brokerage_statistics::read_before("trade", &server).map_err(CrowdError::NoAnswer)?;
        let (population, mix) = (population(trade), mix(trade));
        let trader = |number, users| Trader::new(number, population, mix, seed, users, &ledgers);
        let traders =
            |worker, range| Traders::new(worker, trade, HOST, range, seed, Prices::new(population), trader);
        let (mut result, kept) = self.parties(traders, no_gate, on_event)?;
        let after = before.and_then(|before| Some((before, brokerage_statistics::read("trade", &server)?)));
        result.database = after.map(|(before, after)| after.since(&before));
        ledger_file::write(path.as_deref(), &trade::Ledgers { users: kept.ledgers })?;
        Ok(result)
    }

    /// Traders at a DayTrader whose context root is `root`. There are no ledgers, since nothing is audited.
    fn day_traders(
        self,
        trade: &TradeWorkload,
        root: &str,
        on_event: OnEvent<'_>,
    ) -> Result<CrowdResult, CrowdError> {
        let (seed, host) = (self.options.seed, self.server.to_string());
        // New users must not meet those that earlier runs have registered, which DayTrader keeps.
        let run = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64;
        let trader = |number, users| {
            let (root, mix, quotes) = (root.to_owned(), mix(trade), trade.quotes);
            DayTrader::new(DayTraderOptions { number, root, mix, seed, quotes, users, run })
        };
        let traders = |worker, range| Traders::new(worker, trade, &host, range, seed, (), trader);
        Ok(self.parties(traders, no_gate, on_event)?.0)
    }

    fn districts(self, workload: &OrdersWorkload, on_event: OnEvent<'_>) -> Result<CrowdResult, CrowdError> {
        let path = self.options.ledger.clone();
        let earlier: orders::Ledgers = ledger_file::read(path.as_deref())?;
        let server = self.http_server();
        let before = brokerage_statistics::read_before("orders", &server).map_err(CrowdError::NoAnswer)?;
        let factories = Factories::new(workload.injection_rate);
        let seed = earlier.seed_of_next_run(self.options.seed);
        let districts =
            |worker, range| Districts::new(worker, workload, seed, range, &earlier, factories.clone());
        let (mut result, kept) = self.parties(districts, no_gate, on_event)?;
        let after = before.and_then(|before| Some((before, brokerage_statistics::read("orders", &server)?)));
        result.database = after.map(|(before, after)| after.since(&before));
        ledger_file::write(path.as_deref(), &kept.order_ledgers.after(earlier))?;
        Ok(result)
    }

    /// Runs the parties that `parties` makes for each worker. Returns what was kept for later checks too.
    fn parties<P: Parties>(
        self,
        parties: impl Fn(Worker, Range<u32>) -> P,
        start_gate_client: impl Fn(&Gate, &Arc<Shared>) -> std::io::Result<()>,
        on_event: OnEvent<'_>,
    ) -> Result<(CrowdResult, ForChecks), CrowdError> {
        let Run { server, options, addresses, inbox } = self;
        let count = options.workload.parties();
        let (workers, wakes) = match options.threads {
            Threads::Loops(loops) => {
                let loops = loops.clamp(1, count as usize);
                (loops, (0..loops).map(|_| Wake::event_loop()).collect::<std::io::Result<_>>()?)
            }
            // One lock for each CPU is enough, and every worker has a fixed cost.
            Threads::TwoPerUser { .. } => {
                let cpus = available_parallelism().map_or(1, usize::from).min(count as usize);
                (cpus, (0..cpus).map(|_| Wake::Threads(Mutex::default())).collect())
            }
        };
        let shared = Arc::new(Shared::new(wakes));
        let worker = |number| {
            let worker = Worker::new(number, shared.clone(), inbox.1.clone());
            parties(worker, shard_range(count, number, workers))
        };
        let threads = start(server, options, &shared, (0..workers).map(worker).collect(), &addresses)?;
        let (result, kept) = supervise(options, &shared, inbox.0, on_event, start_gate_client, threads)?;
        let loops = (!options.threads.is_two_per_user()).then_some(workers as u32);
        Ok((CrowdResult { loops, ..result }, kept))
    }
}

/// In place of the client of a gate, for the workloads whose servers have no room for one.
fn no_gate(_: &Gate, _: &Arc<Shared>) -> std::io::Result<()> {
    Err(std::io::Error::other("only chat servers have a room for a gate"))
}

/// What the checks after a run need.
#[derive(Default)]
pub(crate) struct ForChecks {
    /// The POSTs of `web` that the server confirmed.
    posts: Vec<PostEntry>,
    /// The users of `trade` that were played.
    ledgers: Vec<trade::UserLedger>,
    /// The customers and the work of `orders`.
    order_ledgers: orders::Ledgers,
}

/// Supervises the workers until the crowd ends, and merges the statistics that `threads` return. Returns what was kept for later
/// checks too.
pub(crate) fn supervise(
    options: &Options,
    shared: &Arc<Shared>,
    inbox: Receiver<ControlMessage>,
    on_event: OnEvent<'_>,
    start_gate_client: impl Fn(&Gate, &Arc<Shared>) -> std::io::Result<()>,
    threads: Vec<JoinHandle<Vec<CrowdStats>>>,
) -> Result<(CrowdResult, ForChecks), CrowdError> {
    let supervisor = Supervisor {
        options,
        shared,
        inbox,
        on_event,
        start_gate_client: |gate: &Gate| start_gate_client(gate, shared),
        workers: shared.workers.len(),
        pauses: Pauses::default(),
        gaps: Gaps::default(),
        stops_at: None,
    };
    let Supervised { join_s, mut gaps, failure } = supervisor.run();
    shared.enter(Phase::Stop);
    let (opened_ns, gate_run) = (shared.opened_machine_ns(), shared.gate_run());
    // A parent ended the run, not its duration.
    let by_time = options.workload.chat().is_some_and(ChatWorkload::stops_at_a_moment);
    let finished = shared.finished() && !by_time;
    let results = Results::none(options.workload.kind());
    let mut result =
        CrowdResult { join_s, failure, opened_ns, gate_run, finished, results, ..CrowdResult::default() };
    let mut kept = ForChecks::default();
    for thread in threads {
        for mut stats in thread.join().map_err(|_| CrowdError::Thread)? {
            let elapsed_ns = stats.last_ns.saturating_sub(shared.gate_ns());
            result.elapsed_s = result.elapsed_s.max(elapsed_ns as f64 / 1e9);
            kept.posts.append(&mut stats.posts);
            kept.ledgers.append(&mut stats.ledgers);
            kept.order_ledgers.add(std::mem::take(&mut stats.order_ledgers));
            gaps.merge(std::mem::take(&mut stats.gaps));
            stats.merge_into(&mut result)?;
        }
    }
    result.gaps = gaps.into_list();
    Ok((result, kept))
}

/// Starts the threads that run these parties. They return the statistics of each worker.
fn start<P: Parties>(
    server: &ClientEndpoint,
    options: &Options,
    shared: &Arc<Shared>,
    workers: Vec<P>,
    addresses: &Addresses,
) -> std::io::Result<Vec<JoinHandle<Vec<CrowdStats>>>> {
    let addresses = || addresses.clone();
    let connect_timeout = options.connect_timeout;
    if let Threads::TwoPerUser { yields } = options.threads {
        let (shared, addresses, server) = (shared.clone(), addresses(), server.clone());
        let links = UserLinks { addresses, connect_timeout, server, yields };
        let run = move || user_threads::run(&shared, workers, &links);
        return Ok(vec![Builder::new().name("crowd".to_owned()).spawn(run)?]);
    }
    let mut threads = Vec::new();
    for parties in workers {
        let number = parties.worker().number;
        let Wake::Loop(wake) = &shared.workers[number].wake else { unreachable!("it is a loop") };
        let connections = Connections::new(addresses(), connect_timeout, wake, server.clone())?;
        let thread = Builder::new().name(format!("crowd-{number}"));
        threads.push(thread.spawn(move || vec![EventLoop::new(parties, connections).run()])?);
    }
    Ok(threads)
}

/// The parties of worker `number` out of `workers`: whole parties, as evenly as possible.
fn shard_range(parties: u32, number: usize, workers: usize) -> Range<u32> {
    let cut = |number: usize| (u64::from(parties) * number as u64 / workers as u64) as u32;
    cut(number)..cut(number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timers_of_all_threads_of_a_crowd_are_exact() {
        let slack_ns = || rustix::thread::current_timer_slack().unwrap();
        let of_a_worker = move || std::thread::spawn(slack_ns).join().unwrap();
        let crowd = std::thread::spawn(move || {
            send_when_due();
            of_a_worker()
        });
        assert_eq!(crowd.join().unwrap(), 1);
        assert!(slack_ns() > 1, "this thread is none of a crowd");
    }

    #[test]
    fn shards_are_whole_parties_and_even() {
        let ranges: Vec<_> = (0..3).map(|number| shard_range(10, number, 3)).collect();
        assert_eq!(ranges, [0..3, 3..6, 6..10]);
    }
}
