package org.klatch.shop;

/**
 * What is stored about a person.
 *
 * @param name never changes
 * @param address begins with the revision
 * @param email contains the revision
 * @param card ends with the revision
 */
public record Profile(String name, String address, String email, String card) {
  /** The profile of a user after so many updates. */
  public static Profile of(long user, long revision) {
    return new Profile(
        "User " + user,
        revision + " Street " + user,
        user + "." + revision + "@klatch",
        "card-" + user + "-" + revision);
  }

  /** The number of updates that give this profile of a user; -1 if none does. */
  public long revision(long user) {
    int space = address.indexOf(' ');
    try {
      long revision = Long.parseLong(address, 0, Math.max(space, 0), 10);
      return equals(of(user, revision)) ? revision : -1;
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
