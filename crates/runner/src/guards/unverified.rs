//! Warns if knobs of a Java were set, and its virtual machine does not say what is in force.

use klatch_record::{Record, Runtime, Warning, WarningKind};

use super::warning;

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let sides = [("server", &record.platform.runtime), ("crowd", &record.crowd.runtime)];
    let is_silent = |runtime: &Runtime| {
        let says = runtime.in_force.as_ref().is_some_and(|vm| vm.options.is_some());
        !runtime.options.is_empty() && !says
    };
    let (side, _) = sides.into_iter().find(|(_, runtime)| runtime.as_ref().is_some_and(&is_silent))?;
    Some(warning(
        WarningKind::Unverified,
        format!(
            "the {side}'s virtual machine does not say which options it obeys, so its knobs are not verified"
        ),
        "leave out -XX:-UsePerfData, or use a JDK, which has jcmd, with HotSpot",
    ))
}

#[cfg(test)]
mod tests {
    use klatch_record::VmInForce;
    use klatch_record::samples::record;

    use super::*;

    fn guarded(options: &[&str], in_force: Option<VmInForce>) -> Option<Warning> {
        let runtime = Runtime {
            version: "17".into(),
            vendor: None,
            path: "/usr/bin/java".into(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            environment: [].into(),
            in_force,
        };
        let mut record = record(1, 1, 1.0);
        record.crowd.runtime = Some(runtime);
        guard(&record)
    }

    #[test]
    fn knobs_of_a_silent_virtual_machine_give_a_warning() {
        let vm =
            |options: Option<&str>| VmInForce { options: options.map(str::to_owned), ..Default::default() };
        for silent in [None, Some(vm(None))] {
            let warning = guarded(&["-Xmx1g"], silent).unwrap();
            assert!(warning.message.starts_with("the crowd's virtual machine"), "{}", warning.message);
        }
        assert_eq!(guarded(&["-Xmx1g"], Some(vm(Some("-Xmx1g")))), None);
        assert_eq!(guarded(&[], None), None);
    }
}
