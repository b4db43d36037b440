//! The settings of workloads. Each is declared once, in the file of its workload. Options, keys and axes of study files, the options of
//! a crowd, the commands in reports, comparisons and the reference are made of these declarations.

use std::fmt;

use super::values::Value;
use super::{Workload, WorkloadError, WorkloadKind};

/// Reads and writes a setting of a workload; `None` for another kind of workload.
type Access = for<'a> fn(&'a mut Workload) -> Option<Box<dyn Value + 'a>>;

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

/// The form of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// `on` or `off`.
    Switch,
    /// One of these words, each with what it means, which may be empty.
    Words(&'static [(&'static str, &'static str)]),
    /// Text of another form.
    Text,
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
    fn contains(self, number: f64) -> bool {
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
            Range::Whole(least, most) => write!(f, "{least}..={most}"),
            Range::FromZero(most, unit) => write!(f, "from 0 to {most} {unit}"),
            Range::AboveZero(most, unit) => write!(f, "above 0 and at most {most} {unit}"),
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
        Setting { name, unit, help, follows: None, scope: Scope::All, range: Range::Any, access }
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

    /// Its value as [`WorkloadKind::workload`] reads it. `None` if the workload has none, because it is absent or belongs to another value
    /// of another setting.
    pub fn value_of(&self, workload: &Workload) -> Option<String> {
        (self.access)(&mut workload.clone())?.print()
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

    fn check(&self, workload: &mut Workload) -> Result<(), WorkloadError> {
        let number = (self.access)(workload).and_then(|value| value.number());
        match number.filter(|number| !self.range.contains(*number)) {
            Some(number) => Err(WorkloadError::out_of(self.name, self.range, number)),
            None => Ok(()),
        }
    }
}

impl WorkloadKind {
    /// All settings of this kind, in the order of help and tables.
    pub fn settings(self) -> &'static [Setting] {
        match self {
            WorkloadKind::Chat => super::chat::SETTINGS,
            WorkloadKind::Rr => super::rr::SETTINGS,
            WorkloadKind::Web => super::web::SETTINGS,
            WorkloadKind::Trade => super::trade::SETTINGS,
            WorkloadKind::Orders => super::orders::SETTINGS,
            WorkloadKind::Files => super::files::SETTINGS,
        }
    }

    /// The workload with these settings, by name and value, in any order. All others have their defaults.
    ///
    /// # Errors
    /// A name or a value that this kind does not have, or a combination that cannot be.
    pub fn workload(self, given: &[(&str, &str)]) -> Result<Workload, WorkloadError> {
        let known = |name: &str| self.settings().iter().any(|setting| setting.name == name);
        if let Some((name, _)) = given.iter().find(|(name, _)| !known(name)) {
            return Err(WorkloadError::foreign(name, self));
        }
        let mut workload = self.usual();
        // In the order of declaration: a window needs its pacing.
        for setting in self.settings() {
            for (_, text) in given.iter().filter(|(name, _)| *name == setting.name) {
                setting.set(&mut workload, text)?;
            }
        }
        workload.follow(|name| given.iter().any(|(given, _)| *given == name));
        workload.check()?;
        Ok(workload)
    }
}

impl Workload {
    /// All settings that have a value, with it. [`WorkloadKind::workload`] makes the same workload of them.
    pub fn settings(&self) -> Vec<(&'static Setting, String)> {
        let one = |setting: &'static Setting| Some((setting, setting.value_of(self)?));
        self.kind().settings().iter().filter_map(one).collect()
    }

    /// The options that describe this workload to `klatch run` and to a crowd.
    pub fn options(&self) -> Vec<String> {
        // The Java crowd knows chat alone, so its options do not name it.
        let kind =
            (self.kind() != WorkloadKind::Chat).then(|| ["--workload".to_owned(), self.kind().to_string()]);
        let one = |(setting, value): (&Setting, String)| match (setting.form(), value.as_str()) {
            (Form::Switch, "on") => vec![setting.option()],
            (Form::Switch, _) => vec![],
            _ => vec![setting.option(), value],
        };
        kind.into_iter().flatten().chain(self.settings().into_iter().flat_map(one)).collect()
    }

    /// Checks every setting against its range, and all of them together.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let mut workload = self.clone();
        self.kind().settings().iter().try_for_each(|setting| setting.check(&mut workload))?;
        match self {
            Workload::Chat(chat) => chat.check_together(),
            Workload::Rr(rr) => rr.check_together(),
            Workload::Web(web) => web.check_together(),
            Workload::Trade(trade) => trade.check_together(),
            Workload::Orders(orders) => orders.check_together(),
            Workload::Files(files) => files.check_together(),
        }
    }

    /// Sets what follows from other settings and is not given.
    fn follow(&mut self, is_given: impl Fn(&str) -> bool) {
        match self {
            Workload::Web(web) => web.follow(is_given),
            Workload::Trade(trade) => trade.follow(is_given),
            Workload::Orders(orders) => orders.follow(is_given),
            Workload::Chat(_) | Workload::Rr(_) | Workload::Files(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = (WorkloadKind, &'static Setting)> {
        WorkloadKind::ALL
            .into_iter()
            .flat_map(|kind| kind.settings().iter().map(move |setting| (kind, setting)))
    }

    #[test]
    fn names_are_unique_and_in_words() {
        for kind in WorkloadKind::ALL {
            let mut names: Vec<&str> = kind.settings().iter().map(|setting| setting.name).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{kind}: {names:?}");
        }
        for (kind, setting) in all() {
            assert!(setting.help.len() > 8 && !setting.help.ends_with('.'), "{kind}: {}", setting.name);
            assert_eq!(setting.unit.is_empty(), setting.form() == Form::Switch, "{kind}: {}", setting.name);
        }
    }

    #[test]
    fn what_a_kind_does_not_have_is_refused_with_its_owners() {
        let error =
            |kind: WorkloadKind, given: &[(&str, &str)]| kind.workload(given).unwrap_err().to_string();
        assert_eq!(
            error(WorkloadKind::Rr, &[("rooms", "3")]),
            "rooms belongs to the workload chat, not to rr"
        );
        assert_eq!(
            error(WorkloadKind::Web, &[("rate", "3")]),
            "rate belongs to the workload chat or rr or trade, not to web"
        );
        assert_eq!(
            error(WorkloadKind::Files, &[("speed", "3")]),
            "no workload has speed; files has readers, block, order, files, file_mib, unverified, duration, start"
        );
        assert_eq!(error(WorkloadKind::Chat, &[("window", "3")]), "window belongs to pacing rounds");
        assert_eq!(error(WorkloadKind::Chat, &[("rooms", "many")]), "rooms must be a whole number, got many");
        assert_eq!(
            error(WorkloadKind::Chat, &[("pacing", "fast")]),
            "pacing must be turns, rounds, flood or rate, got fast"
        );
    }
}
