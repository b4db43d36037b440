//! Compares what the knobs of a Java stand for with what its running virtual machine says.
//!
//! A script named `java`, a variable such as `_JAVA_OPTIONS`, or a virtual machine that ignores an option would otherwise put a knob into the
//! record that was not in force.

use std::collections::BTreeMap;

use klatch_record::VmInForce;

use crate::setting::{KnobError, Setting};

/// A knob of a Java, and the options that it stands for.
#[derive(Clone, Debug)]
pub(crate) struct JavaPromise {
    /// The setting as `name=value`.
    pub(crate) setting: String,
    pub(crate) options: Vec<String>,
}

/// Options that select a collector, and what the names of its collectors begin with, in any version of HotSpot.
const COLLECTORS: [(&str, &[&str]); 5] = [
    ("-XX:+UseSerialGC", &["Serial", "Copy", "MSC"]),
    ("-XX:+UseParallelGC", &["Parallel", "PS"]),
    ("-XX:+UseG1GC", &["G1"]),
    ("-XX:+UseZGC", &["Z"]),
    ("-XX:+UseShenandoahGC", &["Shenandoah"]),
];

/// Difference between the heap that is asked for and that of the virtual machine, bytes: it rounds to regions or pages of up to 32 MiB.
const HEAP_ROUNDING_BYTES: u64 = 32 << 20;

impl JavaPromise {
    /// Verifies the knob in the running virtual machine. What that does not say is not compared.
    ///
    /// # Errors
    /// Something else is in force.
    pub(crate) fn verify(&self, vm: &VmInForce, variables: &[(String, String)]) -> Result<(), KnobError> {
        let checks: [fn(&str, &VmInForce) -> Option<String>; 5] = [collector, heap, mode, kind, option];
        let contradiction = |option: &String| checks.iter().find_map(|check| check(option, vm));
        match self.options.iter().find_map(contradiction) {
            None => Ok(()),
            Some(actual) => {
                let reason = format!("the running virtual machine {actual}; {}", remedy(variables));
                Err(KnobError::Refused { setting: self.setting.clone(), reason })
            }
        }
    }
}

/// The knob whose options are any.
const ANY_OPTIONS: &str = "jvm=";

impl JavaPromise {
    /// Whether only the flags of the virtual machine prove it: they are any, so one can be accepted and have no effect.
    pub(crate) fn needs_flags(&self) -> bool {
        self.setting.starts_with(ANY_OPTIONS)
    }

    /// Verifies the knob in the flags of the running virtual machine.
    ///
    /// # Errors
    /// A flag has another value, or the virtual machine has no such flag.
    pub(crate) fn verify_flags(&self, flags: &BTreeMap<String, String>) -> Result<(), KnobError> {
        let contradiction = |option: &String| {
            let (name, asked) = parse(option).filter(|_| option.starts_with("-XX:"))?;
            let asked = match asked.as_str() {
                "+" => "true".to_owned(),
                "-" => "false".to_owned(),
                _ => asked,
            };
            match flags.get(&name) {
                // Sizes are in bytes, but that of the stack in KiB.
                Some(actual) if size_text(actual) == asked => None,
                Some(actual) if size_text(&format!("{actual}k")) == asked => None,
                Some(actual) => Some(format!("runs with {name} = {actual} in spite of {option}")),
                None => Some(format!("has no flag {name}, so {option} has no effect")),
            }
        };
        match self.options.iter().find_map(contradiction) {
            None => Ok(()),
            Some(actual) => {
                let reason = format!(
                    "the running virtual machine {actual}; leave the option out, or use another Java"
                );
                Err(KnobError::Refused { setting: self.setting.clone(), reason })
            }
        }
    }
}

/// What to do about an option that is not in force.
fn remedy(variables: &[(String, String)]) -> String {
    let set: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if set.is_empty() {
        "see what the program of this Java does with its options, or use another Java".to_owned()
    } else {
        format!("unset {}, or leave the knob out", set.join(" and "))
    }
}

