package org.klatch.crowd;

/**
 * One turn goes round the room: user k of n speaks when (own said + own heard) mod n = k.
 *
 * <p>A message that may be said counts as said at once: it is the next thing that happens in this
 * room. The opening message of user 0 is allowed from the beginning, so nothing has to be decided
 * when the gate opens.
 */
final class TurnsPace implements Pace {
  private final int user;
  private final int users;
  private final int count;
  private int allowed;
  private int turn; // (own said + own heard) mod n

  TurnsPace(int user, int users, int count) {
    this.user = user;
    this.users = users;
    this.count = count;
    speakIfDue();
  }

  @Override
  public int allowed() {
    return allowed;
  }

  @Override
  public void heard(int speaker) {
    turn = turn + 1 == users ? 0 : turn + 1;
    speakIfDue();
  }

  private void speakIfDue() {
    if (turn == user && allowed < count) {
      allowed++;
      turn = turn + 1 == users ? 0 : turn + 1;
    }
  }
}
