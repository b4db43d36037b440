package org.klatch.crowd;

/** Nobody waits for anybody. */
final class FreePace implements Pace {
  private final int count;

  FreePace(int count) {
    this.count = count;
  }

  @Override
  public int allowed() {
    return count;
  }

  @Override
  public void heard(int speaker) {}
}
