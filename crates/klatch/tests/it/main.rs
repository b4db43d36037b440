//! The tests of the whole program, in one program, so that its crates are linked once.
//!
//! `make test` runs the modules of this file, and of each language's platforms one. `make test-all` sets `KLATCH_TEST_ALL`, runs every
//! platform, and the modules `all` and `alone` too.

mod support;

mod archives;
mod bad_input;
mod churn;
mod compare;
mod conformance;
mod connecting;
mod database_as_root;
mod docs;
mod doctor;
mod duet;
mod faults;
mod files;
mod foreign_settings;
mod gate;
mod guide_commands;
mod history;
mod hostile;
mod http2;
mod https;
mod in_force;
mod installers;
mod instruments;
mod interrupts;
mod knobs;
mod least_privilege_as_root;
mod local_clients;
mod logins;
mod measured_code;
mod mistakes;
mod mqtt;
mod needs;
mod orders;
mod output;
mod planted_files_as_root;
mod planted_perf_map_as_root;
mod platforms;
mod printed_text;
mod private_files;
mod probes;
mod progress;
mod reach;
mod record_page;
mod reports;
mod rr;
mod runs;
mod schemas;
mod shards;
mod simulate;
mod stages;
mod studies;
mod terminal;
mod trade;
mod transports;
mod watch;
mod web;

/// Tests that need another JDK, a download, an emulated machine (whose counts are those of an idle one) or minutes.
mod all {
    mod altered_caches;
    mod counters;
    mod daytrader;
    mod exact;
    mod guide_commands;
    mod lab;
    mod lab_arm64;
    mod misbehaving;
}

/// Tests that run one at a time: they measure, or change settings of the host.
mod alone {
    mod floor;
    mod hosts;
    mod planted;
    mod slurm;
    mod sysctls;
}
