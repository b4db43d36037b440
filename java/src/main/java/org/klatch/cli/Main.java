package org.klatch.cli;

/** The command line of {@code klatch.jar}. */
public final class Main {
  private Main() {}

  /** Runs the command named by the first argument. */
  public static void main(String[] args) {
    System.out.println("hi");
  }
}
