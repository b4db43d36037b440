//! One reader: what it reads next, and the accounts of what it has read.

use std::sync::{Arc, PoisonError};
use std::thread::{current, park};

use klatch_exchange::files::{BlockOrder, PAGE_BYTES, Pages, Place};
use klatch_record::{
    CONTENT_SEED, Failure, FailureKind, Fault, FaultKind, FilesWorkload, PartyCounts, ReadOrder, Results,
};

use super::block_reader::{BlockReader, Read, Reads};
use super::{disk, pages};
use crate::shared::{ControlMessage, Phase, Shared, Wake};
use crate::stats::CrowdStats;
use crate::worker::{Worker, WorkerState};

/// Counters are published after so many reads.
const PUBLISH_READS: u64 = 64;
/// Share of the bytes that may come from a disk. Some kernels drop a few pages at any time, also with memory to spare.
const FROM_DISK_MAX: f64 = 0.01;

pub(super) struct Reader {
    worker: Worker,
    workload: FilesWorkload,
    order: BlockOrder,
    pages: Pages,
    /// When nothing more is to be read, ns; 0 before the gate opened.
    end_ns: u64,
    /// Bytes that this thread had read from a disk when the gate opened.
    from_disk_before: Option<u64>,
}

impl Reader {
    pub(super) fn new(worker: Worker, workload: &FilesWorkload) -> Reader {
        let random = workload.order == ReadOrder::Random;
        let number = workload.start + worker.number as u32;
        Reader {
            order: BlockOrder::new(CONTENT_SEED, number, workload.files, workload.blocks_per_file(), random),
            pages: pages(),
            worker,
            workload: workload.clone(),
            end_ns: 0,
            from_disk_before: None,
        }
    }

    /// Its number in the workload.
    pub(super) fn number(&self) -> u32 {
        self.workload.start + self.worker.number as u32
    }

    /// Reads until the crowd stops.
    pub(super) fn run(mut self, mut blocks: impl BlockReader) -> Vec<CrowdStats> {
        let shared = self.worker.shared.clone();
        register(&shared, self.worker.number);
        match self.warm_up(&mut blocks) {
            Ok(()) => self.worker.record_joined(1),
            Err(detail) => self.fail(FailureKind::Join, &detail),
        }
        self.worker.publish();
        loop {
            match shared.phase() {
                Phase::Stop => break,
                Phase::Talk if matches!(self.worker.state, WorkerState::Running | WorkerState::Paused) => {
                    self.worker.state = WorkerState::Running;
                    self.read(&mut blocks);
                }
                Phase::Pause if self.worker.pauses != shared.pauses() => {
                    self.worker.pauses = shared.pauses();
                    if self.worker.state == WorkerState::Running {
                        self.worker.state = WorkerState::Pausing;
                    }
                    self.worker.report_pause();
                }
                Phase::Join | Phase::Talk | Phase::Pause => park(),
            }
            self.worker.publish();
        }
        let stats = &mut self.worker.stats;
        stats.results = Some(Results::Files { parties: PartyCounts::from_counts([stats.received]) });
        vec![self.worker.take_stats()]
    }

    /// Reads its share of the files once, so that they are in the page cache, and checks them.
    fn warm_up(&self, blocks: &mut impl BlockReader) -> Result<(), String> {
        let mine = (self.worker.number as u32..self.workload.files).step_by(self.workload.readers as usize);
        for file in mine {
            let blocks_left = 0..self.workload.blocks_per_file() as u32;
            let mut once = Once { reader: self, file, blocks_left, wrong: None };
            blocks.read(&mut once).map_err(|error| error.to_string())?;
            if let Some(page) = once.wrong {
                return Err(format!(
                    "page {page} of file {file} has other contents than it must have; delete the folder of the files, and Klatch \
                     writes them again"
                ));
            }
        }
        Ok(())
    }