/// The promises of the settings that are knobs of a Java.
pub(crate) fn promises(
    settings: &[Setting],
    options_of: impl Fn(&Setting) -> Option<Result<Vec<String>, KnobError>>,
) -> Result<Vec<JavaPromise>, KnobError> {
    let promise = |setting: &Setting| {
        let options = options_of(setting)?;
        Some(options.map(|options| JavaPromise { setting: setting.to_string(), options }))
    };
    settings.iter().filter_map(promise).collect()
}

fn collector(option: &str, vm: &VmInForce) -> Option<String> {
    let (_, families) = COLLECTORS.iter().find(|(selects, _)| *selects == option)?;
    let is_of = |families: &[&str], name: &String| families.iter().any(|family| name.starts_with(family));
    let is_known = |name: &&String| COLLECTORS.iter().any(|(_, families)| is_of(families, name));
    let other = vm.collectors.iter().filter(is_known).find(|name| !is_of(families, name))?;
    Some(format!("collects garbage with {other:?}"))
}

fn heap(option: &str, vm: &VmInForce) -> Option<String> {
    let asked = bytes(option.strip_prefix("-Xmx")?)?;
    let actual = vm.heap_max_bytes?;
    let differs = actual.abs_diff(asked) > HEAP_ROUNDING_BYTES.max(asked / 8);
    differs.then(|| format!("has a heap of up to {} MiB", actual >> 20))
}

/// Execution of byte code, and sharing of classes.
fn mode(option: &str, vm: &VmInForce) -> Option<String> {
    let mode = vm.mode.as_deref()?;
    let contradicts = match option {
        "-Xint" => !mode.contains("interpreted"),
        "-Xshare:off" => mode.contains("sharing"),
        "-Xshare:on" => !mode.contains("sharing"),
        _ => false,
    };
    contradicts.then(|| format!("is in {mode:?}"))
}

/// The launcher removes `-zero`, so it is in no list of options.
fn kind(option: &str, vm: &VmInForce) -> Option<String> {
    (option == "-zero" && !vm.version.is_empty() && !vm.version.contains("Zero"))
        .then(|| format!("is {}", vm.version))
}

/// Of options that set the same the last counts.
fn option(option: &str, vm: &VmInForce) -> Option<String> {
    // The list has no quotes, so a path with a space cannot be found in it.
    let (name, value) = parse(option).filter(|_| !option.contains(' '))?;
    let all = vm.options.as_deref()?;
    let last = all.split(' ').rfind(|other| parse(other).is_some_and(|(other, _)| other == name));
    match last {
        Some(last) if parse(last).is_some_and(|(_, other)| other == value) => None,
        Some(last) => Some(format!("obeys {last}, not {option}")),
        None => Some(format!("did not get {option}")),
    }
}

/// What an option sets, and to what: `-Xmx1g` sets the same as `-XX:MaxHeapSize=1024m`. `None` for options that set nothing known.
fn parse(option: &str) -> Option<(String, String)> {
    let set = |name: &str, value: String| Some((name.to_owned(), value));
    for (prefix, name) in [("-Xmx", "MaxHeapSize"), ("-Xms", "InitialHeapSize"), ("-Xss", "ThreadStackSize")]
    {
        if let Some(size) = option.strip_prefix(prefix) {
            return set(name, size_text(size));
        }
    }
    if matches!(option, "-Xint" | "-Xmixed" | "-Xcomp") {
        return set("mode", option.to_owned());
    }
    if let Some(share) = option.strip_prefix("-Xshare:") {
        return set("share", share.to_owned());
    }
    let flag = option.strip_prefix("-XX:")?;
    if let Some((name, value)) = flag.split_once('=') {
        // Unlike that of -Xss, its unit is KiB.
        let value = if name == "ThreadStackSize" { format!("{value}k") } else { value.to_owned() };
        return set(name, size_text(&value));
    }
    let (sign, name) = flag.split_at_checked(1)?;
    matches!(sign, "+" | "-").then(|| (name.to_owned(), sign.to_owned()))
}

/// A size in bytes as text; other values stay as they are.
fn size_text(value: &str) -> String {
    bytes(value).map_or_else(|| value.to_owned(), |bytes| bytes.to_string())
}

