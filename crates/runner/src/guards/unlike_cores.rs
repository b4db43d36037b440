//! Warns if a side of a run could use cores of several classes, which are not equally fast.

use std::collections::BTreeMap;

use klatch_record::{CORE_CLASSES, Record, Warning, WarningKind, parse_cpu_list};

use super::warning;

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let settings = &record.environment.settings;
    let classes: Vec<(&str, Vec<usize>)> = CORE_CLASSES
        .into_iter()
        .filter_map(|name| Some((name, parse_cpu_list(settings.get(&format!("cores_{name}"))?)?)))
        .collect();
    let own = settings.get("own_cpus").and_then(|cpus| parse_cpu_list(cpus));
    let used = |knobs: &BTreeMap<String, String>| -> Vec<&str> {
        let knob = knobs.get("cpus").map(String::as_str);
        if let Some((name, _)) = classes.iter().find(|(name, _)| Some(*name) == knob) {
            return vec![name];
        }
        let first = knob.and_then(|knob| knob.strip_prefix("first:")?.parse::<usize>().ok());
        let listed = knob.and_then(parse_cpu_list);
        let may_use = |cpu: &usize| match (&listed, &own) {
            (Some(listed), _) => listed.contains(cpu),
            (None, Some(own)) => own.iter().take(first.unwrap_or(usize::MAX)).any(|one| one == cpu),
            (None, None) => true,
        };
        classes.iter().filter(|(_, cpus)| cpus.iter().any(may_use)).map(|(name, _)| *name).collect()
    };
    let sides = [("server", &record.platform.knobs, "knob"), ("crowd", &record.crowd.knobs, "crowd knob")];
    let (side, used, option) = sides
        .into_iter()
        .map(|(side, knobs, option)| (side, used(knobs), option))
        .find(|(_, used, _)| used.len() > 1)?;
    let message = format!("the {side} could use {} cores, which are not equally fast", used.join(" and "));
    let advice = format!("keep it on cores of one class: {option} cpus={}", used[0]);
    Some(warning(WarningKind::UnlikeCores, message, &advice))
}

#[cfg(test)]
mod tests {
    use klatch_record::samples::record;

    use super::*;

    fn guarded(server: Option<&str>, crowd: Option<&str>, own: &str) -> Option<String> {
        let mut record = record(1, 1, 1.0);
        let knobs =
            |cpus: Option<&str>| cpus.map(|cpus| ("cpus".to_owned(), cpus.to_owned())).into_iter().collect();
        (record.platform.knobs, record.crowd.knobs) = (knobs(server), knobs(crowd));
        for (name, cpus) in [("cores_big", "0-3"), ("cores_little", "4-7"), ("own_cpus", own)] {
            record.environment.settings.insert(name.into(), cpus.into());
        }
        guard(&record).map(|warning| format!("{}; {}", warning.message, warning.advice))
    }

    #[test]
    fn a_side_on_unlike_cores_gives_a_warning() {
        let server = guarded(None, None, "0-7").unwrap();
        assert_eq!(
            server,
            "the server could use big and little cores, which are not equally fast; keep it on cores of one class: knob cpus=big"
        );
        assert!(guarded(Some("big"), None, "0-7").unwrap().starts_with("the crowd could use big and little"));
        assert!(guarded(Some("0-4"), Some("big"), "0-7").is_some());
        assert!(guarded(Some("first:5"), Some("little"), "0-7").is_some());
    }

    #[test]
    fn sides_on_cores_of_one_class_give_none() {
        assert_eq!(guarded(Some("big"), Some("4-7"), "0-7"), None);
        assert_eq!(guarded(Some("first:4"), Some("0"), "0-7"), None);
        assert_eq!(guarded(None, None, "4-6"), None);
        assert_eq!(guard(&record(1, 1, 1.0)), None, "cores that are alike");
    }
}
