//! Under sudo, programs run as the invoking user and files belong to that user, unless they need root.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use klatch_record::Record;
use klatch_testing::{Need, needs};

const NOBODY: u32 = 65_534;

/// `klatch` as sudo starts it for the user `nobody`. The folder contains the program in `bin`, because that user cannot reach
/// `/root`, and `work` for results and caches, owned by that user.
fn as_by_sudo() -> (Command, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let (program, work) = (folder.path().join("bin/klatch"), folder.path().join("work"));
    for folder in [program.parent().unwrap(), &work] {
        std::fs::create_dir(folder).unwrap();
    }
    chown(&work, Some(NOBODY), Some(NOBODY)).unwrap();
    let built = crate::support::klatch();
    // A hard link is free, but does not work across file systems.
    std::fs::hard_link(built.get_program(), &program)
        .or_else(|_| std::fs::copy(built.get_program(), &program).map(drop))
        .unwrap();
    let mut command = Command::new(program);
    command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").current_dir(&work);
    for variable in ["XDG_CACHE_HOME", "XDG_STATE_HOME"] {
        command.env(variable, &work);
    }
    (command, folder)
}

/// A process that is killed when its owner is dropped.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn all_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            let inner = if path.is_dir() { all_below(&path) } else { Vec::new() };
            inner.into_iter().chain([path])
        })
        .collect()
}

/// The four user ids and four group ids of each child: real, effective, saved, file system.
fn ids_of_children(parent: u32) -> Vec<Vec<String>> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let status = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok());
    let field = |text: &str, name: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let of_parent = status.filter(|text| field(text, "PPid:") == [parent.to_string()]);
    of_parent
        .map(|text| [field(&text, "Uid:"), field(&text, "Gid:"), field(&text, "Groups:")].concat())
        .collect()
}

#[test]
fn servers_and_crowds_run_as_the_invoking_user_with_knobs_that_need_root() {
    needs!(Need::Root);
    let (mut command, folder) = as_by_sudo();
    command.args(["run", "--platform", "native-epoll", "--rooms", "1", "--users", "2", "--count", "1000"]);
    command.args([
        "--pause",
        "1",
        "--warmups",
        "0",
        "--trials",
        "1",
        "--knob",
        "nice=-5",
        "--out",
        "results",
    ]);
    let mut klatch = Stopped(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut finished = String::new();
    for line in BufReader::new(klatch.0.stderr.take().unwrap()).lines() {
        finished += &(line.unwrap() + "\n");
        if finished.contains("all joined") {
            break;
        }
    }
    let children = ids_of_children(klatch.0.id());
    assert_eq!(children.len(), 2, "a server and a crowd: {finished}");
    // No supplementary group either.
    children.iter().for_each(|ids| assert_eq!(ids, &["65534"; 9]));
    drop(klatch);
    drop(folder);
}

#[test]
fn results_and_caches_belong_to_the_invoking_user() {
    needs!(Need::Root);
    let (mut command, folder) = as_by_sudo();
    command.args(["run", "--platform", "native-epoll", "--rooms", "1", "--users", "3", "--count", "20"]);
    command.args(["--warmups", "0", "--trials", "1", "--knob", "nice=-5", "--json", "--out", "results"]);
    let done = command.output().unwrap();
    let finished = String::from_utf8_lossy(&done.stderr);
    let record: Record =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {finished}"));
    assert_eq!(record.platform.knobs["nice"], "-5", "{finished}");
    let made = all_below(&folder.path().join("work"));
    assert!(made.len() > 2, "{made:?}");
    for path in made {
        let meta = path.symlink_metadata().unwrap();
        assert_eq!((meta.uid(), meta.gid()), (NOBODY, NOBODY), "{}", path.display());
    }
}

/// A program that writes the four ids of its user to `work/NAME`, and ends with this status.
fn note_ids(folder: &Path, name: &str, status: u8) {
    let noted = folder.join("work").join(name);
    let script = format!(
        "#!/bin/sh\nsed -n 's/^Uid:[[:space:]]*//p' /proc/self/status >{}\nexit {status}\n",
        noted.display()
    );
    klatch_testing::write_program(&folder.join("bin").join(name), &script);
}

#[test]
fn programs_beside_server_and_crowd_run_as_the_invoking_user() {
    needs!(Need::Root);
    let chat = ["run", "--rooms", "1", "--users", "2", "--count", "1", "--trials", "1", "--warmups", "0"];
    let commands: [(&str, u8, Vec<&str>); 4] = [
        ("scontrol", 1, [&chat[..], &["--hosts", "@slurm", "--target", "irc://127.0.0.1:9"]].concat()),
        ("lscpu", 1, vec!["simulate", "run", "--machine", "host"]),
        ("strace", 1, vec!["conformance", "native-epoll"]),
        ("ready", 0, [&chat[..], &["--platform", "mine", "--catalog", "."]].concat()),
    ];
    for (name, status, arguments) in commands {
        let (mut command, folder) = as_by_sudo();
        note_ids(folder.path(), name, status);
        let platform = "name = 'mine'\nsummary = ''\nclass = 'open'\nprotocol = 'irc'\nready = 'accepts'\n\
                        command = ['{klatch}', 'serve', '--listen', '{address}']\nready_command = ['ready']\n";
        std::fs::write(folder.path().join("work/mine.toml"), platform).unwrap();
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", folder.path().join("bin").display()));
        let done = command.args(arguments).env("SLURM_JOB_NODELIST", "n1").output().unwrap();
        let finished = String::from_utf8_lossy(&done.stderr);
        let ids = std::fs::read_to_string(folder.path().join("work").join(name));
        let ids = ids.unwrap_or_else(|error| panic!("{name} was not started: {error}: {finished}"));
        assert_eq!(ids.split_whitespace().collect::<Vec<_>>(), ["65534"; 4], "{name}: {finished}");
    }
}

#[test]
fn root_accesses_no_file_that_the_invoking_user_may_not() {
    needs!(Need::Root);
    let private = tempfile::tempdir().unwrap();
    std::fs::set_permissions(private.path(), PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::write(private.path().join("study.toml"), "name = \"secret\"").unwrap();
    let (mut command, _folder) = as_by_sudo();
    let done = command.arg("study").arg(private.path().join("study.toml")).output().unwrap();
    let finished = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && finished.contains("Permission denied"), "{finished}");
}

#[test]
fn sysctls_are_set_as_root() {
    needs!(Need::NetworkNamespaces);
    let (klatch, _folder) = as_by_sudo();
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "sh", "-c", r#"
        mount -t tmpfs -o mode=755 none /run; ip link set lo up
        "$0" run --platform native-epoll --rooms 1 --users 3 --count 5 --warmups 0 --trials 1 --json --out results \
            --allow-sysctl --sysctl net.ipv4.ip_default_ttl=77"#]);
    command.arg(klatch.get_program()).current_dir(klatch.get_current_dir().unwrap());
    klatch.get_envs().for_each(|(name, value)| {
        command.env(name, value.unwrap());
    });
    let done = command.output().unwrap();
    let finished = String::from_utf8_lossy(&done.stderr);
    let record: Record =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {finished}"));
    assert_eq!(record.environment.sysctls["net.ipv4.ip_default_ttl"], "77");
}
