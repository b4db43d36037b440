package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PostLogTest {
  private static String text(PostLog log) {
    return new String(log.bytes(), ISO_8859_1);
  }

  @Test
  void recordsHaveThePublishedForm() {
    PostLog log = new PostLog();
    assertEquals("         0\n", text(log));
    log.append(1_700_000_000, new PostForm(new FileId(12, 1, 3), 7), 2);
    String path = String.format("%-60s", "/file_set/dir00012/class1_3");
    String record =
        "         1 1700000000          0    12  1  3          7 "
            + path
            + "          0      10002\n";
    assertEquals(PostLog.RECORD_BYTES, record.length());
    assertEquals("         1\n" + record, text(log));
    log.clear();
    assertEquals("         0\n", text(log));
  }

  @Test
  void theLargestNumbersFit() {
    PostLog log = new PostLog();
    PostForm form = new PostForm(new FileId(99_999, 3, 8), Digits.U32_MAX);
    log.append(TableOptions.TIME_MAX_S, form, Digits.U32_MAX - UserCookie.FIRST_USER);
    String[] fields = text(log).split("\n", -1)[1].strip().split(" +", -1);
    assertEquals(
        List.of(
            "1",
            "9999999999",
            "0",
            "99999",
            "3",
            "8",
            "4294967295",
            form.file().path(),
            "0",
            "4294967295"),
        List.of(fields));
  }

  @Test
  void postsOfSeveralThreadsAreNumberedOnce() throws InterruptedException {
    int threads = 4;
    int posts = 2000;
    PostLog log = new PostLog();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int client = i;
      Runnable work =
          () -> {
            for (int post = 0; post < posts; post++) {
              log.append(1, new PostForm(FileId.at(post), client), post);
            }
          };
      all.add(new Thread(work, "poster " + i));
    }
    all.forEach(Thread::start);
    for (Thread thread : all) {
      thread.join();
    }
    String[] lines = text(log).split("\n", -1);
    assertEquals(threads * posts, Integer.parseInt(lines[0].strip()));
    int[] next = new int[threads];
    for (int number = 1; number <= threads * posts; number++) {
      String[] fields = lines[number].strip().split(" +", -1);
      assertEquals(number, Integer.parseInt(fields[0]));
      int client = Integer.parseInt(fields[6]);
      assertEquals(
          10_000 + next[client], Integer.parseInt(fields[9]), "in the order of the client");
      assertEquals(FileId.at(next[client]).path(), fields[7]);
      next[client]++;
    }
  }

  @Test
  void aFullLogTakesNoMoreUntilItIsCleared() {
    PostLog log = new PostLog();
    PostForm form = new PostForm(FileId.at(0), 1);
    for (int post = 0; post < PostLog.POSTS_MAX; post++) {
      assertTrue(log.append(1, form, post));
    }
    assertFalse(log.append(1, form, 0));
    log.clear();
    assertTrue(log.append(1, form, 0));
  }
}
