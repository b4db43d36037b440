package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** User 1 of room 7 listens to users 0 and 2. */
class AccountTest {
  private final Account account = new Account(7, 1, 3);

  @Test
  void deliveriesInOrderAreNoFault() {
    for (int sequence = 0; sequence < 5; sequence++) {
      assertTrue(account.record(0, sequence));
      assertTrue(account.record(2, sequence));
    }
    assertTrue(faults(5, 9, 5).isEmpty(), "a user does not get its own messages");
  }

  @Test
  void gapsAndMissingTailsAreLost() {
    assertTrue(account.record(0, 0));
    assertTrue(account.record(0, 3));
    assertEquals(List.of(lost(0, 1, 2), lost(0, 4, 2), lost(2, 0, 1)), faults(6, 0, 1).first());
    assertEquals(0, faults(0, 0, 0).count(Fault.Kind.DUPLICATED));
  }

  @Test
  void aLateDeliveryIsReorderedAndNotLost() {
    assertTrue(account.record(0, 2));
    assertTrue(account.record(0, 0));
    assertTrue(account.record(0, 1));
    Faults faults = faults(3, 0, 0);
    assertEquals(2, faults.count(Fault.Kind.REORDERED));
    assertEquals(0, faults.count(Fault.Kind.LOST));
    assertEquals(new Fault(Fault.Kind.REORDERED, 7, 1, 0, 0L, 1, null), faults.first().get(0));
  }

  @Test
  void aSecondDeliveryIsAFault() {
    account.record(2, 0);
    assertFalse(account.record(2, 0));
    account.record(2, 2);
    account.record(2, 1);
    assertFalse(account.record(2, 1));
    assertEquals(2, faults(0, 0, 3).count(Fault.Kind.DUPLICATED));
  }

  @Test
  void aDeliveryToItsSpeakerIsAFault() {
    assertFalse(account.record(1, 0));
    Fault fault = faults(0, 1, 0).first().get(0);
    assertEquals(
        new Fault(Fault.Kind.DUPLICATED, 7, 1, 1, 0L, 1, "delivered to its own speaker"), fault);
  }

  @Test
  void aChangedDeliveryIsAFaultAndItsMessageIsLost() {
    account.corrupted(0, "got: x");
    Faults faults = faults(1, 0, 0);
    assertEquals(
        List.of(new Fault(Fault.Kind.CORRUPTED, 7, 1, 0, null, 1, "got: x"), lost(0, 0, 1)),
        faults.first().stream().sorted(Collections.reverseOrder(AccountTest::byKind)).toList());
  }

  @Test
  void allFaultsAreCountedAndTheFirstAreDetailed() {
    for (int i = 0; i < 30; i++) {
      account.record(0, 2 * i + 1);
    }
    Faults faults = faults(60, 0, 0);
    assertEquals(30, faults.count(Fault.Kind.LOST));
    assertEquals(Faults.DETAILED_MAX, faults.first().size());
  }

  /**
   * Any deliveries in any order: the first of a message counts, a second is a duplicate, and the
   * missing ones are lost.
   */
  @Property
  void everyMessageIsCountedOnce(
      @ForAll @Size(max = 60) List<@IntRange(max = 29) Integer> sequences) {
    Account any = new Account(7, 1, 3);
    long first = sequences.stream().filter(sequence -> any.record(0, sequence)).count();
    Faults faults = new Faults();
    any.addFaultsTo(new int[] {30, 0, 0}, faults);
    long distinct = sequences.stream().distinct().count();
    assertEquals(distinct, first);
    assertEquals(sequences.size() - distinct, faults.count(Fault.Kind.DUPLICATED));
    assertEquals(30 - distinct, faults.count(Fault.Kind.LOST));
    boolean inOrder =
        IntStream.range(1, sequences.size()).allMatch(i -> sequences.get(i - 1) < sequences.get(i));
    assertTrue(!inOrder || faults.count(Fault.Kind.REORDERED) == 0);
  }

  private Faults faults(int... sent) {
    Faults faults = new Faults();
    account.addFaultsTo(sent, faults);
    return faults;
  }

  private static int byKind(Fault a, Fault b) {
    return a.kind().compareTo(b.kind());
  }

  private static Fault lost(int speaker, long sequence, int count) {
    return new Fault(Fault.Kind.LOST, 7, 1, speaker, sequence, count, null);
  }
}
