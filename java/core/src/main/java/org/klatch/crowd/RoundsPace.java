package org.klatch.crowd;

/** A user says message i+window once it has heard message i of all the others. */
final class RoundsPace implements Pace {
  private final int count;
  private final int window;
  private final int[] heard;
  private int round; // messages heard of everybody else
  private int behind; // how many others were heard no further than that

  RoundsPace(int user, int users, int count, int window) {
    this.count = count;
    this.window = window;
    heard = new int[users];
    heard[user] = Integer.MAX_VALUE;
    behind = users - 1;
  }

  @Override
  public int allowed() {
    return (int) Math.min(count, (long) round + window);
  }

  @Override
  public void heard(int speaker) {
    if (heard[speaker]++ != round) {
      return;
    }
    behind--;
    if (behind == 0) {
      round++;
      for (int h : heard) {
        if (h == round) {
          behind++;
        }
      }
    }
  }
}
