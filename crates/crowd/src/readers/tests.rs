use std::path::Path;
use std::time::Duration;

use klatch_exchange::files::PAGE_BYTES;
use klatch_record::{CrowdEvent, FailureKind, FaultKind, ReadOrder};

use super::*;
use crate::control::control_channel;
use crate::options::Threads;

fn small() -> FilesWorkload {
    FilesWorkload { readers: 2, files: 2, file_mib: 1, duration_s: 0.2, ..FilesWorkload::default() }
}

/// A folder with the files of a workload.
fn folder(workload: &FilesWorkload) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..workload.files {
        let mut bytes = vec![0; workload.file_bytes() as usize];
        bytes.chunks_mut(PAGE_BYTES).zip(0..).for_each(|(page, number)| pages().write(file, number, page));
        std::fs::write(folder.path().join(file_name(file)), bytes).unwrap();
    }
    folder
}

fn options(workload: FilesWorkload, steered: bool) -> Options {
    Options {
        workload: Workload::Files(workload),
        threads: Threads::Loops(1),
        timeout: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(1),
        seed: 1,
        gate: None,
        gate_timeout: Duration::from_secs(1),
        ledger: None,
        login: None,
        request: None,
        steered,
    }
}

fn run(model: ReadModel, workload: FilesWorkload, folder: &Path) -> Result<CrowdResult, CrowdError> {
    let reading = Reading { model, folder: folder.to_owned(), depth: 8 };
    read_files(&options(workload, false), &reading, control_channel().1, &mut |_| {})
}

#[test]
fn every_model_reads_and_checks_blocks_in_both_orders() {
    let files = folder(&small());
    for (model, order, block_bytes) in ReadModel::ALL
        .into_iter()
        .flat_map(|model| ReadOrder::ALL.map(|order| (model, order)))
        .zip([4096, 65_536, 1 << 20].into_iter().cycle())
        .map(|((model, order), block_bytes)| (model, order, block_bytes))
    {
        let result = run(model, FilesWorkload { order, block_bytes, ..small() }, files.path()).unwrap();
        assert_eq!((result.failure, result.faults.len()), (None, 0), "{model:?} {order}");
        assert!(result.received > 10 && result.sent == result.received, "{model:?} {order}");
        let parties = result.results.parties().unwrap();
        assert!(parties.parties == 2 && parties.least > 0, "{parties:?}");
        assert!((0.1..2.0).contains(&result.elapsed_s), "{}", result.elapsed_s);
    }
}

/// The page is changed after the readers have joined, because joining refuses wrong files.
#[test]
fn a_changed_page_is_a_fault_with_its_file_and_number() {
    for model in ReadModel::ALL {
        let workload = FilesWorkload { readers: 1, files: 1, ..small() };
        let files = folder(&workload);
        let path = files.path().join(file_name(0));
        let reading = Reading { model, folder: files.path().to_owned(), depth: 8 };
        let result = read_files(&options(workload, false), &reading, control_channel().1, &mut |event| {
            if matches!(event, CrowdEvent::Joined { .. }) {
                use std::os::unix::fs::FileExt;
                let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
                file.write_all_at(b"!", 7 * PAGE_BYTES as u64 + 99).unwrap();
            }
        })
        .unwrap();
        assert!(result.corrupted > 0, "{model:?}");
        let fault = &result.faults[0];
        assert_eq!((fault.kind, fault.reader), (FaultKind::Corrupted, Some(1)));
        assert!(fault.to_string().ends_with("(page 7 of file 0)"), "{fault}");
    }
}

#[test]
fn wrong_files_are_refused_before_the_gate_opens() {
    let files = folder(&small());
    let path = files.path().join(file_name(1));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[3 * PAGE_BYTES] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let failure = run(ReadModel::Pread, small(), files.path()).unwrap().failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Join);
    assert!(failure.detail.starts_with("reader 2: page 3 of file 1 has other contents"), "{failure}");
    let unverified = FilesWorkload { verified: false, ..small() };
    assert_eq!(run(ReadModel::Pread, unverified, files.path()).unwrap().failure, None);

    std::fs::write(&path, &bytes[1..]).unwrap();
    let error = run(ReadModel::Mmap, small(), files.path()).unwrap_err().to_string();
    assert!(error.ends_with("file0001: it has 1048575 bytes, and must have 1048576"), "{error}");
    std::fs::remove_file(&path).unwrap();
    let error = run(ReadModel::Uring, small(), files.path()).unwrap_err().to_string();
    assert!(error.contains("file0001: No such file"), "{error}");
}

#[test]
fn a_pause_stops_the_readers_and_their_clock() {
    let workload = FilesWorkload { duration_s: 86_400.0, ..small() };
    let files = folder(&workload);
    for model in ReadModel::ALL {
        let reading = Reading { model, folder: files.path().to_owned(), depth: 8 };
        let (control, inbox) = control_channel();
        let mut pauses = Vec::new();
        let result =
            read_files(&options(workload.clone(), true), &reading, inbox, &mut |event| match event {
                CrowdEvent::Joined { .. } => control.go(),
                CrowdEvent::Progress { sent, .. } if *sent > 0 && pauses.is_empty() => control.pause(),
                CrowdEvent::Paused(counts) => {
                    pauses.push((counts.sent, counts.received));
                    if pauses.len() == 1 { control.pause() } else { control.finish() }
                }
                CrowdEvent::Done => control.quit(),
                _ => {}
            })
            .unwrap();
        assert_eq!((result.failure, result.finished), (None, true), "{model:?}");
        assert_eq!(pauses[0], pauses[1], "nothing is read in a pause");
        assert_eq!((result.sent, result.received), pauses[0], "{model:?}");
    }
}
