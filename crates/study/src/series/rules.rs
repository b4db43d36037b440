//! Run rules: what is restarted, what is discarded, and when a cell has enough trials.

use std::time::Duration;

use klatch_record::Metric;
use klatch_stats::Sequential;
use serde::{Deserialize, Serialize};

/// The rules under which each cell of a study is measured. A *visit* is one start of the server. Visits of all cells are
/// interleaved.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The preset that these rules are based on.
    pub preset: Preset,
    /// Number of first visits that do not count.
    pub visits_discarded: u32,
    /// Runs at the start of each visit that do not count.
    pub warmups: u32,
    /// Runs per visit that count.
    pub trials_per_visit: u32,
    /// When a cell has enough trials.
    pub stop: StopRule,
    /// The metric that the stop rule evaluates.
    pub metric: &'static Metric,
    /// Confidence level of every interval, above 0 and below 1.
    pub confidence: f64,
    /// Times of each start of a duet.
    pub duet: DuetTimes,
}

/// How long a start of a duet takes, and the warm-up of any other. `None` stands for the usual time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DuetTimes {
    /// Time after the start that does not count.
    pub warmup: Option<Duration>,
    /// Time after that, which counts.
    pub counted: Option<Duration>,
}

impl std::fmt::Display for DuetTimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = |time: Duration| time.as_secs_f64();
        match (self.warmup.map(seconds), self.counted.map(seconds)) {
            (None, None) => Ok(()),
            (None, Some(counted)) => write!(f, "; {counted} s of each count"),
            (Some(warmup), None) => write!(f, "; each after {warmup} s of warm-up"),
            (Some(warmup), Some(counted)) => {
                write!(f, "; {counted} s of each count, after {warmup} s of warm-up")
            }
        }
    }
}

/// Run rules of published benchmarks, and those of Klatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Preset {
    /// The Volano Report of 1999: the server is restarted before each run, the first run is discarded, and the score is
    /// the mean of the best two of the next three.
    #[serde(rename = "volano-1999")]
    Volano1999,
    /// Bryant and Hartner, 2000: one start of the server, the first run is discarded, the mean of the next five counts.
    #[serde(rename = "ibm-2000")]
    Ibm2000,
    /// The 2005 study of a Java application server: each run on a restarted, warmed-up server, until three in a row are
    /// within 5 %; their mean counts.
    #[serde(rename = "websphere-2005")]
    Websphere2005,
    /// Trials on restarted, warmed-up servers until the mean is known to ±5 % at 95 % confidence. IBM's Linux Technology
    /// Center required that of its other benchmarks in 2000. [`klatch_stats::Sequential`] checks it after every trial.
    #[default]
    #[serde(rename = "converge")]
    Converge,
    /// Duets: every cell is compared with its reference in slices of time, in 10 starts of both servers.
    #[serde(rename = "duet")]
    Duet,
    /// Duets for a first look: 3 starts of each pair, of which 3 s count.
    #[serde(rename = "quick")]
    Quick,
}

/// When a cell has enough trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// After this fixed number of trials.
    Trials(u32),
    /// When the last three trials agree.
    Agree {
        /// Largest difference between the three, relative to their mean: 0.05 is 5 %.
        within: f64,
        /// Most trials before the cell counts as not converged.
        trials_max: u32,
    },
    /// When the interval of the mean is narrow enough by [`klatch_stats::Sequential`].
    Converged {
        /// Half-width of the interval, relative to the mean: 0.05 is ±5 %.
        within: f64,
        /// Trials before the first check; at least [`klatch_stats::Sequential::FIRST_MIN`].
        trials_min: u32,
        /// Most trials; at least twice `trials_min`.
        trials_max: u32,
    },
}

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 6] = [
        Preset::Converge,
        Preset::Duet,
        Preset::Quick,
        Preset::Volano1999,
        Preset::Ibm2000,
        Preset::Websphere2005,
    ];

    /// Whether its cells are compared in duets.
    pub fn is_of_duets(self) -> bool {
        matches!(self, Preset::Duet | Preset::Quick)
    }

    /// Its name in study files.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Volano1999 => "volano-1999",
            Preset::Ibm2000 => "ibm-2000",
            Preset::Websphere2005 => "websphere-2005",
            Preset::Converge => "converge",
            Preset::Duet => "duet",
            Preset::Quick => "quick",
        }
    }

    /// The rules of the preset.
    pub fn rules(self) -> Rules {
        let base = Rules {
            preset: self,
            visits_discarded: 0,
            warmups: 1,
            trials_per_visit: 1,
            stop: StopRule::Converged {
                within: 0.05,
                trials_min: Sequential::FIRST_MIN as u32,
                trials_max: 20,
            },
            metric: Metric::of_score(false)[0],
            confidence: 0.95,
            duet: DuetTimes::default(),
        };
        match self {
            Preset::Volano1999 => {
                Rules { visits_discarded: 1, warmups: 0, stop: StopRule::Trials(3), ..base }
            }
            Preset::Ibm2000 => Rules { trials_per_visit: 5, stop: StopRule::Trials(5), ..base },
            Preset::Websphere2005 => Rules { stop: StopRule::Agree { within: 0.05, trials_max: 10 }, ..base },
            Preset::Converge => base,
            Preset::Duet => Rules { warmups: 0, stop: StopRule::Trials(10), ..base },
            Preset::Quick => Rules {
                warmups: 0,
                stop: StopRule::Trials(3),
                duet: DuetTimes { warmup: None, counted: Some(Duration::from_secs(3)) },
                ..base
            },
        }
    }
}

