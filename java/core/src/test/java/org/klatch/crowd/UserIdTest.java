package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class UserIdTest {
  @Property
  void onlyUsersOfTheRoomAreRecognised(
      @ForAll @IntRange(min = 1, max = 65535) int room,
      @ForAll @IntRange(min = 2, max = 10_000) int users,
      @ForAll @IntRange(max = 12_000) int user) {
    int expected = user < users ? user : -1;
    UserId id = new UserId(room, 0, users);
    assertEquals(expected, userOf(id, "r" + room + "u" + user + "!x@y"));
    assertEquals(expected, userOf(id, "r" + room + "u" + user));
    assertEquals(-1, userOf(id, "r" + (room + 1) + "u" + user));
  }

  @Test
  void malformedNicksAreStrangers() {
    UserId id = new UserId(12, 3, 20);
    String[] strangers = {
      "",
      "r12u",
      "r12u!",
      "r12u03",
      "r12u00",
      "r12u3x",
      "r12u-1",
      "R12U3",
      "r12u99999999999999",
      "eve",
      "!"
    };
    for (String stranger : strangers) {
      assertEquals(-1, userOf(id, stranger), stranger);
    }
    assertEquals(0, userOf(id, "r12u0!a!b"));
  }

  @Property
  void arbitraryBytesAreStrangers(@ForAll byte[] bytes) {
    assertEquals(-1, new UserId(12, 3, 20).userOf(bytes, 0, bytes.length));
  }

  private static int userOf(UserId id, String prefix) {
    byte[] bytes = prefix.getBytes(StandardCharsets.ISO_8859_1);
    return id.userOf(bytes, 0, bytes.length);
  }
}
