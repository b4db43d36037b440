//! What another user of the machine, and the user of the database itself, can do to a run with PostgreSQL that root makes: nothing.

use std::io::BufRead;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::{Finished, children_of, run_once, until_joined, until_line};
use klatch_record::Status;
use klatch_testing::{Need, needs};
use rustix::process::{Pid, Signal, kill_process};

const PSQL: Need = Need::Program("psql", "postgresql");
const NOBODY: &str = "65534";
/// Roles that the database of a run has, or could have.
const ROLES: [&str; 6] = ["postgres", "klatch_owner", "klatch", "klatch_audit", "root", "nobody"];

/// A run of workload `trade` on PostgreSQL, and where its parts are.
struct Run {
    klatch: Child,
    database: u32,
    port: String,
    /// The folder of the database's configuration.
    folder: PathBuf,
    /// Of the run's temporary files.
    _temporary: tempfile::TempDir,
    out: tempfile::TempDir,
}

impl Run {
    /// Starts a run and waits until operations have been made. Its temporary files are in a folder of their own.
    fn start(seconds: &str) -> Run {
        let (temporary, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // As /tmp is.
        std::fs::set_permissions(temporary.path(), PermissionsExt::from_mode(0o1777)).unwrap();
        let mut command = run_once(out.path(), &["--workload", "trade", "--traders", "8", "--users", "80"]);
        command.args(["--quotes", "40", "--database", "postgresql", "--durable", "--duration", seconds]);
        command.args(["--timeout", "4"]).env("TMPDIR", temporary.path());
        let mut klatch = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until_line(&mut klatch, " operations");
        let children = children_of(klatch.id());
        let (database, line) = children.iter().find(|(_, line)| line.contains("/postgres -D ")).unwrap();
        let after = |option: &str| line.split(' ').skip_while(|word| *word != option).nth(1).unwrap();
        let below = Path::new(after("-D")).strip_prefix(temporary.path()).unwrap();
        let folder = temporary.path().join(below.components().next().unwrap());
        let port = after("-p").to_owned();
        Run { database: *database, port, folder, klatch, _temporary: temporary, out }
    }

    /// Standard output and error of `psql` with this SQL, as this role.
    fn psql(&self, mut as_user: Command, role: &str, sql: &str) -> Output {
        as_user.args(["psql", "--no-psqlrc", "--no-password", "--host", "127.0.0.1", "--port", &self.port]);
        as_user.args(["--username", role, "--dbname", "postgres", "--command", sql]).output().unwrap()
    }

    fn finish(self) -> Finished {
        Finished::from(self.klatch.wait_with_output().unwrap())
    }
}

/// A command that runs as the user and group with this id or name, in a folder that every user can enter.
fn as_user(name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", name, "--regid", name, "--clear-groups"]).current_dir("/");
    command.env_remove("PGPASSWORD");
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The value of a variable of a running process.
fn variable(pid: u32, name: &str) -> Option<String> {
    let all = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let all = String::from_utf8(all).unwrap();
    all.split('\0').find_map(|one| Some(one.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

/// The command lines of all processes.
fn command_lines() -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
}

#[test]
fn another_user_can_neither_connect_nor_make_the_database_run_a_program() {
    needs!(Need::Root, PSQL);
    let run = Run::start("30");
    let marks = tempfile::tempdir().unwrap();
    std::fs::set_permissions(marks.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let mark = marks.path().join("ran");
    let attack = format!("COPY (SELECT 1) TO PROGRAM 'touch {}'", mark.display());
    for role in ROLES {
        let done = run.psql(as_user(NOBODY), role, &attack);
        assert!(!done.status.success() && !mark.exists(), "{role}: {}", text(&done));
        let done = run.psql(as_user(NOBODY), role, "SELECT 1");
        let said = text(&done);
        let refused = ["no password supplied", "no pg_hba.conf entry"].iter().any(|why| said.contains(why));
        assert!(!done.status.success() && refused, "{role}: {said}");
    }
    // Nor by a socket: there is none.
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
    assert!(!sockets.contains(&format!(".s.PGSQL.{}", run.port)), "{sockets}");

    let server = children_of(run.klatch.id()).into_iter().find(|(_, line)| line.contains(" serve "));
    let server = server.unwrap().0;
    let password = variable(server, "PGPASSWORD").unwrap();
    assert!(password.len() >= 32, "a password that cannot be guessed");
    for line in command_lines() {
        assert!(!line.contains(&password), "every user can read a command line");
    }
    for pid in [run.klatch.id(), server, run.database] {
        let read = as_user(NOBODY).args(["cat", &format!("/proc/{pid}/environ")]).output().unwrap();
        assert!(!read.status.success() && read.stdout.is_empty(), "{}", text(&read));
    }
    // The roles of server and audit have what they need and no more.
    let as_role = |role: &str, password: &str, sql: &str| {
        let mut command = as_user(NOBODY);
        command.env("PGPASSWORD", password);
        text(&run.psql(command, role, sql))
    };
    assert!(as_role("klatch", &password, "SELECT 'found' FROM accounts LIMIT 1").contains("found"));
    for sql in [attack.as_str(), "COPY accounts TO '/tmp/klatch-accounts'", "CREATE ROLE other SUPERUSER"] {
        let said = as_role("klatch", &password, sql);
        assert!(said.contains("ERROR") && said.contains("superuser"), "{sql}: {said}");
    }
    assert!(as_role("klatch_audit", &password, "SELECT 1").contains("authentication failed"));
    assert!(!mark.exists());

    kill_process(Pid::from_raw(run.klatch.id() as i32).unwrap(), Signal::INT).unwrap();
    let out = run.out.path().to_owned();
    let finished = Finished::from(run.klatch.wait_with_output().unwrap());
    assert!(!finished.out.contains(&password) && !finished.err.contains(&password));
    let kept = Command::new("grep").args(["--recursive", "--quiet", &password]).arg(&out).status().unwrap();
    assert_eq!(kept.code(), Some(1), "the password is in no file of the results");
}

#[test]
fn the_role_of_the_audit_reads_only() {
    needs!(Need::Root, PSQL);
    let run = Run::start("30");
    // Root reads what the audit will use: the file from which the roles were made.
    let roles = std::fs::read_to_string(run.folder.join("database.sql")).unwrap();
    let line = roles.lines().find(|line| line.contains("ROLE klatch_audit LOGIN")).unwrap();
    let password = line.split('\'').nth(1).unwrap().to_owned();
    let audit = |sql: &str| {
        let mut command = as_user(NOBODY);
        command.env("PGPASSWORD", &password);
        text(&run.psql(command, "klatch_audit", sql))
    };
    assert!(audit("SELECT 'found' FROM accounts LIMIT 1").contains("found"));
    for sql in [
        "UPDATE accounts SET balance = 0",
        "DELETE FROM orders",
        "INSERT INTO population VALUES (1, 1, 1)",
        "SELECT nextval('order_ids')",
        "CREATE TABLE mine (a INT)",
        "DROP TABLE accounts",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ] {
        let said = audit(sql);
        assert!(said.contains("ERROR"), "{sql}: {said}");
    }
    kill_process(Pid::from_raw(run.klatch.id() as i32).unwrap(), Signal::INT).unwrap();
    run.finish();
}

/// What a process of the database's user tries in the folder of its configuration. Each line is one attempt, which must fail.
const PLANT: &str = r#"
ln -sfn "$victim" "$folder/start.sh"
mv -f "$own" "$folder/start.sh"
rm -f "$folder/start.sh"
mkfifo "$folder/planted"
echo 'touch /tmp/klatch-planted' >"$folder/start.sh"
echo 'host all all all trust' >"$folder/database.hba"
chmod 777 "$folder"
mv "$folder/data" "$folder/other"
ls "$folder"
"#;

#[test]
fn the_user_of_the_database_can_change_nothing_that_root_writes_or_runs() {
    needs!(Need::Root, PSQL);
    let run = Run::start("6");
    let private = tempfile::tempdir().unwrap();
    let victim = private.path().join("victim");
    std::fs::write(&victim, "of root").unwrap();

    let mode = |path: &Path| (path.metadata().unwrap().uid(), path.metadata().unwrap().mode() & 0o7777);
    assert_eq!(mode(&run.folder), (0, 0o710), "the database's user can enter it and not change it");
    for file in ["start.sh", "database.sql", "database.hba"] {
        assert_eq!(mode(&run.folder.join(file)), (0, 0o640), "{file}");
    }
    let user = std::fs::metadata(format!("/proc/{}", run.database)).unwrap().uid().to_string();
    assert_ne!(user, "0");
    assert_eq!(mode(&run.folder.join("data")), (user.parse().unwrap(), 0o700));

    let planted = run.folder.join("data/planted.sh");
    std::fs::write(&planted, "touch /tmp/klatch-planted\n").unwrap();
    std::os::unix::fs::chown(&planted, Some(user.parse().unwrap()), None).unwrap();
    for who in [user.as_str(), NOBODY] {
        for attempt in PLANT.lines().filter(|line| !line.is_empty()) {
            let mut command = as_user(who);
            command.args(["sh", "-c", attempt]).env("folder", &run.folder);
            let done = command.env("victim", &victim).env("own", &planted).output().unwrap();
            assert!(!done.status.success(), "user {who}: {attempt}: {}", text(&done));
        }
    }
    for secret in ["start.sh", "database.sql", "data/cluster/pg_hba.conf"] {
        let read = as_user(NOBODY).arg("cat").arg(run.folder.join(secret)).output().unwrap();
        assert!(!read.status.success() && read.stdout.is_empty(), "nobody reads {secret}");
    }

    // Before the audit, the database is started again in that folder.
    kill_process(Pid::from_raw(run.database as i32).unwrap(), Signal::KILL).unwrap();
    let finished = run.finish();
    let record = finished.record();
    assert_eq!(record.verdict.status, Status::Invalid, "{record:?}");
    assert!(record.audit.is_some_and(|audit| audit.broken.is_empty() && audit.orders > 0), "{finished:?}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "of root");
    assert!(!Path::new("/tmp/klatch-planted").exists());
}

#[test]
fn an_echo_of_postgresql_does_nothing_but_select() {
    needs!(PSQL);
    let out = tempfile::tempdir().unwrap();
    let mut command = run_once(out.path(), &["--workload", "rr", "--platform", "postgresql"]);
    command.args(["--connections", "4", "--duration", "20"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut klatch = command.spawn().unwrap();
    until_joined(&mut klatch);
    let children = children_of(klatch.id());
    let (_, line) = children.iter().find(|(_, line)| line.contains("/postgres -D ")).unwrap();
    let port = line.split(' ').skip_while(|word| *word != "-p").nth(1).unwrap();
    let psql = |role: &str, sql: &str| {
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--no-password", "--host", "127.0.0.1", "--port", port]);
        let command = command.args(["--username", role, "--dbname", "postgres", "--command", sql]);
        text(&command.output().unwrap())
    };
    assert!(psql("postgres", "SELECT 'hello'").contains("hello"));
    for sql in [
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY (SELECT 1) TO '/tmp/klatch-copied'",
        "SELECT pg_read_file('/etc/hostname')",
        "SELECT lo_creat(-1)",
        "SELECT pg_sleep(1)",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
        "CREATE TEMPORARY TABLE mine (a INT)",
        "CREATE TABLE mine (a INT)",
        "CREATE ROLE other SUPERUSER",
        "ALTER SYSTEM SET port = 1",
        "DO 'BEGIN END'",
    ] {
        let said = psql("postgres", sql);
        assert!(said.contains("ERROR"), "{sql}: {said}");
    }
    assert!(psql("klatch_owner", "SELECT 1").contains("no pg_hba.conf entry"));
    kill_process(Pid::from_raw(klatch.id() as i32).unwrap(), Signal::INT).unwrap();
    // What it still prints would fill the pipe.
    std::io::BufReader::new(klatch.stderr.take().unwrap()).lines().map_while(Result::ok).for_each(drop);
    klatch.wait().unwrap();
}
