//! The settings take effect in a real program and in its threads, according to /proc.

use super::*;

fn launch(settings: &[&str]) -> Result<Launch, String> {
    let settings: Vec<Setting> = settings.iter().map(|text| text.parse().unwrap()).collect();
    Launch::new(&settings).map_err(|error| error.to_string())
}

/// All lines that `script` prints under these settings.
fn prints(settings: &[&str], script: &str) -> String {
    let mut command = Program::new("sh");
    launch(settings).unwrap().apply(command.args(["-c", script]));
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn cpus_apply_to_the_program_and_its_children() {
    let status = "grep Cpus_allowed_list /proc/self/status";
    let first = prints(&["cpus=first:1"], status);
    let cpu = first.split_whitespace().last().unwrap();
    assert_eq!(prints(&[&format!("cpus={cpu}")], &format!("{status}; {status}")), first.repeat(2));
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let error = launch(&["cpus=1000"]).unwrap_err();
    assert_eq!(error, format!("knob cpus=1000: CPU 1000 does not exist; this machine has {}", online.trim()));
}

#[test]
fn timers_of_a_crowd_are_exact_and_those_of_a_server_are_not_touched() {
    let slack_ns = |launch: Launch| -> String {
        let mut command = Program::new("sh");
        launch.apply(command.args(["-c", "cat /proc/self/timerslack_ns"]));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let own = std::fs::read_to_string("/proc/self/timerslack_ns").unwrap();
    assert_eq!(slack_ns(Launch::default()), own);
    assert_eq!(slack_ns(Launch::default().with_exact_timers()), "1\n");
}

#[test]
fn nice_and_policy_apply_to_the_program() {
    // Fields 19 and 41 of /proc/PID/stat, counted after the name in field 2.
    let stat = |settings: &[&str]| {
        let text = prints(settings, "exec cat /proc/self/stat");
        let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
        (fields[16].to_owned(), fields[38].to_owned())
    };
    assert_eq!(stat(&["nice=7", "policy=batch"]), ("7".into(), "3".into()));
    assert_eq!(stat(&["policy=idle", "nice=19"]), ("19".into(), "5".into()));
    for wrong in ["nice=20", "nice=x", "nice=-21"] {
        assert!(launch(&[wrong]).unwrap_err().ends_with("must be a whole number from -20 to 19"));
    }
    for wrong in ["policy=fifo", "policy=fifo:0", "policy=rr:100", "policy=other:1", "policy=deadline"] {
        assert!(launch(&[wrong]).unwrap_err().contains(": must be other, batch, idle, fifo:1 to fifo:99"));
    }
}

#[test]
fn transparent_huge_pages_can_be_turned_off() {
    assert_eq!(prints(&["thp=never"], "grep THP_enabled /proc/self/status"), "THP_enabled:\t0\n");
    assert!(
        launch(&["thp=always"]).unwrap_err().contains("a process can only have fewer than the system gives")
    );
    assert!(launch(&["thp=huge"]).unwrap_err().ends_with("must be never or madvise"));
}

/// A setting that the kernel refuses with this error, or ignores.
#[derive(Debug)]
struct Refused(Option<i32>);

impl ProcessSetting for Refused {
    fn set(&self) -> io::Result<()> {
        self.0.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
    }

    fn in_force(&self) -> io::Result<bool> {
        Ok(false)
    }

    fn advice(&self, refusal: &Refusal) -> String {
        match refusal {
            Refusal::Error(error) => error.to_string(),
            Refusal::Ignored => "ignored".to_owned(),
        }
    }
}

#[test]
fn the_child_reports_the_refused_knob() {
    let mut launch = launch(&["nice=1"]).unwrap();
    launch.entries.push(("a=1".parse().unwrap(), Arc::new(Refused(Some(libc::ENODEV)))));
    assert_eq!(launch.rehearse().unwrap_err().to_string(), "knob a=1: No such device (os error 19)");
    launch.entries[1] = ("b=2".parse().unwrap(), Arc::new(Refused(None)));
    let mut command = Program::new("true");
    launch.apply(&mut command);
    let error = launch.refused(&command.spawn().unwrap_err()).unwrap();
    assert_eq!(error.to_string(), "knob b=2: ignored");
}
