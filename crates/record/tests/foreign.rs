//! What other processes and machines write: the lines of a crowd to its parent, and the records of shards. Bytes that are none are errors
//! in words, and never a panic.

use std::path::Path;

use klatch_record::{CrowdEvent, Latency, Record};
use klatch_testing::fuzz;

fn corpus(name: &str, parse: impl Fn(&[u8])) {
    fuzz(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name), parse);
}

#[test]
fn lines_of_a_crowd() {
    corpus("events", |bytes| match serde_json::from_slice::<CrowdEvent>(bytes) {
        Ok(CrowdEvent::Result(result)) => {
            let _ = Latency::from_counts_ns(&result.latency_ns);
            let _ = Latency::from_counts_ns(&result.send_lag_ns);
            let _ = result.results.with(&result.results);
            result.faults.iter().for_each(|fault| drop(fault.to_string()));
            let _ = result.failure.map(|failure| failure.to_string());
        }
        Ok(CrowdEvent::Progress { latency_ns, .. }) => drop(Latency::from_counts_ns(&latency_ns)),
        Ok(event) => {
            // What one process can read, another one can.
            let text = serde_json::to_string(&event).unwrap();
            assert!(serde_json::from_str::<CrowdEvent>(&text).is_ok(), "{text}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}

#[test]
fn records_of_shards() {
    corpus("records", |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        match serde_json::from_str::<Record>(text) {
            Ok(record) => {
                let _ = record.verdict.messages();
                assert!(serde_json::to_string(&record).is_ok());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}
