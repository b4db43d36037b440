//! View of a running study on the whole terminal.

use std::io::{IsTerminal, Stdout, stdout};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use klatch_record::{CrowdEvent, Latency, Record, Role, Status, printable_line};
use klatch_stats::mean_interval;
use ratatui::Frame;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, size};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Gauge, Paragraph, Row, Sparkline, Table};

use crate::number::{duration, grouped, three_digits, time};
use crate::strokes::spark;
use crate::study_of_runs::CONFIDENCE;
use crate::summary::role_and_number;
use crate::table::can_move_cursor;

/// Period over which current rates and latencies are computed.
const NOW: Duration = Duration::from_secs(2);

/// Columns and lines that the view needs.
const ROOM: (u16, u16) = (60, 18);

/// The view that is open now.
static OPEN: Mutex<Weak<Mutex<Screen>>> = Mutex::new(Weak::new());

/// The view. Dropping it restores the terminal.
pub struct Live {
    screen: Arc<Mutex<Screen>>,
}

struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    state: State,
}

/// Nothing panics while one of these is locked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows what goes on beside the runs, such as a build, in the view that is open. Returns whether there is one.
pub(crate) fn show_work(work: &str) -> bool {
    let screen = lock(&OPEN).upgrade();
    if let Some(screen) = &screen {
        let mut screen = lock(screen);
        screen.state.work = Some(work.to_owned());
        screen.draw();
    }
    screen.is_some()
}

/// Removes it from the view.
pub(crate) fn end_work() {
    if let Some(screen) = lock(&OPEN).upgrade() {
        lock(&screen).state.work = None;
    }
}

/// The data that the view draws.
struct State {
    name: String,
    began: Instant,
    cells: Vec<CellState>,
    current: usize,
    visit: String,
    left: Option<Duration>,
    run: String,
    /// What goes on beside the runs.
    work: Option<String>,
    done: u64,
    expected: u64,
    /// Progress reports of the current run, not older than [`NOW`].
    moments: Vec<Moment>,
    /// CPUs in use by server and crowd.
    cpus: [Option<f64>; 2],
    /// Messages/s at each progress report of the run.
    rates: Vec<u64>,
    last: Option<String>,
}

/// One progress report of the crowd.
struct Moment {
    at: Instant,
    /// Messages sent and received since the run began.
    messages: u64,
    /// Delivery latencies since the previous report: ns and count.
    latency_ns: Vec<(u64, u64)>,
}

struct CellState {
    id: String,
    values: Vec<f64>,
    status: String,
}

impl Live {
    /// Opens the view of a study with these cells. `None` if standard output is no terminal that can draw over what it shows, or one
    /// that has no room for it.
    pub fn start(name: &str, cells: impl Iterator<Item = String>) -> Option<Live> {
        if !stdout().is_terminal() || !can_move_cursor(std::env::var_os("TERM")) {
            return None;
        }
        let has_room = |(columns, lines)| columns >= ROOM.0 && lines >= ROOM.1;
        size().ok().filter(|size| has_room(*size))?;
        let mut out = stdout();
        execute!(out, EnterAlternateScreen).ok()?;
        let terminal = Terminal::new(CrosstermBackend::new(out)).ok()?;
        let screen = Arc::new(Mutex::new(Screen { terminal, state: State::new(name, cells) }));
        *lock(&OPEN) = Arc::downgrade(&screen);
        let live = Live { screen };
        live.change(|_| {});
        Some(live)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut screen = lock(&self.screen);
        change(&mut screen.state);
        screen.draw();
    }

    /// Shows that a server is being started for a cell: visit `number`, with the fewest and the most of the study.
    pub fn visit(&mut self, cell: &str, number: u32, of: Option<(u32, u32)>, left: Option<Duration>) {
        self.change(|state| state.visit(cell, number, of, left));
    }

    /// Resets the view for a new run.
    pub fn begin_run(&mut self, role: Role, number: u32) {
        self.change(|state| state.begin_run(role, number));
    }

    /// Updates the view with an event of the crowd.
    pub fn crowd(&mut self, event: &CrowdEvent) {
        self.change(|state| state.crowd(event, Instant::now()));
    }

    /// Shows how far a duet is.
    pub fn pairs(&mut self, pairs: usize) {
        self.change(|state| state.run = format!("{} pairs of slices", grouped(pairs as u64)));
    }

    /// Adds the result of a finished run.
    pub fn ended(&mut self, record: &Record) {
        self.change(|state| state.ended(record));
    }

    /// Shows the final state of a cell: failed, or with enough trials.
    pub fn set_status(&mut self, cell: &str, status: &str) {
        self.change(|state| state.set_status(cell, status));
    }
}

impl Screen {
    /// Drawing errors are ignored: a lost terminal must not end the study.
    fn draw(&mut self) {
        let state = &self.state;
        let _ = self.terminal.draw(|frame| state.draw(frame));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        *lock(&OPEN) = Weak::new();
        let mut screen = lock(&self.screen);
        let _ = execute!(screen.terminal.backend_mut(), LeaveAlternateScreen);
        let _ = screen.terminal.show_cursor();
    }
}

