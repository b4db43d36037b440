package org.klatch.exchange.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Targets, cookies and forms, right and wrong ones. */
class TargetTest {
  private static final String PATH = "/file_set/dir00012/class1_3";
  private static final FileId FILE = new FileId(12, 1, 3);
  private static final String RESET = "command/Reset&maxload=100&pttime=1700000000&maxthread=3";

  @Test
  void targetsOfTheSiteAreParsed() {
    assertEquals(new Target.File(FILE), Target.parse(PATH, null));
    assertEquals(new Target.Page("/dynamic", FILE), Target.parse("/dynamic", PATH));
    assertEquals(new Target.Page("/cgi", FILE), Target.parse("/cgi", PATH));
    assertEquals(new Target.Form(), Target.parse("/dynamic", null));
    assertEquals(new Target.Fetch(), Target.parse("/dynamic", "command/Fetch"));
    TableOptions options = new TableOptions(300, 1_700_000_000, -86_400, 5);
    String query = RESET + "&exp=-86400,5&urlroot=/file_set/";
    assertEquals(new Target.Reset(options), Target.parse("/dynamic", query));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/dynamic?",
        "/dynamic?/file_set/dir00012/class1_9",
        "/dynamic?command/",
        "/dynamic?command/Fetch&",
        "/cgi?command/Fetch",
        "/file_set/dir00012/class1_3?",
        "/other?/file_set/dir00012/class1_3",
        "/dynamic?command/Reset",
        "/dynamic?command/Reset&maxload=0&pttime=1700000000&maxthread=1&exp=0,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1000&pttime=1&maxthread=101&exp=0,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1&pttime=1&maxthread=1&exp=0,0&urlroot=/",
        "/dynamic?command/Reset&maxload=1&pttime=1&maxthread=1&exp=-2,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1&pttime=1&maxthread=1&exp=--2,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1&pttime=99999999999&maxthread=1&exp=0,0&urlroot=/file_set/"
      })
  void otherTargetsWithAQueryAreUnknown(String target) {
    String[] parts = target.split("\\?", 2);
    assertNull(Target.parse(parts[0], parts[1]));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "/cgi", "/file_set/dir00012/", "/dynamic/"})
  void otherPathsAreUnknown(String path) {
    assertNull(Target.parse(path, null));
  }

  @Test
  void theCookieIsFoundBetweenOthers() throws RefusalException {
    UserCookie cookie = new UserCookie(7, 359);
    assertEquals(cookie, UserCookie.parse("my_cookie=user_id=10007&last_ad=359"));
    assertEquals(cookie, UserCookie.parse("a=b; my_cookie=user_id=10007&last_ad=359 ; c=d"));
    assertNull(UserCookie.parse("a=b; not_my_cookie=1;"));
    assertNull(UserCookie.parse(null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "user_id=9999&last_ad=1",
        "user_id=10000&last_ad=360",
        "user_id=10000",
        "user_id=1x&last_ad=1",
        "last_ad=1&user_id=10000"
      })
  void aMalformedCookieIsRefused(String value) {
    assertThrows(RefusalException.class, () -> UserCookie.parse("my_cookie=" + value));
  }

  @Test
  void formsHaveTheirFieldsInAnyOrder() throws RefusalException {
    PostForm expected = new PostForm(FILE, 42);
    assertEquals(expected, PostForm.parse("urlroot=/file_set/&dir=12&class=1&num=3&client=42"));
    assertEquals(expected, PostForm.parse("client=42&num=3&class=1&dir=00012&urlroot=/file_set/"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "urlroot=/file_set/&dir=12&class=1&num=3",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=42&",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=42&client=42",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=42&x=y",
        "urlroot=/file_set/&dir=100000&class=1&num=3&client=42",
        "urlroot=/file_set/&dir=12&class=257&num=3&client=42",
        "urlroot=/file_set/&dir=12&class=4&num=3&client=42",
        "urlroot=/file_set/&dir=12&class=1&num=9&client=42",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=4294967296",
        "urlroot=/&dir=12&class=1&num=3&client=42",
        "urlroot=/file_set/&dir=&class=1&num=3&client=42"
      })
  void malformedFormsAreRefused(String text) {
    assertThrows(RefusalException.class, () -> PostForm.parse(text));
  }
}