/// A size as Java writes it: `65536`, `64k`, `64m`, `1g`, `1T`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vm(options: &str, collector: &str) -> VmInForce {
        VmInForce {
            version: "OpenJDK 64-Bit Server VM 17.0.15+6".to_owned(),
            mode: Some("mixed mode, sharing".to_owned()),
            collectors: vec![collector.to_owned()],
            heap_max_bytes: Some(64 << 20),
            options: Some(options.to_owned()),
            ..VmInForce::default()
        }
    }

    fn verify(options: &[&str], vm: &VmInForce) -> Result<(), String> {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let promise = JavaPromise { setting: "knob=value".to_owned(), options };
        promise.verify(vm, &[]).map_err(|error| error.to_string())
    }

    const G1: &str = "G1 young collection pauses";

    #[test]
    fn options_in_force_are_accepted_however_they_are_written() {
        for (asked, has) in [
            (&["-Xms64m", "-Xmx64m"][..], "-Xmx1g -XX:MaxHeapSize=65536k -Xms64m"),
            (&["-Xss1m"], "-Xss256k -XX:ThreadStackSize=1024"),
            (&["-XX:+UseG1GC"], "-XX:+UseG1GC -Dfile=1"),
            (&["-XX:TieredStopAtLevel=1"], "-XX:TieredStopAtLevel=1"),
        ] {
            assert_eq!(verify(asked, &vm(has, G1)), Ok(()), "{asked:?}");
        }
    }

    #[test]
    fn whatever_else_is_in_force_is_refused_by_name() {
        for (asked, has, collector, words) in [
            (&["-Xms64m", "-Xmx64m"][..], "-Xms64m -Xmx64m -Xmx1g", G1, "obeys -Xmx1g, not -Xmx64m"),
            (&["-XX:+UseZGC"], "", G1, "collects garbage with \"G1 young collection pauses\""),
            (&["-XX:+UseZGC"], "", "?", "did not get -XX:+UseZGC"),
            (&["-Xmx512m"], "-Xmx512m", G1, "has a heap of up to 64 MiB"),
            (&["-Xint"], "-Xint", G1, "is in \"mixed mode, sharing\""),
            (&["-Xshare:off"], "-Xshare:off", G1, "is in \"mixed mode, sharing\""),
            (&["-zero"], "", G1, "is OpenJDK 64-Bit Server VM 17.0.15+6"),
            (&["-XX:-UseLargePages"], "-XX:+UseLargePages", G1, "obeys -XX:+UseLargePages"),
        ] {
            let error = verify(asked, &vm(has, collector)).unwrap_err();
            assert!(error.contains(words) && error.starts_with("knob knob=value: "), "{error}");
        }
    }

    #[test]
    fn what_a_virtual_machine_does_not_say_is_not_compared() {
        assert_eq!(verify(&["-Xmx64m", "-Xint", "-XX:+UseZGC"], &VmInForce::default()), Ok(()));
    }

    #[test]
    fn a_flag_without_effect_is_refused() {
        let promise = |options: &str| JavaPromise {
            setting: format!("jvm={options}"),
            options: options.split(' ').map(str::to_owned).collect(),
        };
        let flags =
            [("UseCompactObjectHeaders", "false"), ("MaxHeapSize", "67108864"), ("UseSerialGC", "true")];
        let flags = flags.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(promise("-XX:+UseSerialGC -XX:MaxHeapSize=64m -Xint").verify_flags(&flags), Ok(()));
        let error = |options: &str| promise(options).verify_flags(&flags).unwrap_err().to_string();
        assert!(
            error("-XX:+UseCompactObjectHeaders")
                .contains("runs with UseCompactObjectHeaders = false in spite of"),
        );
        assert!(error("-XX:+UseNothing").contains("has no flag UseNothing"));
    }

    #[test]
    fn every_collector_of_the_knob_can_be_recognised() {
        let knobs = crate::catalog::java_knobs();
        for options in knobs["gc"].values.values() {
            assert!(COLLECTORS.iter().any(|(selects, _)| options.iter().any(|option| option == selects)));
        }
    }
}
