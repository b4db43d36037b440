//! The settings of workloads. Each is declared once, in the file of its workload. Options, keys and axes of study files, the options of
//! a crowd, the commands in reports, comparisons and the reference are made of these declarations.

use std::fmt;

pub use super::values::Form;
use super::values::Value;
use super::{Workload, WorkloadError, WorkloadKind};
use crate::words::{grouped, range_in_words};

/// Reads and writes a setting of a workload; `None` for another kind of workload.
pub(super) type Access = for<'a> fn(&'a mut Workload) -> Option<Box<dyn Value + 'a>>;

/// The [`Access`] to a field, or to what an expression makes of the workload.
macro_rules! field {
    ($kind:ident, $field:ident) => {
        crate::workload::settings::field!($kind, it => &mut it.$field)
    };
    ($kind:ident, $it:ident => $value:expr) => {
        |workload| match workload {
            crate::workload::Workload::$kind($it) => Some(Box::new($value)),
            _ => None,
        }
    };
}
pub(super) use field;

/// A setting of a workload.
pub struct Setting {
    /// Its key in study files, and its axis. The option has `-` in place of `_`.
    pub name: &'static str,
    /// What stands for a value in help, mostly its unit: `N`, `SECONDS`, `BYTES`. Empty for a switch.
    pub unit: &'static str,
    /// What it is, without a full stop.
    pub help: &'static str,
    /// The default, in words, if it follows from other settings.
    pub follows: Option<&'static str>,
    /// Where it can be set.
    pub scope: Scope,
    /// Settings of the same workload that it stands in place of: they cannot be given with it.
    pub excludes: &'static [&'static str],
    range: Range,
    access: Access,
}

/// Where a setting can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everywhere.
    All,
    /// Where the run ends by itself, so not in a duet.
    End,
    /// On command lines, but not in study files, which divide the parties themselves.
    Share,
    /// On the command line of a crowd. A run takes it from the address of its target.
    Crowd,
}

/// The numbers that a setting can have, whatever the others are.
#[derive(Clone, Copy)]
pub(super) enum Range {
    Any,
    Whole(u32, u32),
    /// From 0 to a number of a unit.
    FromZero(f64, &'static str),
    /// Above 0 and at most a number of a unit.
    AboveZero(f64, &'static str),
}

impl Range {
    pub(super) fn contains(self, number: f64) -> bool {
        match self {
            Range::Any => true,
            Range::Whole(least, most) => (f64::from(least)..=f64::from(most)).contains(&number),
            Range::FromZero(most, _) => (0.0..=most).contains(&number),
            Range::AboveZero(most, _) => number > 0.0 && number <= most,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Any => Ok(()),
            Range::Whole(least, most) => f.write_str(&range_in_words(*least, *most)),
            Range::FromZero(most, unit) => write!(f, "0 to {} {unit}", grouped(*most as u64)),
            Range::AboveZero(most, unit) => {
                write!(f, "above 0 and at most {} {unit}", grouped(*most as u64))
            }
        }
    }
}

impl Setting {
    pub(super) const fn new(
        name: &'static str,
        unit: &'static str,
        help: &'static str,
        access: Access,
    ) -> Setting {
        Setting {
            name,
            unit,
            help,
            follows: None,
            scope: Scope::All,
            excludes: &[],
            range: Range::Any,
            access,
        }
    }

    pub(super) const fn in_range(self, range: Range) -> Setting {
        Setting { range, ..self }
    }

    pub(super) const fn following(self, follows: &'static str) -> Setting {
        Setting { follows: Some(follows), ..self }
    }

    pub(super) const fn scoped(self, scope: Scope) -> Setting {
        Setting { scope, ..self }
    }

    pub(super) const fn excluding(self, excludes: &'static [&'static str]) -> Setting {
        Setting { excludes, ..self }
    }

    /// Its value as [`WorkloadKind::workload`] reads it. `None` if the workload has none, because it is absent or belongs to another value
    /// of another setting.
    pub fn value_of(&self, workload: &Workload) -> Option<String> {
        (self.access)(&mut workload.clone())?.print()
    }

    /// The default in words; `None` if there is none.
    pub fn default_in_words(&self, kind: WorkloadKind) -> Option<String> {
        self.follows.map(str::to_owned).or_else(|| self.value_of(&kind.usual()))
    }

    /// The form of its values.
    pub fn form(&self) -> Form {
        WorkloadKind::ALL
            .iter()
            .find_map(|kind| (self.access)(&mut kind.usual()).map(|value| value.form()))
            .unwrap_or(Form::Text)
    }

    /// The values that it can have, in words; empty where its form says it all.
    pub fn range(&self) -> String {
        self.range.to_string()
    }

    /// Its option: `--users-per-trader`.
    pub fn option(&self) -> String {
        format!("--{}", self.name.replace('_', "-"))
    }

    /// Sets it.
    ///
    /// # Errors
    /// The text is no value of this setting, or it belongs to another value of another setting.
    pub fn set(&self, workload: &mut Workload, text: &str) -> Result<(), WorkloadError> {
        let kind = workload.kind();
        let value = (self.access)(workload);
        value.ok_or_else(|| WorkloadError::foreign(self.name, kind))?.parse(self.name, text)
    }

    /// Checks it against its range.
    pub(super) fn check(&self, workload: &mut Workload) -> Result<(), WorkloadError> {
        let number = (self.access)(workload).and_then(|value| value.number());
        match number.filter(|number| !self.range.contains(*number)) {
            Some(number) => Err(WorkloadError::out_of(self.name, self.range, number)),
            None => Ok(()),
        }
    }
}
