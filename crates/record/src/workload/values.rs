//! Values of settings, as text.

use std::fmt::Display;
use std::str::FromStr;

use super::WorkloadError;
use crate::times::{TIME_FORMS, seconds_of};

/// The form of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A time: `30s`, `1h30m`, or a number of seconds.
    Time,
    /// `on` or `off`.
    Switch,
    /// One of these words, each with what it means, which may be empty.
    Words(&'static [(&'static str, &'static str)]),
    /// Text of another form.
    Text,
    /// Lines, each of which is an option of its own.
    Lines,
}

/// Reads and writes the value of a setting.
pub(super) trait Value {
    /// Its form.
    fn form(&self) -> Form;

    /// Its text, which [`Value::parse`] takes; `None` if there is none.
    fn print(&self) -> Option<String>;

    /// Takes it from text. The error names the setting.
    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError>;

    /// It as a number, to compare with a range.
    fn number(&self) -> Option<f64> {
        None
    }
}

fn parsed<T: FromStr>(setting: &'static str, text: &str, must_be: &str) -> Result<T, WorkloadError> {
    text.parse().map_err(|_| WorkloadError::out_of(setting, must_be, text))
}

impl Value for &mut u32 {
    fn form(&self) -> Form {
        Form::Whole
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        **self = parsed(setting, text, "a whole number")?;
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        Some((**self).into())
    }
}

impl Value for &mut f64 {
    fn form(&self) -> Form {
        Form::Number
    }

    fn print(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        **self = parsed(setting, text, "a number")?;
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        Some(**self)
    }
}

impl Value for &mut Option<f64> {
    fn form(&self) -> Form {
        Form::Number
    }

    fn print(&self) -> Option<String> {
        self.map(|number| number.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        **self = Some(parsed(setting, text, "a number")?);
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        **self
    }
}

impl Value for &mut Option<String> {
    fn form(&self) -> Form {
        Form::Text
    }

    fn print(&self) -> Option<String> {
        (**self).clone()
    }

    fn parse(&mut self, _: &'static str, text: &str) -> Result<(), WorkloadError> {
        **self = Some(text.to_owned());
        Ok(())
    }
}

/// A text that may be absent, and must be in a form.
pub(super) struct Formed<'a> {
    pub(super) text: &'a mut Option<String>,
    pub(super) is_right: fn(&str) -> bool,
    pub(super) form: &'static str,
}

impl Value for Formed<'_> {
    fn form(&self) -> Form {
        Form::Text
    }

    fn print(&self) -> Option<String> {
        self.text.clone()
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        if !(self.is_right)(text) {
            return Err(WorkloadError::out_of(setting, self.form, text));
        }
        *self.text = Some(text.to_owned());
        Ok(())
    }
}

/// A whole number that may be absent.
pub(super) struct OptionalWhole<'a>(pub(super) &'a mut Option<u32>);

impl Value for OptionalWhole<'_> {
    fn form(&self) -> Form {
        Form::Whole
    }

    fn print(&self) -> Option<String> {
        self.0.map(|number| number.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        *self.0 = Some(parsed(setting, text, "a whole number")?);
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        self.0.map(f64::from)
    }
}

/// Values, each of which is a line. Those of another text follow those of the first.
impl<T: FromStr<Err = String> + Display> Value for &mut Vec<T> {
    fn form(&self) -> Form {
        Form::Lines
    }

    fn print(&self) -> Option<String> {
        let lines: Vec<String> = self.iter().map(T::to_string).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        for line in text.split('\n') {
            self.push(line.parse().map_err(|form| WorkloadError::Form { setting, form })?);
        }
        Ok(())
    }
}

fn switch(is_on: bool) -> Option<String> {
    Some((if is_on { "on" } else { "off" }).to_owned())
}

impl Value for &mut bool {
    fn form(&self) -> Form {
        Form::Switch
    }

    fn print(&self) -> Option<String> {
        switch(**self)
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        **self = match text {
            "on" | "true" => true,
            "off" | "false" => false,
            _ => return Err(WorkloadError::out_of(setting, "on or off", text)),
        };
        Ok(())
    }
}

