//! Progress of all that takes longer than two seconds, on standard error: what it is, k of n, the rate, the time left, the estimate so far.
//! A terminal gets lines that are drawn over; elsewhere, and on a terminal that cannot do that, plain lines follow each other, fewer as
//! time goes on. Results go to standard output.

use std::io::{IsTerminal, Write, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use klatch_record::printable_line;

use crate::live;
use crate::number::{duration, grouped, megabytes, three_digits};
use crate::table::can_move_cursor;

/// What ends before this time shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest time between two plain lines.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Time between two updates of work that reports nothing itself.
const TICK: Duration = Duration::from_millis(500);
/// Longest name of a piece of work. A line of numbers has a place after it, and a command can have any length.
const NAME_MAX: usize = 72;
/// Columns of a terminal that are left for the bar.
const BAR: usize = 8;

/// Whether standard error is a terminal that can draw over what it shows.
static CAN_DRAW: LazyLock<bool> =
    LazyLock::new(|| stderr().is_terminal() && can_move_cursor(std::env::var_os("TERM")));

/// The lines of all displays of this process.
static LINES: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Writes while the lines of progress are off the terminal. They are drawn again below what was written.
pub fn above_progress<R>(write: impl FnOnce() -> R) -> R {
    if *CAN_DRAW { LINES.suspend(write) } else { write() }
}

/// Removes the lines of progress, for a process that ends at once.
pub fn end_progress() {
    if *CAN_DRAW {
        // A terminal that is gone has no lines.
        let _ = LINES.clear();
    }
}

/// What the amounts of a display are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Measure {
    /// Pieces, with the name of a unit.
    #[default]
    Pieces,
    /// Seconds, whose rate says nothing.
    Time,
    /// Bytes, in MB.
    Bytes,
}

/// What a display shows.
#[derive(Clone, Debug, Default)]
struct Standing {
    what: String,
    unit: String,
    done: u64,
    /// What was done before this display began, which its rate leaves out.
    before: u64,
    total: Option<u64>,
    /// The total is an extrapolation.
    is_about: bool,
    measure: Measure,
    note: String,
}

impl Standing {
    /// The line after this time: `trial 1: 4,000 of 40,000 messages, 13,418 messages/s, 3 s left`.
    fn line(&self, elapsed: Duration) -> String {
        let elapsed_s = elapsed.as_secs_f64();
        let (done, unit) = (self.done, self.unit.as_str());
        let amount = |number: u64| match self.measure {
            Measure::Time => duration(number as f64),
            Measure::Bytes => megabytes(number),
            Measure::Pieces => grouped(number),
        };
        let unit_after = match self.measure {
            Measure::Pieces => format!(" {unit}"),
            Measure::Time | Measure::Bytes => String::new(),
        };
        let about = if self.is_about { "about " } else { "" };
        let mut parts = vec![match self.total {
            Some(total) => format!("{} of {about}{}{unit_after}", amount(done), amount(total)),
            None if done > 0 => format!("{}{unit_after}", amount(done)),
            None => duration(elapsed_s),
        }];
        let per_s = match self.measure {
            Measure::Time => 1.0,
            Measure::Pieces | Measure::Bytes => (done - self.before) as f64 / elapsed_s.max(1e-9),
        };
        let has_rate = done > self.before;
        let rate = match self.measure {
            Measure::Pieces => Some(format!("{} {unit}/s", three_digits(per_s))),
            Measure::Bytes => Some(format!("{}/s", megabytes(per_s.round() as u64))),
            Measure::Time => None,
        };
        parts.extend(rate.filter(|_| has_rate && elapsed_s > 0.0));
        if let Some(left) = self.total.map(|total| total.saturating_sub(done)).filter(|_| has_rate) {
            parts.push(format!("{} left", duration(left as f64 / per_s)));
        }
        parts.extend((!self.note.is_empty()).then(|| self.note.clone()));
        format!("{}: {}", self.what, parts.join(", "))
    }
}

/// A name with its middle left out if it is too long.
fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= NAME_MAX {
        return name.to_owned();
    }
    let (head, tail) = (NAME_MAX * 2 / 3, NAME_MAX / 3 - 3);
    let text = |letters: &[char]| letters.iter().collect::<String>();
    format!("{} … {}", text(&letters[..head]), text(&letters[letters.len() - tail..]))
}

