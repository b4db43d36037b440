//! The settings of each kind of workload, and workloads made of them.

use super::settings::{Form, Scope, Setting};
use super::{Workload, WorkloadError, WorkloadKind};

/// The setting that a target may have in its address.
const URL: &str = "url";

impl WorkloadKind {
    /// The workload with these settings, by name and value, in any order. All others have their defaults.
    ///
    /// # Errors
    /// A name or a value that this kind does not have, or a combination that cannot be.
    pub fn workload(self, given: &[(&str, &str)]) -> Result<Workload, WorkloadError> {
        let known = |name: &str| self.settings().iter().any(|setting| setting.name == name);
        if let Some((name, _)) = given.iter().find(|(name, _)| !known(name)) {
            return Err(WorkloadError::foreign(name, self));
        }
        let is_given = |name: &str| given.iter().any(|(given, _)| *given == name);
        for setting in self.settings().iter().filter(|setting| is_given(setting.name)) {
            if let Some(setting_too) = setting.excludes.iter().find(|name| is_given(name)) {
                return Err(WorkloadError::Conflict { setting: setting_too, other: setting.name });
            }
        }
        let mut workload = self.usual();
        // In the order of declaration: a window needs its pacing.
        for setting in self.settings() {
            for (_, text) in given.iter().filter(|(name, _)| *name == setting.name) {
                setting.set(&mut workload, text)?;
            }
        }
        workload.follow(is_given);
        workload.check()?;
        Ok(workload)
    }
}

impl Workload {
    /// All settings that have a value, with it, but those that another one stands in place of. [`WorkloadKind::workload`] makes the same workload of them.
    pub fn settings(&self) -> Vec<(&'static Setting, String)> {
        let one = |setting: &'static Setting| Some((setting, setting.value_of(self)?));
        let mut all: Vec<_> = self.kind().settings().iter().filter_map(one).collect();
        let excluded: Vec<&str> = all.iter().flat_map(|(setting, _)| setting.excludes).copied().collect();
        all.retain(|(setting, _)| !excluded.contains(&setting.name));
        all
    }

    /// The options that describe this workload to `klatch run` and to a crowd.
    pub fn options(&self) -> Vec<String> {
        self.options_of(self.settings())
    }

    /// The same where the address of the target has the URL of requests.
    pub fn options_beside_url(&self) -> Vec<String> {
        self.options_of(self.settings().into_iter().filter(|(setting, _)| setting.name != URL).collect())
    }

    /// The options that describe this workload to `klatch duet`, without those that have their defaults; `has_url`: the addresses of its
    /// sides have the URL of requests.
    pub fn options_of_duet(&self, has_url: bool) -> Vec<String> {
        let usual = self.kind().usual();
        let settings = self
            .settings()
            .into_iter()
            .filter(|(setting, _)| setting.scope == Scope::All && !(has_url && setting.name == URL));
        // A default that follows from other settings is not that of the usual workload.
        let other = |(setting, value): &(&Setting, String)| {
            setting.follows.is_some() || setting.value_of(&usual).as_ref() != Some(value)
        };
        self.options_of(settings.filter(other).collect())
    }

    fn options_of(&self, settings: Vec<(&'static Setting, String)>) -> Vec<String> {
        // The Java crowd knows chat alone, so its options do not name it.
        let kind =
            (self.kind() != WorkloadKind::Chat).then(|| ["--workload".to_owned(), self.kind().to_string()]);
        let one = |(setting, value): (&Setting, String)| match (setting.form(), value.as_str()) {
            (Form::Switch, "on") => vec![setting.option()],
            (Form::Switch, _) => vec![],
            (Form::Lines, lines) => {
                lines.split('\n').flat_map(|line| [setting.option(), line.to_owned()]).collect()
            }
            _ => vec![setting.option(), value],
        };
        kind.into_iter().flatten().chain(settings.into_iter().flat_map(one)).collect()
    }

    /// Checks every setting against its range, and all of them together.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        let mut workload = self.clone();
        self.kind().settings().iter().try_for_each(|setting| setting.check(&mut workload))?;
        self.check_together()
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