/// A switch that is on where the field is `false`.
pub(super) struct Inverse<'a>(pub(super) &'a mut bool);

impl Value for Inverse<'_> {
    fn form(&self) -> Form {
        Form::Switch
    }

    fn print(&self) -> Option<String> {
        switch(!*self.0)
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        let mut inverse = false;
        (&mut inverse).parse(setting, text)?;
        *self.0 = !inverse;
        Ok(())
    }
}

/// A time, whose field is in seconds.
pub(super) struct Seconds<'a>(pub(super) &'a mut f64);

impl Value for Seconds<'_> {
    fn form(&self) -> Form {
        Form::Time
    }

    fn print(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        *self.0 = seconds_of(text).ok_or_else(|| WorkloadError::out_of(setting, TIME_FORMS, text))?;
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        Some(*self.0)
    }
}

/// A time that may be absent, whose field is in seconds.
pub(super) struct OptionalSeconds<'a>(pub(super) &'a mut Option<f64>);

impl Value for OptionalSeconds<'_> {
    fn form(&self) -> Form {
        Form::Time
    }

    fn print(&self) -> Option<String> {
        self.0.map(|seconds| seconds.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        let mut seconds = 0.0;
        Seconds(&mut seconds).parse(setting, text)?;
        *self.0 = Some(seconds);
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        *self.0
    }
}

/// A number that is absent if it is 0.
pub(super) struct NonZero<'a>(pub(super) &'a mut f64);

impl Value for NonZero<'_> {
    fn form(&self) -> Form {
        Form::Number
    }

    fn print(&self) -> Option<String> {
        (*self.0 != 0.0).then(|| self.0.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        *self.0 = parsed(setting, text, "a number")?;
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        Some(*self.0)
    }
}

/// A whole number that is absent if it is 0.
pub(super) struct NonZeroWhole<'a>(pub(super) &'a mut u32);

impl Value for NonZeroWhole<'_> {
    fn form(&self) -> Form {
        Form::Whole
    }

    fn print(&self) -> Option<String> {
        (*self.0 != 0).then(|| self.0.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        *self.0 = parsed(setting, text, "a whole number")?;
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        Some((*self.0).into())
    }
}

/// Bytes, with KiB or MiB if it is one of those.
pub(super) struct Bytes<'a>(pub(super) &'a mut u32);

impl Value for Bytes<'_> {
    fn form(&self) -> Form {
        Form::Whole
    }

    fn print(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("", 1)];
        let bytes = units.into_iter().find_map(|(unit, factor)| {
            text.strip_suffix(unit).and_then(|number| number.parse::<u32>().ok()?.checked_mul(factor))
        });
        let must_be = "a number of bytes, such as 4096 or 4KiB";
        *self.0 = bytes.ok_or_else(|| WorkloadError::out_of(setting, must_be, text))?;
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        Some((*self.0).into())
    }
}

/// A speed in kbit/s, or none for no limit.
pub(super) struct Speed<'a>(pub(super) &'a mut Option<u32>);

impl Value for Speed<'_> {
    fn form(&self) -> Form {
        Form::Text
    }

    fn print(&self) -> Option<String> {
        Some(self.0.map_or("none".to_owned(), |kbit| format!("{kbit}kbit")))
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        *self.0 = match text {
            "none" => None,
            _ => Some(parsed(
                setting,
                text.strip_suffix("kbit").unwrap_or(text),
                "a number of kbit/s, such as 400kbit, or none",
            )?),
        };
        Ok(())
    }

    fn number(&self) -> Option<f64> {
        self.0.map(f64::from)
    }
}

/// One of some words.
pub(super) struct Word<'a, T> {
    pub(super) word: &'a mut T,
    pub(super) words: &'static [(&'static str, &'static str)],
}

impl<T: FromStr + Display> Value for Word<'_, T> {
    fn form(&self) -> Form {
        Form::Words(self.words)
    }

    fn print(&self) -> Option<String> {
        Some(self.word.to_string())
    }

    fn parse(&mut self, setting: &'static str, text: &str) -> Result<(), WorkloadError> {
        *self.word = text.parse().map_err(|_| WorkloadError::not_a_word(setting, self.words, text))?;
        Ok(())
    }
}
