package org.klatch.readers;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.klatch.crowd.Control;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Faults;
import org.klatch.crowd.Gate;
import org.klatch.crowd.Histogram;
import org.klatch.crowd.Parties;
import org.klatch.crowd.PartyCounts;
import org.klatch.crowd.Progress;
import org.klatch.crowd.Result;
import org.klatch.crowd.Timeline;
import org.klatch.exchange.files.Pages;

/** The readers of a crowd. Joining is reading every file once, so that it is in the page cache. */
public final class Readers implements Parties {
  /**
   * Share of the bytes that may come from a disk. Some kernels drop a few pages at any time, also
   * with memory to spare.
   */
  private static final double FROM_DISK_MAX = 0.01;

  /** Bytes that the JVM may read of its own classes and libraries meanwhile. */
  private static final long OWN_BYTES_MAX = 4 << 20;

  private final Options options;
  private final Gate gate;
  private final List<Reader> readers = new ArrayList<>();
  private OptionalLong fromDiskBefore = OptionalLong.empty();

  private Readers(Options options, Gate gate, Progress progress) throws ReadException {
    this.options = options;
    this.gate = gate;
    Pages pages = new Pages(Options.CONTENT_SEED);
    for (int index = 0; index < options.readers(); index++) {
      readers.add(new Reader(index, options, pages, gate, progress));
    }
  }

  /** Creates a crowd of readers, and opens their files. */
  public static Crowd newCrowd(Options options, Control control) throws ReadException {
    Gate gate = new Gate();
    Progress progress = new Progress();
    Readers readers = new Readers(options, gate, progress);
    return new Crowd(readers, gate, progress, control, options.timeoutNs());
  }

  @Override
  public int count() {
    return readers.size();
  }

  @Override
  public String noun() {
    return "reader";
  }

  @Override
  public void start(int number) {
    readers.get(number).start();
  }

  @Override
  public void gateOpened() {
    if (fromDiskBefore.isEmpty()) {
      fromDiskBefore = DiskReads.bytes();
    }
    readers.forEach(Reader::gateOpened);
  }

  @Override
  public long sent() {
    return readers.stream().mapToLong(reader -> reader.publishedReads.get()).sum();
  }

  @Override
  public long received() {
    return readers.stream().mapToLong(reader -> reader.publishedBlocks.get()).sum();
  }

  /** Reads are expected to go on as fast as up to now. */
  @Override
  public long expected() {
    double elapsedNs = Math.max(1, gate.nowNs() - gate.openedNs());
    return (long) ((sent() + received()) * Math.max(1, options.durationNs() / elapsedNs));
  }

  @Override
  public boolean isDrained() {
    return readers.stream().allMatch(Reader::isIdle);
  }

  @Override
  public long lastDeliveryNs() {
    return readers.stream().mapToLong(Reader::lastBlockNs).max().orElseThrow();
  }

  @Override
  public void addLatencies(Histogram all) {
    readers.forEach(reader -> reader.latencies.addTo(all));
  }

  @Override
  public void moveUnreportedLatencies(Histogram latencies) {
    readers.forEach(reader -> reader.latencies.moveUnreportedTo(latencies));
  }

  @Override
  public Failure stalled(double timeoutS, boolean draining) {
    String detail = String.format("no progress for %.1f s", timeoutS);
    return new Failure(Failure.Kind.TIMEOUT, null, null, detail);
  }

  @Override
  public void leave(boolean failed) throws InterruptedException {
    readers.forEach(Reader::leave);
    for (Reader reader : readers) {
      reader.awaitEnd();
    }
  }

  @Override
  public Result result(double joinS, boolean finished, Failure failure) {
    Histogram latency = new Histogram();
    addLatencies(latency);
    Timeline overTime = new Timeline();
    Faults faults = new Faults();
    for (Reader reader : readers) {
      overTime.add(reader.latencies.overTime());
      faults.add(reader.faults);
    }
    double elapsedS = Math.max(0, lastDeliveryNs() - gate.openedNs()) / 1e9;
    var blocks = readers.stream().mapToLong(reader -> reader.publishedBlocks.get());
    return new Result(
        sent(),
        received(),
        elapsedS,
        joinS,
        latency,
        new Histogram(),
        overTime,
        null,
        faults,
        List.of(),
        PartyCounts.of(blocks),
        null,
        finished,
        List.of(),
        failure == null ? diskFailure() : failure);
  }

  /** The failure that blocks came from a disk instead of the page cache; null if they did not. */
  private Failure diskFailure() {
    OptionalLong now = DiskReads.bytes();
    if (fromDiskBefore.isEmpty() || now.isEmpty()) {
      return null;
    }
    long fromDisk = now.getAsLong() - fromDiskBefore.getAsLong();
    long read = received() * options.blockBytes();
    if (fromDisk <= OWN_BYTES_MAX + read * FROM_DISK_MAX) {
      return null;
    }
    String detail =
        String.format(
            "%d of %d bytes came from a disk, so the files do not stay in the page cache: they have"
                + " %d MiB in all",
            fromDisk, read, (long) options.files() * options.fileMib());
    return new Failure(Failure.Kind.READ, null, null, detail);
  }
}
