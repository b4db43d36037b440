package org.klatch.crowd;

/**
 * The pace of {@code rounds}: a user sends message i+window once it has message i of all others.
 */
final class RoundsPace implements Pace {
  private final int count;
  private final int window;
  private final int[] received; // messages, by speaker
  private int round; // messages received from every other user
  private int behind; // users with no more than round messages received

  RoundsPace(int user, int users, int count, int window) {
    this.count = count;
    this.window = window;
    received = new int[users];
    received[user] = Integer.MAX_VALUE;
    behind = users - 1;
  }

  @Override
  public int allowed() {
    return (int) Math.min(count, (long) round + window);
  }

  @Override
  public void onDelivery(int speaker) {
    if (received[speaker]++ != round) {
      return;
    }
    behind--;
    if (behind == 0) {
      round++;
      for (int messages : received) {
        if (messages == round) {
          behind++;
        }
      }
    }
  }
}
