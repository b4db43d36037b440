//! Load machines in miniature: network namespaces with an sshd each, joined to the server's namespace by veth, or by a link
//! that delays and drops packets. They belong to processes that die with the test, and the kernel removes them too.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use klatch_testing::Need;
use tempfile::TempDir;

/// Needs of a test with such a network.
pub(crate) const NEEDS: [Need; 4] = [
    Need::NetworkNamespaces,
    Need::Program("ip", "iproute2"),
    Need::Program("sshd", "openssh-server"),
    Need::Program("socat", "socat"),
];

/// Lifetime limit of helper processes, longer than any test.
const LIFE_S: &str = "300";

/// Delay and loss of a link, in both directions.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) delay: Duration,
    /// One packet of this many is dropped; 0 drops none.
    pub(crate) lose_every: u32,
}

/// One namespace for the server and one for each host: `a`, `b`.
pub(crate) struct Network {
    processes: Vec<Child>,
    server: u32,
    /// The processes that hold the namespaces of the hosts.
    hosts: Vec<u32>,
    folder: TempDir,
}

impl Network {
    /// Connects the hosts by veth, or by this `link`.
    pub(crate) fn new(link: Option<Link>) -> Network {
        let folder = tempfile::tempdir().unwrap();
        let mut network = Network { processes: Vec::new(), server: 0, hosts: Vec::new(), folder };
        network.server = network.namespace();
        for name in ["host-key", "user-key"] {
            run(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &network.path(name)]);
        }
        let mut config = format!(
            "Host *\nUser root\nIdentityFile {}\nIdentitiesOnly yes\nStrictHostKeyChecking no\n\
             UserKnownHostsFile {}\nLogLevel ERROR\n",
            network.path("user-key"),
            network.path("known-hosts")
        );
        for (number, host) in [(1, "a"), (2, "b")] {
            let (namespace, here) = (network.namespace(), format!("10.77.{number}.1"));
            network.hosts.push(namespace);
            let there = format!("10.77.{number}.2");
            match link {
                None => network.veth(namespace, host, &here, &there),
                Some(link) => network.relayed(namespace, host, &here, &there, link),
            }
            within(namespace, &["ip", "route", "add", "default", "via", &here]);
            network.sshd(namespace, &there);
            config += &format!("Host {host}\nHostName {there}\n");
        }
        std::fs::write(network.path("ssh-config"), config).unwrap();
        network
    }

    /// `klatch run` in the server's namespace, with the crowd on both hosts.
    pub(crate) fn run(&self, out: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.server.to_string(), "-n", env!("CARGO_BIN_EXE_klatch"), "run"]);
        command
            .args(["--platform", "native-epoll", "--warmups", "0", "--trials", "1", "--json", "--out"])
            .arg(out);
        command.args(["--hosts", "a,b", "--host-address", "10.77.1.1"]);
        command.args(["--host-program", env!("CARGO_BIN_EXE_klatch"), "--reach"]);
        let ssh = format!("ssh -F {} -o BatchMode=yes -- {{host}} {{command}}", self.path("ssh-config"));
        command.arg(ssh).args(arguments);
        command
    }

    /// The process of this test's klatch that runs on a host, by its place.
    pub(crate) fn crowd_on(&self, host: usize) -> u32 {
        let klatch = std::fs::canonicalize(env!("CARGO_BIN_EXE_klatch")).unwrap();
        let link = |pid: u32, name: &str| std::fs::read_link(format!("/proc/{pid}/{name}")).ok();
        let network = link(self.hosts[host], "ns/net");
        let numbers = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_it = |pid: &u32| link(*pid, "exe") == Some(klatch.clone()) && link(*pid, "ns/net") == network;
        pids.find(is_it).expect("the crowd runs")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Creates a namespace, held by a process.
    fn namespace(&mut self) -> u32 {
        let mut command = with_test("unshare");
        command
            .args(["--net", "sh", "-c", &format!("echo here; exec sleep {LIFE_S}")])
            .stdout(Stdio::piped());
        let mut holder = command.spawn().expect("setpriv, from util-linux");
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "here\n", "the namespace was not made");
        let pid = holder.id();
        self.processes.push(holder);
        within(pid, &["ip", "link", "set", "dev", "lo", "up"]);
        pid
    }

    fn veth(&self, namespace: u32, host: &str, here: &str, there: &str) {
        let (server, device) = (self.server, format!("to-{host}"));
        let peer = ["type", "veth", "peer", "name", "eth0", "netns", &namespace.to_string()];
        within(server, &[&["ip", "link", "add", "name", &device][..], &peer].concat());
        for (namespace, device, address) in [(server, device.as_str(), here), (namespace, "eth0", there)] {
            within(namespace, &["ip", "addr", "add", &format!("{address}/24"), "dev", device]);
            within(namespace, &["ip", "link", "set", "dev", device, "up"]);
        }
    }

    /// Two TUN devices whose packets pass through a thread of the test, because not every kernel has netem.
    fn relayed(&mut self, namespace: u32, host: &str, here: &str, there: &str, link: Link) {
        let path = |what: &str| PathBuf::from(self.path(&format!("{what}-{host}")));
        let (near, far) = (path("near"), path("far"));
        let (to_near, to_far) = (path("to-near"), path("to-far"));
        let open = |path: &Path| UnixDatagram::bind(path).unwrap();
        let (near_end, far_end) = (open(&to_near), open(&to_far));
        for (from, to, path) in [(&near_end, &far_end, far.clone()), (&far_end, &near_end, near.clone())] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || relay(&from, &to, &path, link));
        }
        for (namespace, address, own, peer) in
            [(self.server, here, &near, &to_near), (namespace, there, &far, &to_far)]
        {
            let tun = format!("TUN:{address}/24,iff-up");
            let bridge = format!("UNIX-SENDTO:{},bind={}", peer.display(), own.display());
            self.start(namespace, &["socat", "-d", "-d", &tun, &bridge], "starting data transfer loop");
        }
    }

    fn sshd(&mut self, namespace: u32, address: &str) {
        std::fs::create_dir_all("/run/sshd").unwrap();
        let config = self.path(&format!("sshd-{address}"));
        let keys = (self.path("host-key"), self.path("user-key.pub"));
        let text = format!(
            "Port 22\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPasswordAuthentication no\n",
            keys.0, keys.1
        );
        std::fs::write(&config, text).unwrap();
        self.start(namespace, &["/usr/sbin/sshd", "-D", "-e", "-f", &config], "Server listening on");
    }

    /// Starts a program in a namespace and waits until it prints these words.
    fn start(&mut self, namespace: u32, command: &[&str], words: &str) {
        let mut starter = with_test("nsenter");
        starter.args(["-t", &namespace.to_string(), "-n"]).args(command).stderr(Stdio::piped());
        let mut child = starter.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let finished = lines.any(|line| line.contains(words));
        assert!(finished, "{} did not print {words:?}; install it: scripts/setup.sh test-all", command[0]);
        // Read the rest, or the program blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        self.processes.push(child);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Forwards packets with delay and loss.
fn relay(from: &UnixDatagram, to: &UnixDatagram, path: &Path, link: Link) {
    let (mut waiting, mut packet, mut number) = (VecDeque::<(Instant, Vec<u8>)>::new(), [0; 65_536], 0);
    loop {
        let now = Instant::now();
        while waiting.front().is_some_and(|(due, _)| *due <= now) {
            let (_, packet) = waiting.pop_front().unwrap();
            // A failed write loses the packet, as on any link.
            let _ = to.send_to(&packet, path);
        }
        let patience = waiting.front().map(|(due, _)| due.saturating_duration_since(now));
        from.set_read_timeout(patience.map(|time| time.max(Duration::from_micros(1)))).unwrap();
        if let Ok(bytes) = from.recv(&mut packet) {
            number += 1;
            if link.lose_every == 0 || number % link.lose_every != 0 {
                waiting.push_back((Instant::now() + link.delay, packet[..bytes].to_vec()));
            }
        }
    }
}

/// A program that is killed when dropped, also if the test fails.
fn with_test(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", program]);
    command
}

fn within(namespace: u32, command: &[&str]) {
    run(&[&["nsenter", "-t", &namespace.to_string(), "-n"][..], command].concat());
}

fn run(command: &[&str]) {
    let output = Command::new(command[0]).args(&command[1..]).output();
    let output =
        output.unwrap_or_else(|error| panic!("{}: {error}; get it: scripts/setup.sh test-all", command[0]));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {words}", command.join(" "));
}
