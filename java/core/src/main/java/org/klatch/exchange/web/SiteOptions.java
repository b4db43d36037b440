package org.klatch.exchange.web;

/**
 * The parameters of a site.
 *
 * @param seed seed of the files' contents and of the ad tables
 * @param directories number of directories, 1 to {@link #DIRECTORIES_MAX}; those that are requested
 *     take 5 MB of memory each
 */
public record SiteOptions(long seed, int directories) {
  /** Directories that a path can name with its five digits. */
  public static final int DIRECTORIES_MAX = FileId.DIRECTORIES_MAX;
}
