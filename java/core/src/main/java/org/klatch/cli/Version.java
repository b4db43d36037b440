package org.klatch.cli;

/** The version of this program. */
final class Version {
  private Version() {}

  /** Returns the version in the jar's manifest; {@code unpackaged} when run from class files. */
  static String get() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "unpackaged" : version;
  }
}