impl State {
    fn new(name: &str, cells: impl Iterator<Item = String>) -> State {
        let cell = |id| CellState { id, values: Vec::new(), status: String::new() };
        State {
            name: printable_line(name).into_owned(),
            began: Instant::now(),
            cells: cells.map(cell).collect(),
            current: 0,
            visit: String::new(),
            left: None,
            run: String::new(),
            work: None,
            done: 0,
            expected: 1,
            moments: Vec::new(),
            cpus: [None; 2],
            rates: Vec::new(),
            last: None,
        }
    }

    fn visit(&mut self, cell: &str, number: u32, of: Option<(u32, u32)>, left: Option<Duration>) {
        self.current = self.cells.iter().position(|known| known.id == cell).unwrap_or(0);
        (self.visit, self.left) = (start_of(number, of), left);
        "starting the server".clone_into(&mut self.run);
    }

    fn begin_run(&mut self, role: Role, number: u32) {
        self.run = role_and_number(role, number);
        (self.done, self.expected) = (0, 1);
        self.moments.clear();
        self.cpus = [None; 2];
        self.rates.clear();
    }

    fn crowd(&mut self, event: &CrowdEvent, now: Instant) {
        match event {
            CrowdEvent::Progress { sent, received, expected, latency_ns } => {
                (self.done, self.expected) = (sent + received, (*expected).max(1));
                let latency_ns = latency_ns.clone();
                self.moments.push(Moment { at: now, messages: self.done, latency_ns });
                self.moments.retain(|moment| now.duration_since(moment.at) <= NOW);
                if let Some(rate) = self.rate() {
                    self.rates.push(rate as u64);
                }
            }
            CrowdEvent::Cpus { server, crowd } => self.cpus = [*server, *crowd],
            _ => {}
        }
    }

    /// Messages/s over the last two seconds.
    fn rate(&self) -> Option<f64> {
        let (first, last) = (self.moments.first()?, self.moments.last()?);
        let elapsed_s = last.at.duration_since(first.at).as_secs_f64();
        (elapsed_s > 0.0).then(|| (last.messages - first.messages) as f64 / elapsed_s)
    }

    /// Messages/s and CPUs over the last two seconds.
    fn speed(&self) -> String {
        let rate = self.rate().map_or_else(absent, |rate| grouped(rate as u64));
        let [server, crowd] = self.cpus.map(|cpus| cpus.map_or_else(absent, |cpus| format!("{cpus:.2}")));
        format!("now {rate} messages/s · CPUs {server} server, {crowd} crowd")
    }

    /// Latency over the last two seconds.
    fn latency(&self) -> String {
        let counts: Vec<_> = self.moments.iter().flat_map(|moment| &moment.latency_ns).copied().collect();
        // The verdict reports latencies that no histogram can hold.
        let latency = Latency::from_counts_ns(&counts).ok().flatten();
        let percentiles = |latency: Latency| {
            let [p50, p99, max] = [latency.p50_us, latency.p99_us, latency.max_us].map(time);
            format!("p50 {p50}, p99 {p99}, max {max}")
        };
        format!("latency now {}", latency.map_or_else(absent, percentiles))
    }

    fn ended(&mut self, record: &Record) {
        let cpu = |usage: &Option<klatch_record::Usage>| {
            usage.as_ref().map_or_else(absent, |usage| three_digits(usage.cpu_us_per_message))
        };
        let p99 = record.latency.as_ref().map_or_else(absent, |latency| time(latency.p99_us));
        self.last = Some(format!(
            "{} {}s/s, p99 {p99}, CPU µs per message {} server, {} crowd",
            grouped(record.throughput_per_s().round() as u64),
            record.unit(),
            cpu(&record.usage.server),
            cpu(&record.usage.crowd)
        ));
        if record.role == Role::Trial
            && record.verdict.status == Status::Valid
            && let Some(cell) = self.cells.get_mut(self.current)
        {
            cell.values.push(record.throughput_per_s());
        }
    }