impl Rules {
    /// The fewest and the most visits that a cell can need when nothing fails.
    pub fn visits(&self) -> (u32, u32) {
        let (least, most) = match self.stop {
            StopRule::Trials(trials) => (trials, trials),
            StopRule::Agree { trials_max, .. } => (3.min(trials_max), trials_max),
            StopRule::Converged { trials_min, trials_max, .. } => (trials_min, trials_max),
        };
        let visits = |trials: u32| trials.div_ceil(self.trials_per_visit) + self.visits_discarded;
        (visits(least), visits(most))
    }

    /// Number of first trials that every interval takes its scatter from; `None` unless the scatter ends the series.
    pub fn first_trials(&self) -> Option<u32> {
        match self.stop {
            StopRule::Converged { trials_min, .. } => Some(trials_min),
            StopRule::Trials(_) | StopRule::Agree { .. } => None,
        }
    }

    /// The values behind an interval, from those of all trials that count, in order. The trials of one visit share the effects
    /// of its start, so of several visits each gives one value, its mean.
    pub(crate) fn independent(&self, trials: &[f64]) -> Vec<f64> {
        let per_visit = self.trials_per_visit as usize;
        if per_visit == 1 || trials.len() <= per_visit {
            return trials.to_vec();
        }
        trials.chunks(per_visit).map(|visit| visit.iter().sum::<f64>() / visit.len() as f64).collect()
    }

    /// What a visit is, in words.
    pub(crate) fn visit_text(&self) -> String {
        let text = format!("the server is started anew for {}", plural(self.trials_per_visit, "trial"));
        match (self.warmups, self.duet.warmup) {
            (0, _) => text,
            (_, Some(warmup)) => format!("{text} after {} s of warm-up", warmup.as_secs_f64()),
            (warmups, None) => format!("{text} after {}", plural(warmups, "warm-up run")),
        }
    }

    /// Warm-ups and trials of one visit.
    pub fn runs_per_visit(&self) -> u32 {
        self.warmups + self.trials_per_visit
    }
}

impl std::fmt::Display for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.preset.name())?;
        if let (true, StopRule::Trials(starts)) = (self.preset.is_of_duets(), self.stop) {
            let starts = plural(starts, "start");
            return write!(
                f,
                "each cell and its reference run in turns of a fraction of a second, in {starts}{}",
                self.duet
            );
        }
        match self.visits_discarded {
            0 => {}
            1 => f.write_str("the first run is discarded; ")?,
            many => write!(f, "the first {many} visits are discarded; ")?,
        }
        f.write_str(&self.visit_text())?;
        let percent = |part: f64| part * 100.0;
        match self.stop {
            StopRule::Trials(trials) if self.preset == Preset::Volano1999 => {
                write!(f, "; mean of the best two of {}", plural(trials, "trial"))
            }
            StopRule::Trials(trials) if 1 < self.trials_per_visit && self.trials_per_visit < trials => {
                write!(f, "; mean of {}", plural(self.visits().0, "start"))
            }
            StopRule::Trials(trials) => write!(f, "; mean of {}", plural(trials, "trial")),
            StopRule::Agree { within, trials_max } => {
                let within = percent(within);
                write!(
                    f,
                    "; until three in a row are within {within} %, at most {}",
                    plural(trials_max, "trial")
                )
            }
            StopRule::Converged { within, trials_min, trials_max } => {
                let (within, confidence) = (percent(within), percent(self.confidence));
                write!(
                    f,
                    "; until the mean of {} is known to ±{within} % at {confidence} % confidence, {trials_min} to {}",
                    self.metric.name,
                    plural(trials_max, "trial")
                )
            }
        }
    }
}

fn plural(count: u32, what: &str) -> String {
    if count == 1 { format!("one {what}") } else { format!("{count} {what}s") }
}