    fn read(&mut self, blocks: &mut impl BlockReader) {
        if self.end_ns == 0 {
            self.end_ns = self.worker.shared.gate_ns() + (self.workload.duration_s * 1e9) as u64;
            self.from_disk_before = disk::read_bytes();
        }
        if let Err(error) = blocks.read(self) {
            self.worker.state = WorkerState::Complete;
            self.fail(FailureKind::Read, &error.to_string());
        } else if self.worker.shared.now_ns() >= self.end_ns {
            self.check_disk();
            self.worker.report_complete();
        }
    }

    /// Fails if blocks came from a disk instead of the page cache.
    fn check_disk(&self) {
        let Some((before, after)) = self.from_disk_before.zip(disk::read_bytes()) else { return };
        let read = self.worker.stats.received * u64::from(self.workload.block_bytes);
        let from_disk = after - before;
        if from_disk as f64 > read as f64 * FROM_DISK_MAX {
            let detail = format!(
                "{from_disk} of {read} bytes came from a disk, so the files do not stay in the page cache: they have {} MiB in all",
                self.workload.bytes() >> 20
            );
            self.fail(FailureKind::Read, &detail);
        }
    }

    fn fail(&self, kind: FailureKind, detail: &str) {
        let detail = format!("reader {}: {detail}", self.number());
        let failure = Failure { kind, connection: None, room: None, user: None, detail };
        self.worker.send_control(ControlMessage::Failed(failure));
    }

    /// The first page of a block that is not as it must be.
    fn first_wrong(&self, place: Place, block: &[u8]) -> Option<u32> {
        let pages_per_block = self.workload.block_bytes / PAGE_BYTES as u32;
        self.pages.first_wrong(place.file, place.block * pages_per_block, block)
    }
}

impl Reads for Reader {
    fn next(&mut self) -> Option<Read> {
        let begun_ns = self.worker.shared.now_ns();
        if begun_ns >= self.end_ns || self.worker.shared.phase() != Phase::Talk {
            return None;
        }
        let number = self.worker.stats.sent;
        self.worker.stats.sent += 1;
        self.order.next().map(|place| Read { place, number, begun_ns })
    }

    fn on_block(&mut self, read: Read, block: &[u8]) {
        let now_ns = self.worker.shared.now_ns();
        let wrong = if self.workload.verified { self.first_wrong(read.place, block) } else { None };
        if let Some(page) = wrong {
            let detail = format!("page {page} of file {}", read.place.file);
            self.worker.stats.record_fault(Fault {
                kind: FaultKind::Corrupted,
                connection: None,
                reader: Some(self.number()),
                room: 0,
                user: None,
                speaker: None,
                sequence: u32::try_from(read.number).ok(),
                count: 1,
                detail: Some(detail),
            });
            return;
        }
        self.worker.stats.record_delivery(self.worker.shared.gate_ns(), now_ns, read.begun_ns);
        if self.worker.stats.received.is_multiple_of(PUBLISH_READS) {
            self.worker.publish();
        }
    }
}

/// The reads of one file from its beginning to its end.
struct Once<'a> {
    reader: &'a Reader,
    file: u32,
    blocks_left: std::ops::Range<u32>,
    /// The first page that is not as it must be.
    wrong: Option<u32>,
}

impl Reads for Once<'_> {
    fn next(&mut self) -> Option<Read> {
        let block = self.blocks_left.next().filter(|_| self.reader.worker.shared.phase() == Phase::Join)?;
        Some(Read { place: Place { file: self.file, block }, number: 0, begun_ns: 0 })
    }

    fn on_block(&mut self, read: Read, block: &[u8]) {
        if self.wrong.is_none() && self.reader.workload.verified {
            self.wrong = self.reader.first_wrong(read.place, block);
        }
    }
}

/// Lets the supervisor wake this thread.
fn register(shared: &Arc<Shared>, worker: usize) {
    if let Wake::Threads(threads) = &shared.workers[worker].wake {
        threads.lock().unwrap_or_else(PoisonError::into_inner).push(current());
    }
}