    fn set_status(&mut self, cell: &str, status: &str) {
        if let Some(cell) = self.cells.iter_mut().find(|known| known.id == cell) {
            status.clone_into(&mut cell.status);
        }
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let parts = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(3),
            Constraint::Length(4),
            Constraint::Length(3),
            Constraint::Min(3),
        ]);
        let [head, gauge, rates, last, cells] = parts.areas(frame.area());
        let elapsed = duration(self.began.elapsed().as_secs_f64());
        let left = self
            .left
            .map_or_else(String::new, |left| format!(", at least {} left", duration(left.as_secs_f64())));
        let current = self.cells.get(self.current).map_or("".into(), |cell| printable_line(&cell.id));
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let lines = vec![
            Line::styled(format!("{}: {current}", self.name), bold),
            Line::raw(format!(
                "{}, {elapsed} so far{left}; Ctrl-C stops; the study can be resumed",
                self.visit
            )),
        ];
        frame.render_widget(Paragraph::new(lines), head);
        let share = (self.done as f64 / self.expected as f64).clamp(0.0, 1.0);
        frame.render_widget(
            Gauge::default()
                .block(Block::bordered().title(self.work.as_ref().unwrap_or(&self.run).as_str()))
                .ratio(share),
            gauge,
        );
        let block = Block::new().title(self.speed());
        frame.render_widget(Sparkline::default().block(block).data(&self.rates), rates);
        let last_run = format!("last run: {}", self.last.clone().unwrap_or_else(absent));
        frame.render_widget(Paragraph::new(vec![Line::raw(self.latency()), Line::raw(last_run)]), last);
        frame.render_widget(self.table(cells.height), cells);
    }

    /// The cells around the current one, as many as fit.
    fn table(&self, height: u16) -> Table<'_> {
        let room = usize::from(height.saturating_sub(1)).max(1);
        let first = self.current.saturating_sub(room / 2).min(self.cells.len().saturating_sub(room));
        let row = |(place, cell): (usize, &CellState)| {
            let interval = mean_interval(&cell.values, CONFIDENCE).ok();
            let mean = cell.values.iter().sum::<f64>() / cell.values.len().max(1) as f64;
            let mean = if cell.values.is_empty() { String::new() } else { grouped(mean.round() as u64) };
            let width = interval.map_or_else(String::new, |interval| {
                format!("±{:.1} %", interval.relative_half_width() * 100.0)
            });
            let mark = if place == self.current { "▸" } else { " " };
            Row::new([
                mark.to_owned(),
                printable_line(&cell.id).into_owned(),
                cell.values.len().to_string(),
                mean,
                width,
                spark(&cell.values),
                printable_line(&cell.status).into_owned(),
            ])
        };
        let longest = self.cells.iter().map(|cell| cell.id.chars().count()).max().unwrap_or(0);
        let widths = [
            Constraint::Length(1),
            Constraint::Length(longest.min(36) as u16),
            Constraint::Length(6),
            Constraint::Length(11),
            Constraint::Length(9),
            Constraint::Length(10),
            Constraint::Fill(1),
        ];
        let head = Row::new(["", "cell", "trials", "messages/s", "", "in turn", "verdict"]);
        Table::new(self.cells.iter().enumerate().skip(first).take(room).map(row), widths)
            .header(head.style(Style::new().add_modifier(Modifier::DIM)))
    }
}

/// Which start of a server a study is at, of the fewest and the most.
pub fn start_of(number: u32, of: Option<(u32, u32)>) -> String {
    match of {
        Some((least, most)) if least == most => format!("start {number} of {least}"),
        Some((least, _)) => format!("start {number} of at least {least}"),
        None => format!("start {number}"),
    }
}

/// Placeholder for an unknown value.
fn absent() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use ratatui::backend::TestBackend;

    use super::*;

    #[test]
    fn the_view_shows_the_cell_the_speed_and_the_interval() {
        let mut state = State::new("threads", ["rooms-5", "rooms-10"].map(str::to_owned).into_iter());
        state.visit("rooms-10", 2, Some((6, 20)), Some(Duration::from_secs(125)));
        state.begin_run(Role::Trial, 2);
        let began = Instant::now();
        for tick in 0..4 {
            let latency_ns = vec![(1 << 20, 98), ((1 << 20) * (tick + 1), 2)];
            let event =
                CrowdEvent::Progress { sent: 0, received: tick * 25_000, expected: 100_000, latency_ns };
            state.crowd(&event, began + Duration::from_millis(500 * tick));
        }
        state.crowd(&CrowdEvent::Cpus { server: Some(1.525), crowd: None }, began);
        state.cells[1].values = vec![50_000.0, 51_000.0, 49_000.0];
        state.set_status("rooms-5", "failed: the server died");
        let mut terminal = Terminal::new(TestBackend::new(110, 16)).unwrap();
        terminal.draw(|frame| state.draw(frame)).unwrap();
        let seen = terminal.backend().to_string();
        for part in [
            "threads: rooms-10",
            "start 2 of at least 6",
            "at least 2 min 5 s left",
            "trial 2",
            "75%",
            "now 50,000 messages/s",
        ] {
            assert!(seen.contains(part), "no {part}: {seen}");
        }
        for part in ["CPUs 1.52 server, – crowd", "latency now p50 1.05 ms, p99 2.10 ms, max 4.20 ms"] {
            assert!(seen.contains(part), "no {part}: {seen}");
        }
        for part in ["▸ rooms-10", "50,000", "±5.0 %", "▅█▁", "failed: the server died"] {
            assert!(seen.contains(part), "no {part}: {seen}");
        }
    }

    #[test]
    fn more_cells_than_lines_are_shown_around_the_current_one() {
        let mut state = State::new("wide", (0..200).map(|number| format!("cell-{number}")));
        state.visit("cell-120", 1, None, None);
        let mut terminal = Terminal::new(TestBackend::new(60, 20)).unwrap();
        terminal.draw(|frame| state.draw(frame)).unwrap();
        let seen = terminal.backend().to_string();
        assert!(seen.contains("▸ cell-120"), "{seen}");
    }
}
