//! The command-line arguments that settings stand for.

use std::collections::BTreeMap;

use klatch_record::{range_in_words, similar_to};

use crate::catalog::Knob;
use crate::setting::{KnobError, Setting};

impl Setting {
    /// The arguments that this setting stands for.
    pub(crate) fn arguments(&self, knob: &Knob) -> Result<Vec<String>, KnobError> {
        if let Some(arguments) = knob.values.get(&self.value) {
            return Ok(arguments.clone());
        }
        // A switch that lists arguments for one side only has none on the other side.
        let opposite = match self.value.as_str() {
            "on" => "off",
            "off" => "on",
            _ => "",
        };
        if knob.values.contains_key(opposite) {
            return Ok(Vec::new());
        }
        if !knob.accepts(&self.value) {
            let (name, allowed, value) = (self.name.clone(), knob.allowed(), self.value.clone());
            let value = match (value.as_str(), knob.similar_value(&value)) {
                ("on", _) => "on, as a knob without a value is".to_owned(),
                (_, Some(meant)) => format!("{value}; did you mean {meant}?"),
                _ => value,
            };
            return Err(KnobError::Value { name, allowed, value });
        }
        let mut arguments = Vec::new();
        for word in &knob.arguments {
            match word.as_str() {
                "{options}" => arguments.extend(self.options()?),
                word => arguments.push(word.replace("{value}", &self.value)),
            }
        }
        Ok(arguments)
    }

    /// The words of the value, each of which is an option.
    fn options(&self) -> Result<Vec<String>, KnobError> {
        let words: Vec<String> = self.value.split_whitespace().map(str::to_owned).collect();
        match words.iter().find(|word| !word.starts_with('-') || word.starts_with("--")) {
            None => Ok(words),
            Some(word) => Err(KnobError::Refused {
                setting: self.to_string(),
                reason: format!(
                    "{word} is no option of a JVM; they begin with one dash, as -XX:+UseCompactObjectHeaders"
                ),
            }),
        }
    }
}

impl Knob {
    /// Whether it has arguments for this value, which is none of its `values`.
    fn accepts(&self, value: &str) -> bool {
        let number = value.parse::<u64>().ok();
        let inside = |[least, most]: [u64; 2]| number.is_some_and(|number| (least..=most).contains(&number));
        // Without a unit it would be bytes, which nobody means.
        let digits = value.strip_suffix(|unit: char| "kmgtKMGT".contains(unit)).unwrap_or_default();
        let is_size = digits.parse::<u64>().is_ok_and(|size| size > 0);
        !self.arguments.is_empty() && self.range.is_none_or(inside) && (!self.size || is_size)
    }

    /// The value of its list that was probably meant.
    fn similar_value(&self, value: &str) -> Option<String> {
        let names: Vec<&str> = self.values.keys().map(String::as_str).collect();
        similar_to(value, &names).map(str::to_owned)
    }

    /// The values that it can have, in words.
    fn allowed(&self) -> String {
        let listed = self.values.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        match (self.size, self.range) {
            (true, _) => "a size such as 64m or 1g".to_owned(),
            (false, Some([least, most])) if listed.is_empty() => range_in_words(least, most),
            (false, Some([least, most])) => format!("{}, or one of {listed}", range_in_words(least, most)),
            (false, None) => format!("one of {listed}"),
        }
    }
}

/// The arguments of those `settings` that are among `knobs`, in the order of the settings.
pub(crate) fn arguments(
    settings: &[Setting],
    knobs: &BTreeMap<String, Knob>,
) -> Result<Vec<String>, KnobError> {
    let matching = settings.iter().filter_map(|setting| Some((setting, knobs.get(&setting.name)?)));
    let lists: Result<Vec<_>, _> = matching.map(|(setting, knob)| setting.arguments(knob)).collect();
    Ok(lists?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::java_knobs;

    fn set(text: &str) -> Result<Vec<String>, String> {
        let setting: Setting = text.parse().map_err(|error: KnobError| error.to_string())?;
        setting.arguments(&java_knobs()[&setting.name]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_becomes_arguments() {
        assert_eq!(set("heap=64m").unwrap(), ["-Xms64m", "-Xmx64m"]);
        assert_eq!(set("jit=interpreter").unwrap(), ["-Xint"]);
        assert_eq!(
            set("jvm=-XX:-TieredCompilation  -Xshare:off").unwrap(),
            ["-XX:-TieredCompilation", "-Xshare:off"]
        );
        let error = set("jvm").unwrap_err();
        assert!(
            error.starts_with("knob jvm=on: on is no option of a JVM; they begin with one dash"),
            "{error}"
        );
        let yields = Knob {
            help: String::new(),
            values: [("on".into(), vec!["--yield".into()])].into(),
            arguments: Vec::new(),
            range: None,
            size: false,
            workloads: Vec::new(),
            pages: [].into(),
            training: [].into(),
        };
        let set =
            |value: &str| Setting { name: "yield".into(), value: value.into() }.arguments(&yields).unwrap();
        assert_eq!((set("on"), set("off")), (vec!["--yield".to_owned()], Vec::new()));
        assert_eq!("yield".parse(), Ok(Setting { name: "yield".into(), value: "on".into() }));
    }

    #[test]
    fn an_invalid_value_lists_the_allowed_ones() {
        assert_eq!(set("jit=c3").unwrap_err(), "knob jit must be one of c1, interpreter, got c3");
        assert_eq!(
            set("jit=Interpretr").unwrap_err(),
            "knob jit must be one of c1, interpreter, got Interpretr; did you mean interpreter?"
        );
        for (text, got) in
            [("heap=lots", "lots"), ("heap=10", "10"), ("heap=5x", "5x"), ("heap=0m", "0m"), ("stack=m", "m")]
        {
            let (name, _) = text.split_once('=').unwrap();
            let expected = format!("knob {name} must be a size such as 64m or 1g, got {got}");
            assert_eq!(set(text).unwrap_err(), expected);
        }
        assert!(set("heap").unwrap_err().ends_with(", got on, as a knob without a value is"));
        assert_eq!(set("=3").unwrap_err(), "a knob is set by name=value, got =3");
    }
}
