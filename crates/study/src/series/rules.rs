//! Run rules: what is restarted, what is discarded, how many trials, when it is enough.

use klatch_stats::Sequential;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules under which a cell of a study is measured. A *visit* is one start of the server; visits of all cells are
/// interleaved.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Which preset these began as.
    pub preset: Preset,
    /// First visits whose runs do not count.
    pub visits_discarded: u32,
    /// Runs of each visit that do not count, first.
    pub warmups: u32,
    /// Runs of each visit that count.
    pub trials_per_visit: u32,
    /// When it is enough.
    pub enough: Enough,
    /// What is looked at to see whether it is enough.
    pub metric: Metric,
    /// Confidence of every interval, 0..1.
    pub confidence: f64,
}

/// Rules by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Trials on restarted, warmed-up servers until the mean is known to ±5 % at 95 % confidence, as IBM's Linux
    /// Technology Center wanted it for its other benchmarks in 2000, by a rule that may look after every trial
    /// ([`klatch_stats::Sequential`]).
    #[default]
    #[serde(rename = "converge")]
    Converge,
}

/// When a cell has trials enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Enough {
    /// After so many.
    Trials(u32),
    /// When the last three differ by no more than this part of their mean; given up after so many trials.
    Agree {
        /// 0.05 is 5 %.
        within: f64,
        /// Trials at most.
        trials_max: u32,
    },
    /// When [`klatch_stats::Sequential`] says so.
    Converged {
        /// Half the interval's width that is wanted, as a part of the mean: 0.05 is ±5 %.
        within: f64,
        /// Trials before the first look; at least [`klatch_stats::Sequential::FIRST_MIN`].
        trials_min: u32,
        /// Trials at most; at least twice `trials_min`.
        trials_max: u32,
    },
}

/// What of a record is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The score, messages/s.
    #[default]
    MessagesPerS,
    /// CPU time of server and crowd per message, µs; steadier on a machine that is shared.
    CpuUsPerMessage,
}

impl Metric {
    /// Its name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Metric::MessagesPerS => "messages_per_s",
            Metric::CpuUsPerMessage => "cpu_us_per_message",
        }
    }
}

impl Preset {
    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Volano1999 => "volano-1999",
            Preset::Ibm2000 => "ibm-2000",
            Preset::Websphere2005 => "websphere-2005",
            Preset::Converge => "converge",
        }
    }

    /// The rules that it stands for.
    pub fn rules(self) -> Rules {
        let base = Rules {
            preset: self,
            visits_discarded: 0,
            warmups: 1,
            trials_per_visit: 1,
            enough: Enough::Converged {
                within: 0.05,
                trials_min: Sequential::FIRST_MIN as u32,
                trials_max: 20,
            },
            metric: Metric::MessagesPerS,
            confidence: 0.95,
        };
        match self {
            Preset::Volano1999 => {
                Rules { visits_discarded: 1, warmups: 0, enough: Enough::Trials(3), ..base }
            }
            Preset::Ibm2000 => Rules { trials_per_visit: 5, enough: Enough::Trials(5), ..base },
            Preset::Websphere2005 => Rules { enough: Enough::Agree { within: 0.05, trials_max: 10 }, ..base },
            Preset::Converge => base,
        }
    }
}

impl Rules {
    /// The fewest and the most visits that a cell can need when nothing fails.
    pub fn visits(&self) -> (u32, u32) {
        let (least, most) = match self.enough {
            Enough::Trials(trials) => (trials, trials),
            Enough::Agree { trials_max, .. } => (3.min(trials_max), trials_max),
            Enough::Converged { trials_min, trials_max, .. } => (trials_min, trials_max),
        };
        let visits = |trials: u32| trials.div_ceil(self.trials_per_visit) + self.visits_discarded;
        (visits(least), visits(most))
    }

    /// The number of first trials whose scatter every interval is made of, where the scatter says when it is enough.
    pub fn first_trials(&self) -> Option<u32> {
        match self.enough {
            Enough::Converged { trials_min, .. } => Some(trials_min),
            Enough::Trials(_) | Enough::Agree { .. } => None,
        }
    }

    /// Runs of one visit.
    pub fn runs_per_visit(&self) -> u32 {
        self.warmups + self.trials_per_visit
    }
}

impl std::fmt::Display for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.preset.name())?;
        match self.visits_discarded {
            0 => {}
            1 => f.write_str("the first run is discarded; ")?,
            many => write!(f, "the first {many} visits are discarded; ")?,
        }
        write!(f, "the server is started anew for {}", plural(self.trials_per_visit, "trial"))?;
        match self.warmups {
            0 => {}
            warmups => write!(f, " after {}", plural(warmups, "warm-up run"))?,
        }
        let percent = |part: f64| part * 100.0;
        match self.enough {
            Enough::Trials(trials) if self.preset == Preset::Volano1999 => {
                write!(f, "; mean of the best two of {}", plural(trials, "trial"))
            }
            Enough::Trials(trials) => write!(f, "; mean of {}", plural(trials, "trial")),
            Enough::Agree { within, trials_max } => {
                let within = percent(within);
                write!(
                    f,
                    "; until three in a row are within {within} %, at most {}",
                    plural(trials_max, "trial")
                )
            }
            Enough::Converged { within, trials_min, trials_max } => {
                let (within, confidence) = (percent(within), percent(self.confidence));
                write!(
                    f,
                    "; until the mean of {} is known to ±{within} % at {confidence} % confidence, {trials_min} to {}",
                    self.metric.name(),
                    plural(trials_max, "trial")
                )
            }
        }
    }
}

fn plural(count: u32, what: &str) -> String {
    if count == 1 { format!("one {what}") } else { format!("{count} {what}s") }
}
