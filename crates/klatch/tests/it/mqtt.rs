//! Versions, qualities of service and client identifiers of MQTT, on a real broker.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use klatch_platforms::{PlatformRequest, Processes, Server, resolve};
use klatch_record::{MqttVersion, Record, Status, Workload};
use klatch_testing::{Need, needs};

use crate::support::{Finished, klatch, run_once};

const SMALL: [&str; 6] = ["--rooms", "2", "--users", "4", "--count", "30"];

/// A valid run with these options on top of the small chat.
fn valid(options: &[&str]) -> Record {
    let out = tempfile::tempdir().unwrap();
    let finished = Finished::run(run_once(out.path(), &[&SMALL, options].concat()).args(["--timeout", "20"]));
    let record = finished.record();
    assert_eq!(
        (finished.status, record.verdict.status),
        (Some(0), Status::Valid),
        "{options:?}: {finished:?}"
    );
    assert_eq!((record.score.sent, record.score.received), (240, 720), "{options:?}");
    assert_eq!(record.results.repeated_and_open(), (0, 0), "{options:?}: no broker repeats in health");
    record
}

/// Starts mosquitto with these lines in its configuration.
fn mosquitto(more: &str) -> Server {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../platforms/mosquitto.toml");
    let text = std::fs::read_to_string(own).unwrap();
    let text = text.replace("name = \"mosquitto\"\nsummary", "name = \"broker\"\nsummary");
    let line = "allow_anonymous true\n";
    assert!(text.contains(line));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broker.toml"), text.replace(line, &format!("{line}{more}\n")))
        .unwrap();
    let request = PlatformRequest {
        name: Some("broker".to_owned()),
        catalog: Some(folder.path().to_owned()),
        ..PlatformRequest::default()
    };
    let platform = resolve(&request, &Workload::default()).unwrap();
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    Server::start(&platform, address, &Processes::default(), Duration::from_secs(60)).unwrap()
}

/// How a broker of MQTT 3.1.1 refuses a client of version 5.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    ReturnCode,
    Close,
}

/// A broker of MQTT 3.1.1 alone: in front of one that speaks both, it refuses version 5.
fn of_3_1_1(broker: SocketAddr, refusal: Refusal) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            std::thread::spawn(move || carry(client.unwrap(), broker, refusal));
        }
    });
    address
}

fn carry(mut client: TcpStream, broker: SocketAddr, refusal: Refusal) {
    // The first byte, a length of one byte, the name of the protocol, and its level.
    let mut head = [0; 9];
    if client.read_exact(&mut head).is_err() {
        return;
    }
    assert_eq!(&head[4..8], b"MQTT");
    if head[8] == 5 {
        if let Refusal::ReturnCode = refusal {
            client.write_all(b"\x20\x02\x00\x01").unwrap();
        }
        // All is read, so that the end is no reset.
        client.shutdown(Shutdown::Write).unwrap();
        let _ = std::io::copy(&mut client, &mut std::io::sink());
        return;
    }
    let mut server = TcpStream::connect(broker).unwrap();
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    server.write_all(&head).unwrap();
    let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let back = std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Write);
    });
    let _ = std::io::copy(&mut client, &mut server);
    let _ = server.shutdown(Shutdown::Write);
    back.join().unwrap();
}

#[test]
fn messages_arrive_with_every_quality_of_service() {
    needs!(Need::Program("mosquitto", "mosquitto"));
    for qos in ["0", "1", "2"] {
        let ways: [&[&str]; 5] = [
            // Each user has more in flight than the broker takes at a time.
            &["--pacing", "flood"],
            &["--crowd", "native-threads"],
            &["--shards", "2", "--transport", "tls"],
            &["--pacing", "rate", "--rate", "500"],
            &["--churn", "10", "--pause", "0.01"],
        ];
        for way in ways {
            let record = valid(&[&["--platform", "mosquitto", "--qos", qos], way].concat());
            let spoken: Vec<_> = record.shards.iter().map(|shard| shard.mqtt_version).collect();
            assert!(spoken.iter().all(|version| *version == Some(MqttVersion::V5)), "{spoken:?}");
            assert_eq!(record.workload.chat().unwrap().mqtt.qos.to_string(), qos);
        }
    }
}

#[test]
fn a_broker_of_3_1_1_alone_is_spoken_to_in_3_1_1() {
    needs!(Need::Program("mosquitto", "mosquitto"));
    let server = mosquitto("");
    for (refusal, qos) in [(Refusal::ReturnCode, "0"), (Refusal::ReturnCode, "1"), (Refusal::Close, "2")] {
        let front = of_3_1_1(server.address, refusal);
        let target = format!("mqtt://{front}");
        for crowd in ["native", "native-threads"] {
            let record = valid(&["--target", &target, "--qos", qos, "--crowd", crowd]);
            assert_eq!(record.shards[0].mqtt_version, Some(MqttVersion::V311), "{refusal:?}");
        }
    }
    let front = of_3_1_1(server.address, Refusal::Close);
    let out = tempfile::tempdir().unwrap();
    let mut run = klatch();
    run.args(["run", "--warmups", "0", "--trials", "1", "--target", &format!("mqtt://{front}"), "--out"]);
    let finished = Finished::run(run.arg(out.path()).args(SMALL));
    let line = finished.out.lines().find(|line| line.contains("version of MQTT"));
    assert!(line.is_some_and(|line| line.trim_end().ends_with("3.1.1")), "{finished:?}");
}

/// The broker lets clients in by their identifiers, as many an access list does.
#[test]
fn client_identifiers_begin_as_the_user_wants() {
    needs!(Need::Program("mosquitto", "mosquitto"));
    let server = mosquitto("clientid_prefixes lab-");
    let target = server.endpoint.url();
    valid(&["--target", &target, "--client-id", "lab-", "--qos", "1"]);
    let out = tempfile::tempdir().unwrap();
    for (target, words) in [
        (target, "the broker refused: not authorized"),
        (
            format!("mqtt://{}", of_3_1_1(server.address, Refusal::ReturnCode)),
            "the broker refused: not authorized",
        ),
    ] {
        let finished =
            Finished::run(run_once(out.path(), &["--target", &target, "--timeout", "10"]).args(SMALL));
        let verdict = finished.record().verdict;
        assert_eq!((finished.status, verdict.status), (Some(1), Status::Invalid), "{finished:?}");
        assert!(verdict.messages().contains(words), "{}", verdict.messages());
    }
}

/// Two crowds at once: identifiers of one would end the sessions of the other, in rooms of their own.
#[test]
fn two_crowds_share_a_broker() {
    needs!(Need::Program("mosquitto", "mosquitto"));
    let server = mosquitto("");
    let port = server.address.port().to_string();
    let crowd = |start: &str| {
        let mut command = klatch();
        command.args([
            "crowd",
            "--protocol",
            "mqtt",
            "--port",
            &port,
            "--start",
            start,
            "--qos",
            "2",
            "--json",
        ]);
        command.args(SMALL);
        command
    };
    std::thread::scope(|scope| {
        let both = ["1", "3"].map(|start| scope.spawn(move || Finished::run(&mut crowd(start))));
        for finished in both {
            let finished = finished.join().unwrap();
            assert_eq!(finished.status, Some(0), "{finished:?}");
        }
    });
}
