//! The table `[workload]` of a study file: the kind, and the settings that the workloads declare.

use std::ops::Range;

use klatch_record::settings::{Scope, Setting};
use klatch_record::{WorkloadError, WorkloadKind, seconds_of};
use toml::Spanned;

use super::{Knobs, MeasuredFile};
use crate::file::{Axis, Scalar, StudyFile, StudyFileError};
use crate::search::Search;

/// The key of the kind.
const KIND: &str = "kind";
/// The key of a named test.
const PRESET: &str = "preset";
/// The test of `klatch run --volanomark`, with its crowd and its yields.
const VOLANOMARK: &str = "volanomark";

/// The table, checked.
pub(crate) struct WorkloadTable<'a> {
    pub(crate) kind: WorkloadKind,
    /// It is the VolanoMark test.
    pub(crate) is_volanomark: bool,
    values: &'a Knobs,
}

impl<'a> WorkloadTable<'a> {
    /// The table of a file.
    pub(crate) fn of(
        file: &'a MeasuredFile,
        source: &StudyFile,
    ) -> Result<WorkloadTable<'a>, StudyFileError> {
        let values = &file.workload;
        let kind = match one(values, KIND, source)? {
            Some((span, name)) => name.parse().map_err(|error| source.error_at(span, error))?,
            None => WorkloadKind::default(),
        };
        let is_volanomark = match one(values, PRESET, source)? {
            None => false,
            Some((_, VOLANOMARK)) if kind == WorkloadKind::Chat => true,
            Some((span, VOLANOMARK)) => {
                return Err(
                    source.error_at(span, format!("preset belongs to the workload chat, not to {kind}"))
                );
            }
            Some((span, other)) => {
                return Err(source.error_at(span, format!("preset must be {VOLANOMARK}, got {other}")));
            }
        };
        let table = WorkloadTable { kind, is_volanomark, values };
        table.check(file, source)?;
        Ok(table)
    }

    /// The settings with values, in the order of declaration.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static Setting, &'a Spanned<Axis<Scalar>>)> {
        let values = self.values;
        settings_of_studies(self.kind).filter_map(|setting| Some((setting, values.get(setting.name)?)))
    }

    fn get(&self, name: &str) -> Option<&'a Spanned<Axis<Scalar>>> {
        self.values.get(name)
    }

    /// Checks that the settings of the table belong together.
    fn check(&self, file: &MeasuredFile, source: &StudyFile) -> Result<(), StudyFileError> {
        let kind = self.kind;
        for (name, values) in self.values.iter().filter(|(name, _)| ![KIND, PRESET].contains(&name.as_str()))
        {
            if settings_of_studies(kind).all(|setting| setting.name != name) {
                return Err(source.error_at(values.span(), WorkloadError::foreign(name, kind)));
            }
        }
        self.check_knee(file, source)?;
        if let Some(instruments) = file.instruments.as_ref().filter(|_| file.rules.is_duet()) {
            let message = "a duet runs without instruments, which would work while the other side is measured; leave them out, \
                           or take another preset";
            return Err(source.error_at(instruments.span(), message));
        }
        let of_ends = settings_of_studies(kind).filter(|setting| setting.scope == Scope::End);
        if let Some((setting, values)) = of_ends
            .filter_map(|setting| Some((setting.name, self.get(setting.name)?)))
            .next()
            .filter(|_| file.rules.is_duet())
        {
            let message = format!(
                "the starts of a duet are as long as duration in [rules] says, so its workload has no {setting}"
            );
            return Err(source.error_at(values.span(), message));
        }
        match self.is_volanomark {
            true => self.check_volanomark(file, source),
            false => Ok(()),
        }
    }

    /// Refuses what the VolanoMark test has of its own.
    fn check_volanomark(&self, file: &MeasuredFile, source: &StudyFile) -> Result<(), StudyFileError> {
        if let Some(pacing) = self.get("pacing") {
            return Err(source.error_at(pacing.span(), "the VolanoMark test has pacing turns; leave it out"));
        }
        match file.crowd.get("kind") {
            Some(kind) => {
                Err(source
                    .error_at(kind.span(), "the VolanoMark test has a crowd of its own; leave kind out"))
            }
            None => Ok(()),
        }
    }

    /// A knee sets the rates itself, so it needs a workload with a rate.
    fn check_knee(&self, file: &MeasuredFile, source: &StudyFile) -> Result<(), StudyFileError> {
        let knee = file.search.as_ref().filter(|search| matches!(search.get_ref(), Search::Knee { .. }));
        let Some(knee) = knee else { return Ok(()) };
        let kind = self.kind;
        if settings_of_studies(kind).all(|setting| setting.name != "rate") {
            let message = format!(
                "the {}s of {kind} have no rate, so there is no knee; search a limit",
                kind.party_name()
            );
            return Err(source.error_at(knee.span(), message));
        }
        if let Some(stages) = self.get("stages") {
            let message = "stages cannot be combined with a knee, which sets the rates itself";
            return Err(source.error_at(stages.span(), message));
        }
        match self.get("pause") {
            Some(pause) if pause.get_ref().0.iter().any(|value| seconds_of(&value.0) != Some(0.0)) => {
                let message = "pause cannot be combined with a knee, whose schedules are fixed in advance";
                Err(source.error_at(pause.span(), message))
            }
            _ => Ok(()),
        }
    }
}

/// The settings that a study file can set.
pub(crate) fn settings_of_studies(kind: WorkloadKind) -> impl Iterator<Item = &'static Setting> {
    kind.settings().iter().filter(|setting| matches!(setting.scope, Scope::All | Scope::End))
}

/// The value of a key that is no axis.
fn one<'a>(
    values: &'a Knobs,
    name: &str,
    source: &StudyFile,
) -> Result<Option<(Range<usize>, &'a str)>, StudyFileError> {
    let Some(values) = values.get(name) else { return Ok(None) };
    match values.get_ref().0.as_slice() {
        [value] => Ok(Some((values.span(), &value.0))),
        _ => Err(source.error_at(values.span(), format!("{name} has one value; it is no axis"))),
    }
}