/// The display of one piece of work, which ends when it is dropped.
pub struct Progress {
    shown: Arc<Mutex<Shown>>,
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

struct Shown {
    standing: Standing,
    began: Instant,
    /// The line of a terminal, once it is shown.
    bar: Option<ProgressBar>,
    /// When the next plain line is due, since the beginning.
    next: Duration,
}

impl Progress {
    /// A display of `what`, which consists of `total` `unit`s, if that is known.
    pub fn new(what: &str, total: Option<u64>, unit: &str) -> Progress {
        // Files of users have names of their own.
        let what = shortened(&printable_line(what));
        let standing = Standing { what, unit: unit.to_owned(), total, ..Standing::default() };
        let shown = Shown { standing, began: Instant::now(), bar: None, next: PATIENCE };
        Progress { shown: Arc::new(Mutex::new(shown)), ticker: None }
    }

    /// A display of work that takes a known time.
    pub fn of_time(what: &str, total: Duration) -> Progress {
        let progress = Progress::new(what, None, "s");
        progress.lock().standing.measure = Measure::Time;
        progress.set_time(total);
        progress
    }

    /// A display of a download of so many bytes, if that is known.
    pub fn of_bytes(what: &str, total: Option<u64>) -> Progress {
        let progress = Progress::new(what, total, "");
        progress.lock().standing.measure = Measure::Bytes;
        progress
    }

    /// A display of work that reports nothing itself, such as a build or the load of a database: from its third second on it shows how
    /// long it has taken.
    pub fn waiting(what: &str) -> Progress {
        Progress::new(what, None, "").ticking()
    }

    /// The same, updated twice a second as well. Not for a time in which something is measured.
    #[must_use]
    pub fn ticking(mut self) -> Progress {
        let (end, ended) = channel();
        let shown = self.shown.clone();
        let tick = move || {
            let mut pause = PATIENCE;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                lock(&shown).draw();
                pause = TICK;
            }
        };
        // Without the thread the work is done, and not shown.
        self.ticker = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(tick)
            .ok()
            .map(|thread| (end, thread));
        self
    }

    /// Shows how much is done.
    pub fn at(&self, done: u64) {
        let mut shown = self.lock();
        shown.standing.done = done;
        shown.draw();
    }

    /// Shows how much was done before, such as the stored trials of a study that goes on.
    pub fn begin_at(&self, done: u64) {
        let mut shown = self.lock();
        (shown.standing.done, shown.standing.before) = (done, done);
    }

    /// Shows a part more of work that is done in parallel.
    pub fn advance(&self) {
        let mut shown = self.lock();
        shown.standing.done += 1;
        shown.draw();
    }

    /// Sets what is shown last, such as the estimate so far.
    pub fn note(&self, note: &str) {
        self.lock().standing.note = printable_line(note).into_owned();
    }

    /// Sets how much there is.
    pub fn set_total(&self, total: u64, is_about: bool) {
        let mut shown = self.lock();
        (shown.standing.total, shown.standing.is_about) = (Some(total), is_about);
    }

    /// Sets how long it takes.
    pub fn set_time(&self, total: Duration) {
        self.set_total(total.as_secs_f64().ceil() as u64, false);
    }

    /// Whether its line is on a terminal, or would be.
    pub(crate) fn is_drawn() -> bool {
        *CAN_DRAW
    }

    /// Prints a line at once, above the lines of progress.
    pub(crate) fn print(line: &str) {
        above_progress(|| print(line));
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        lock(&self.shown)
    }
}

/// Nothing panics while it is locked.
fn lock(shown: &Mutex<Shown>) -> MutexGuard<'_, Shown> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.ticker.take() {
            drop(end);
            // It ends at once, as its channel is closed.
            let _ = thread.join();
        }
        self.lock().end();
    }
}

