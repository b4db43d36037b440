package org.klatch.crowd;

/** The pace of {@code flood} and {@code rate}: no user waits for another. */
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
  public void onDelivery(int speaker) {}
}
