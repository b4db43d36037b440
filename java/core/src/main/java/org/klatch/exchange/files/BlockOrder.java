package org.klatch.exchange.files;

import org.klatch.exchange.SplitMix;

/**
 * The blocks that one reader reads, in order. It never ends, and {@link #next} allocates nothing.
 */
public final class BlockOrder {
  private final boolean random;
  private final long seed;
  private final long perFile;
  private final long blocks;
  private long drawn;
  private long following; // the next block in sequential order
  private long current;

  /**
   * Creates the order of one reader, before its first block.
   *
   * @param reader number of the reader; a sequential one begins with this file, modulo {@code
   *     files}
   * @param perFile blocks in each file
   */
  public BlockOrder(long seed, int reader, int files, long perFile, boolean random) {
    this.random = random;
    this.seed = SplitMix.output(SplitMix.partSeed(seed, SplitMix.READERS), reader);
    this.perFile = perFile;
    blocks = files * perFile;
    following = reader % files * perFile;
  }

  /** Moves on to the next block. */
  public void next() {
    if (random) {
      current = scale(SplitMix.output(seed, drawn++));
    } else {
      current = following;
      following = current + 1 == blocks ? 0 : current + 1;
    }
  }

  /** Number of the block's file, from 0. */
  public int file() {
    return (int) (current / perFile);
  }

  /** Number of the block in its file, from 0. */
  public int block() {
    return (int) (current % perFile);
  }

  /** The upper 64 bits of the product of {@code bits}, taken as unsigned, and the blocks. */
  private long scale(long bits) {
    return Math.multiplyHigh(bits, blocks) + (bits >> 63 & blocks);
  }
}
