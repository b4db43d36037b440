package org.klatch.crowd;

/**
 * The stages of a schedule: times within each of which the rate goes linearly from that of the
 * stage before, or from 0, to its own. See "The schedule" in docs/reference/protocol.md.
 */
public final class Stages {
  private static final int MAX = 100;
  private static final double SECONDS_MAX = 86_400;
  private static final double RATE_MAX = 1e6;

  private final double[] beginS;
  private final double[] timeS;
  private final double[] fromRate;
  private final double[] toRate;
  private final double[] before; // operations that are due before each

  private Stages(int count) {
    beginS = new double[count];
    timeS = new double[count];
    fromRate = new double[count];
    toRate = new double[count];
    before = new double[count];
  }

  /**
   * Reads pairs of seconds and a rate, such as {@code 60s:100,180s:500}.
   *
   * @throws IllegalArgumentException if the text is no schedule
   */
  public static Stages parse(String text) {
    String[] pairs = text.split(",", -1);
    Stages stages = new Stages(pairs.length);
    for (int i = 0; i < pairs.length; i++) {
      String[] pair = pairs[i].split("s?:", -1);
      if (pair.length != 2) {
        throw new IllegalArgumentException(pairs[i] + " is no pair of a time and a rate");
      }
      stages.timeS[i] = number(pair[0], SECONDS_MAX);
      stages.toRate[i] = number(pair[1], RATE_MAX);
      if (i > 0) {
        stages.beginS[i] = stages.endS(i - 1);
        stages.fromRate[i] = stages.toRate[i - 1];
        stages.before[i] = stages.upToEnd(i - 1);
      }
    }
    int last = pairs.length - 1;
    if (pairs.length > MAX || stages.endS(last) > SECONDS_MAX || stages.upToEnd(last) <= 0) {
      throw new IllegalArgumentException(
          "there are more than " + MAX + " stages, or a day of them, or nothing is due");
    }
    return stages;
  }

  private static double number(String text, double max) {
    double number = Double.parseDouble(text);
    if (number >= 0 && number <= max) {
      return number;
    }
    throw new IllegalArgumentException(text + " is not from 0 to " + (long) max);
  }

  int count() {
    return timeS.length;
  }

  /** The end of a stage, ns after the begin of the first one. */
  long endNs(int stage) {
    return (long) (endS(stage) * 1e9);
  }

  /** The time of all stages, ns. */
  public long timeNs() {
    return endNs(count() - 1);
  }

  /** The stage in which a moment lies: before its end. Nothing is due after the last one. */
  int stageAt(long ns) {
    int stage = 0;
    while (stage < count() - 1 && endNs(stage) <= ns) {
      stage++;
    }
    return stage;
  }

  private double endS(int stage) {
    return beginS[stage] + timeS[stage];
  }

  /** The integral of the rate up to the end of a stage. */
  double upToEnd(int stage) {
    return before[stage] + (fromRate[stage] + toRate[stage]) / 2 * timeS[stage];
  }

  /** When the integral of the rate reaches {@code operations}, which it does within the stage. */
  long timeNs(int stage, double operations) {
    double own = operations - before[stage];
    double from = fromRate[stage];
    if (own <= 0) {
      return (long) (beginS[stage] * 1e9);
    }
    double slope = (toRate[stage] - from) / timeS[stage];
    double rateThen = Math.sqrt(Math.max(from * from + 2 * slope * own, 0));
    double atS = beginS[stage] + 2 * own / (from + rateThen);
    return (long) (Math.min(atS, endS(stage)) * 1e9);
  }
}
