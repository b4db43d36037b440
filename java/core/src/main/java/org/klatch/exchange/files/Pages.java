package org.klatch.exchange.files;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.ByteBuffer;
import org.klatch.exchange.SplitMix;

/**
 * The contents of all files of one seed. They do not change, so the threads of a program share
 * them, each with a {@link PageChecker} of its own.
 */
public final class Pages {
  /** Bytes of a page. */
  public static final int PAGE_BYTES = 4096;

  /** Bytes at the beginning of a page: its name and its hash. */
  static final int HEAD_BYTES = 16;

  /** Places in the table at which the rest of a page can begin; a power of two. */
  private static final int PLACES = 8192;

  private static final int TABLE_BYTES = PLACES * Long.BYTES + PAGE_BYTES;

  private final long seed;
  private final ByteBuffer table = ByteBuffer.allocateDirect(TABLE_BYTES).order(LITTLE_ENDIAN);

  /** Computes the table for a seed. */
  public Pages(long seed) {
    this.seed = SplitMix.partSeed(seed, SplitMix.PAGES);
    long tableSeed = SplitMix.partSeed(seed, SplitMix.TABLE);
    for (int word = 0; word < TABLE_BYTES / Long.BYTES; word++) {
      table.putLong(word * Long.BYTES, SplitMix.output(tableSeed, word));
    }
  }

  /** The name of a file within the folder of the files. */
  public static String fileName(int file) {
    return String.format("file%04d", file);
  }

  /** Puts a page of a file into {@code buffer} at its position. */
  public void put(int file, int page, ByteBuffer buffer) {
    long hash = hash(name(file, page));
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).order(LITTLE_ENDIAN);
    head.putLong(name(file, page)).putLong(hash).flip();
    buffer.put(head).put(table.slice(placeInTable(hash), PAGE_BYTES - HEAD_BYTES));
  }

  /** Creates a checker for one thread. */
  public PageChecker newChecker() {
    return new PageChecker(this, table.asReadOnlyBuffer());
  }

  static long name(int file, int page) {
    return (long) file << 32 | page;
  }

  long hash(long name) {
    return SplitMix.output(seed, name);
  }

  /** Where the rest of a page with this hash begins in the table, bytes. */
  static int placeInTable(long hash) {
    return (int) (hash & (PLACES - 1)) * Long.BYTES;
  }
}
