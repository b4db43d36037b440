//! Parts of a plan that exclude each other.

use thiserror::Error;

/// Two parts of a plan that exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Conflict {
    /// Workload `files` with an external server.
    #[error("workload files has no server to name: choose a platform")]
    ReadersAndTarget,
    /// Workload `files` with a crowd other than the default.
    #[error("workload files has no crowd, as the platform itself reads")]
    ReadersAndCrowd,
    /// Workload `files` with knobs of the crowd.
    #[error("workload files has no crowd: set knobs of the platform")]
    ReadersAndCrowdKnobs,
    /// Workload `files` with hosts.
    #[error("workload files has no crowd that could run on another host")]
    ReadersAndHosts,
    /// Workload `files` with several servers.
    #[error("readers are split over processes by shards, not by server processes")]
    ReadersAndServers,
    /// A workload with a database, and hosts.
    #[error("the ledgers of a workload with a database are on this machine, so its crowd is too")]
    LedgersAndHosts,
    /// The Java crowd on hosts.
    #[error("the Java crowd runs on this machine only, not on hosts")]
    JavaCrowdAndHosts,
    /// Knobs of the crowd, and hosts.
    #[error("crowd knobs are for this machine, not for hosts")]
    CrowdKnobsAndHosts,
    /// Hosts, and a server that listens on loopback.
    #[error("no other host reaches a server on loopback")]
    HostsAndLoopback,
    /// Hosts, and a platform with TLS.
    #[error("the certificate of a server that Klatch starts is known on this machine only")]
    HostsAndCertificate,
    /// A subprotocol without a WebSocket.
    #[error("a subprotocol belongs to the transports ws and wss")]
    SubprotocolAndTransport,
    /// Settings of TLS without it.
    #[error("a version of TLS, cipher suites and a client certificate belong to the transports tls and wss")]
    TlsSettingsAndTransport,
    /// A client certificate for a platform.
    #[error("a server that Klatch starts asks for no certificate of its clients")]
    CertificateAndPlatform,
    /// Settings of connections of a Java crowd.
    #[error(
        "the native crowd chooses addresses, cipher suites and client certificates, the Java crowd does not"
    )]
    ConnectingAndCrowd,
    /// A context root outside workload `trade`.
    #[error(
        "the path of an http:// target is the context root of a DayTrader in workload trade, and a URL in rr: leave out the path"
    )]
    ContextRootAndWorkload,
    /// Requests for URLs of a server that speaks no HTTP.
    #[error("requests for a URL need a server of HTTP")]
    UrlAndProtocol,
    /// Requests for URLs by a crowd with threads.
    #[error("the native crowd with event loops makes requests for a URL, the other crowds do not")]
    UrlAndCrowd,
    /// A login in a Java crowd.
    #[error("users log in with a password in the native crowd only")]
    LoginAndCrowd,
    /// Settings of MQTT for a server of another protocol.
    #[error("quality of service and client identifiers belong to MQTT")]
    MqttAndProtocol,
    /// Churn in a crowd with threads.
    #[error("users reconnect in the native crowd only")]
    ChurnAndCrowd,
}
