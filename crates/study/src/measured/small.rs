//! A study that options describe instead of a file: several platforms, or several starts of one.

use klatch_record::{InstrumentName, Requirement};
use toml::{Table, Value};

use crate::file::StudyFile;

/// A study without axes but the platforms, and with fixed numbers of starts and trials.
#[derive(Clone, Debug, Default)]
pub struct SmallStudy {
    /// Its name, which is part of that of its folder.
    pub name: String,
    /// The platforms, by name.
    pub platforms: Vec<String>,
    /// Kind and settings of the workload.
    pub workload: Vec<(String, String)>,
    /// Knobs of every platform, and the number of server processes.
    pub server: Vec<(String, String)>,
    /// Kind, loops, shards and knobs of the crowd.
    pub crowd: Vec<(String, String)>,
    /// How the crowd connects.
    pub connecting: Vec<(String, String)>,
    /// Settings of the machine.
    pub sysctls: Vec<(String, String)>,
    /// Scheduler to load.
    pub scheduler: Option<String>,
    /// Instruments of every run.
    pub instruments: Vec<InstrumentName>,
    /// Warm-up runs after each start.
    pub warmups: u32,
    /// Length of one warm-up run after each start, in place of such runs.
    pub warmup: Option<String>,
    /// Trials after each start, 2 to 1000.
    pub trials: u32,
    /// Starts of each platform, 1 to 100.
    pub starts: u32,
    /// Requirements of every platform.
    pub require: Vec<Requirement>,
}

impl SmallStudy {
    /// The study as a file of its own would declare it.
    pub fn file(&self) -> StudyFile {
        let mut file = Table::new();
        file.insert("question".to_owned(), self.question().into());
        file.insert("platforms".to_owned(), self.platforms.clone().into());
        if let Some(scheduler) = &self.scheduler {
            file.insert("schedulers".to_owned(), scheduler.clone().into());
        }
        if !self.instruments.is_empty() {
            let names: Vec<&str> = self.instruments.iter().map(|instrument| instrument.name()).collect();
            file.insert("instruments".to_owned(), names.into());
        }
        let tables = [
            ("workload", &self.workload),
            ("server", &self.server),
            ("crowd", &self.crowd),
            ("connecting", &self.connecting),
            ("sysctls", &self.sysctls),
        ];
        for (name, settings) in tables.into_iter().filter(|(_, settings)| !settings.is_empty()) {
            let value = |(name, value): &(String, String)| (name.clone(), Value::from(value.clone()));
            file.insert(name.to_owned(), Table::from_iter(settings.iter().map(value)).into());
        }
        if !self.require.is_empty() {
            file.insert("require".to_owned(), self.require().into());
        }
        let rules = [
            ("preset", Value::from("ibm-2000")),
            match &self.warmup {
                Some(time) => ("warmup", Value::from(time.clone())),
                None => ("warmups", i64::from(self.warmups).into()),
            },
            ("trials_max", i64::from(self.trials).into()),
            ("starts", i64::from(self.starts).into()),
        ];
        let rules = rules.map(|(name, value)| (name.to_owned(), value));
        file.insert("rules".to_owned(), Table::from_iter(rules).into());
        StudyFile::of_options(&self.name, file.to_string())
    }

    /// The table `[require]`: the limits of each metric.
    fn require(&self) -> Table {
        let mut table = Table::new();
        for Requirement { metric, text, .. } in &self.require {
            let limit = text.strip_prefix(metric.as_str()).unwrap_or(text).trim();
            let limits = table.entry(metric.clone()).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(limits) = limits {
                limits.push(limit.into());
            }
        }
        table
    }

    fn question(&self) -> String {
        match self.platforms.as_slice() {
            [only] => format!("How fast is {only}, over {} starts?", self.starts),
            several => format!("Which of {} is the fastest?", several.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::StudyBase;

    #[test]
    fn options_make_the_study_that_a_file_would() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let small = SmallStudy {
            name: "run".to_owned(),
            platforms: vec!["native-epoll".to_owned(), "native-threads".to_owned()],
            workload: vec![pair("kind", "chat"), pair("rooms", "3")],
            server: vec![pair("transport", "tls")],
            crowd: vec![pair("kind", "native"), pair("loops", "1")],
            connecting: vec![pair("tls_version", "1.3")],
            warmups: 1,
            trials: 2,
            starts: 4,
            require: vec!["p99 <= 5ms".parse().unwrap(), "p99 > 1us".parse().unwrap()],
            ..SmallStudy::default()
        };
        let file = small.file();
        let build = klatch_record::Build { version: "1".into(), ..klatch_record::Build::default() };
        let base = StudyBase {
            platforms: Default::default(),
            label: None,
            out: "results".into(),
            build,
            preset: None,
        };
        let plan = file.measured(&base, 1).unwrap();
        let ids: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
        assert_eq!(ids, ["native-epoll", "native-threads"]);
        assert_eq!((plan.runs(), plan.rules.warmups), ((24, 24), 1), "2 platforms × 4 starts × (1 + 2)");
        assert_eq!(plan.cells[0].plan.workload.parties(), 3);
        let platform = plan.cells[0].plan.subject.platform().unwrap();
        assert_eq!(platform.connecting.tls_version, Some(klatch_record::TlsVersion::V1_3));
        assert_eq!(plan.requirements, small.require);
        assert_eq!(plan.head.question, "Which of native-epoll, native-threads is the fastest?");
    }
}
