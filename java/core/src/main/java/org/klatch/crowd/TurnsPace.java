package org.klatch.crowd;

/**
 * The pace of {@code turns}: user k of n sends when (messages sent + deliveries received) mod n =
 * k.
 *
 * <p>An allowed message counts as sent at once, because it is the next event in the room. The first
 * message of user 0 is allowed from the start, so the opening of the gate needs no decision.
 */
final class TurnsPace implements Pace {
  private final int user;
  private final int users;
  private final int count;
  private int allowed;
  private int turn; // (messages sent + deliveries received) mod n

  TurnsPace(int user, int users, int count) {
    this.user = user;
    this.users = users;
    this.count = count;
    allowIfDue();
  }

  @Override
  public int allowed() {
    return allowed;
  }

  @Override
  public void onDelivery(int speaker) {
    turn = turn + 1 == users ? 0 : turn + 1;
    allowIfDue();
  }

  private void allowIfDue() {
    if (turn == user && allowed < count) {
      allowed++;
      turn = turn + 1 == users ? 0 : turn + 1;
    }
  }
}
