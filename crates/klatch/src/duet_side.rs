//! One side of `klatch duet`: a platform with knobs, a platform file, or the address of a running server.

use std::str::FromStr;

use klatch_platforms::{PlatformRequest, Setting};
use klatch_runner::Target;

/// A side as the user names it: `NAME[@VERSION][:KNOB=VALUE,…]`, `FILE.toml[:KNOB=VALUE,…]` or `irc://HOST:PORT`.
#[derive(Clone, Debug)]
pub(crate) enum DuetSideName {
    Platform(PlatformRequest),
    Target(Target),
}

impl FromStr for DuetSideName {
    type Err = String;

    fn from_str(text: &str) -> Result<DuetSideName, String> {
        if text.contains("://") {
            return text.parse().map(DuetSideName::Target).map_err(|error| format!("{error}"));
        }
        let (name, knobs) = text.split_once(':').unwrap_or((text, ""));
        if knobs.parse::<u16>().is_ok() {
            // The answer to an address without a scheme.
            return text.parse().map(DuetSideName::Target).map_err(|error| format!("{error}"));
        }
        let knobs = knobs.split(',').filter(|knob| !knob.is_empty()).map(str::parse::<Setting>);
        let settings = knobs.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        if name.is_empty() {
            return Err("a side has the form NAME[@VERSION][:KNOB=VALUE,…]".to_owned());
        }
        let request = PlatformRequest { name: Some(name.to_owned()), settings, ..PlatformRequest::default() };
        request.with_file().map(DuetSideName::Platform).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(text: &str) -> PlatformRequest {
        match text.parse() {
            Ok(DuetSideName::Platform(request)) => request,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_side_is_a_platform_with_knobs_or_a_server() {
        let request = platform("java-threads@21:gc=zgc,yield=on");
        assert_eq!(request.name.as_deref(), Some("java-threads@21"));
        let knobs: Vec<String> = request.settings.iter().map(ToString::to_string).collect();
        assert_eq!(knobs, ["gc=zgc", "yield=on"]);
        assert_eq!(platform("native-epoll").settings.len(), 0);
        assert!(matches!("nats://[::1]:4222".parse(), Ok(DuetSideName::Target(_))));
        for wrong in ["", ":a=b", "fax://x:1", "nowhere.toml", "localhost:6667"] {
            assert!(wrong.parse::<DuetSideName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_platform_file_names_its_folder_as_catalog() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        std::fs::write(&file, "").unwrap();
        let request = platform(file.to_str().unwrap());
        assert_eq!(
            (request.name.as_deref(), request.catalog.as_deref()),
            (Some("mine"), Some(folder.path()))
        );
    }
}