impl Shown {
    fn draw(&mut self) {
        let elapsed = self.began.elapsed();
        if live::show_work(&self.standing.line(elapsed)) {
            return;
        }
        if *CAN_DRAW {
            return self.draw_bar(elapsed);
        }
        if elapsed >= self.next {
            self.next = elapsed + elapsed.clamp(PATIENCE, PAUSE_MAX);
            print(&self.standing.line(elapsed));
        }
    }

    fn draw_bar(&mut self, elapsed: Duration) {
        let bar = self.bar.get_or_insert_with(|| {
            let template = if self.standing.total.is_some() { "{msg} {wide_bar}" } else { "{msg}" };
            let style = ProgressStyle::with_template(template).expect("the template is right");
            LINES.add(ProgressBar::new(1).with_style(style))
        });
        let columns = ratatui::crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
        let room = columns.saturating_sub(BAR).max(BAR);
        let line: String = self.standing.line(elapsed).chars().take(room).collect();
        let total = self.standing.total.unwrap_or(self.standing.done).max(1);
        // Each of these may draw.
        bar.set_message(line);
        bar.set_length(total);
        bar.set_position(self.standing.done.min(total));
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            LINES.remove(&bar);
        } else {
            live::end_work();
        }
    }
}

/// Prints a line. Errors are ignored: a closed standard error must not end the work.
fn print(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_leaves_room_for_the_numbers() {
        let name = format!("running probe {} under Linux 6.18", "ä".repeat(200));
        let short = shortened(&name);
        assert_eq!(short.chars().count(), NAME_MAX);
        assert!(short.starts_with("running probe ää") && short.ends_with("ä under Linux 6.18"), "{short}");
        assert_eq!(shortened(&short), short);
    }

    #[test]
    fn a_line_has_the_amount_the_rate_and_the_time_left() {
        let standing = Standing {
            what: "trial 1".into(),
            unit: "messages".into(),
            done: 26_836,
            total: Some(67_090),
            ..Standing::default()
        };
        let expected = "trial 1: 26,836 of 67,090 messages, 13,418 messages/s, 3 s left";
        assert_eq!(standing.line(Duration::from_secs(2)), expected);
        let about = Standing { is_about: true, unit: "requests".into(), ..standing.clone() };
        let expected = "trial 1: 26,836 of about 67,090 requests, 13,418 requests/s, 3 s left";
        assert_eq!(about.line(Duration::from_secs(2)), expected);
        let open = Standing { total: None, ..standing.clone() };
        assert_eq!(open.line(Duration::from_secs(2)), "trial 1: 26,836 messages, 13,418 messages/s");
        let slow = Standing { done: 17, total: Some(40), unit: "trials".into(), ..standing.clone() };
        assert_eq!(slow.line(Duration::from_secs(4)), "trial 1: 17 of 40 trials, 4.25 trials/s, 5 s left");
        let resumed = Standing { before: 16, ..slow.clone() };
        assert_eq!(
            resumed.line(Duration::from_secs(4)),
            "trial 1: 17 of 40 trials, 0.25 trials/s, 1 min 32 s left"
        );
        let none_yet = Standing { before: 17, ..slow };
        assert_eq!(none_yet.line(Duration::from_secs(4)), "trial 1: 17 of 40 trials");
        let time = Standing {
            done: 24,
            total: Some(90),
            measure: Measure::Time,
            note: "start 2, 340 pairs".into(),
            ..standing.clone()
        };
        let expected = "trial 1: 24 s of 1 min 30 s, 1 min 6 s left, start 2, 340 pairs";
        assert_eq!(time.line(Duration::from_secs(24)), expected);
        let download = Standing {
            done: 12_400_000,
            total: Some(52_100_000),
            measure: Measure::Bytes,
            ..standing.clone()
        };
        let expected = "trial 1: 12.4 MB of 52.1 MB, 6.20 MB/s, 6 s left";
        assert_eq!(download.line(Duration::from_secs(2)), expected);
        let unknown = Standing { total: None, ..download };
        assert_eq!(unknown.line(Duration::from_secs(2)), "trial 1: 12.4 MB, 6.20 MB/s");
        let waiting = Standing { done: 0, total: None, ..standing };
        assert_eq!(waiting.line(Duration::from_secs(95)), "trial 1: 1 min 35 s");
    }
}
