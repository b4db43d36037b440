//! The command-line arguments that settings stand for.

use std::collections::BTreeMap;

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
        if knob.arguments.is_empty() {
            let allowed: Vec<&str> = knob.values.keys().map(String::as_str).collect();
            let (name, allowed, value) = (self.name.clone(), allowed.join(", "), self.value.clone());
            return Err(KnobError::Value { name, allowed, value });
        }
        Ok(knob.arguments.iter().map(|word| word.replace("{value}", &self.value)).collect())
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
        let yields = Knob {
            help: String::new(),
            values: [("on".into(), vec!["--yield".into()])].into(),
            arguments: Vec::new(),
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
        assert_eq!(set("=3").unwrap_err(), "a knob is set by name=value, got =3");
    }
}
