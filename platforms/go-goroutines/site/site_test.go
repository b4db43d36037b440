package site

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

const postCookie = "Cookie: my_cookie=user_id=10003&last_ad=0\r\n"

// post is a request over HTTP/1.1 with a form.
func post(headers, form string) string {
	return fmt.Sprintf("POST /dynamic HTTP/1.1\r\nHost: h\r\n%sContent-Length: %d\r\n\r\n%s", headers, len(form), form)
}

func form(file fileID, client int) string {
	return fmt.Sprintf("urlroot=/file_set/&dir=%d&class=%d&num=%d&client=%d", file.directory, file.class, file.number,
		client)
}

// expectPage compares a body with a page, whose text is that of docs/reference/web.md.
func expectPage(t *testing.T, body, script, query, content string) {
	t.Helper()
	want := "<html>\n<head><title>Klatch web</title></head>\n<body>\n<p>SERVER_SOFTWARE = klatch\n" +
		"<p>REMOTE_ADDR = 127.0.0.1\n<p>SCRIPT_NAME = " + script + "\n<p>QUERY_STRING = " + query + "\n<pre>\n" + content +
		"\n</pre>\n</body></html>\n"
	if body != want {
		t.Fatalf("%s?%s: %d bytes, want %d; it begins with %.300q", script, query, len(body), len(want), body)
	}
}

func TestEveryClassIsServedAsFileAndPage(t *testing.T) {
	c, content := dial(t, start(t, testSeed, testDirectories)), newContent(testSeed)
	for class := 0; class < classes; class++ {
		file := fileID{testDirectories - 1, class, 8}
		want := string(content.file(file))
		reply, body := c.ask(get(file.path(), ""))
		if body != want || reply.ContentLength != int64(len(want)) || reply.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d bytes, head %v", file.path(), len(body), reply.Header)
		}
		for _, script := range []string{"/dynamic", "/cgi"} {
			reply, body = c.ask(get(script+"?"+file.path(), "Cookie: other=1\r\n"))
			expectPage(t, body, script, file.path(), want)
			if reply.ContentLength != int64(len(body)) || reply.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s: head %v", file.path(), reply.Header)
			}
		}
	}
}

func TestAllTagsOfAPageWithAdsNameTheChosenAd(t *testing.T) {
	c := dial(t, start(t, testSeed, testDirectories))
	content, tables := newContent(testSeed), newTables(testSeed, defaultTables)
	for user := 0; user < 1000; user += 111 {
		for class := 0; class < classes; class++ {
			file, choice := fileID{3, class, 4}, tables.choose(user, 17)
			cookie := fmt.Sprintf("Cookie: my_cookie=user_id=%d&last_ad=17\r\n", firstUser+user)
			reply, body := c.ask(get("/dynamic?"+file.path(), cookie))
			want := content.file(file)
			content.rotate(want, file, choice.ad)
			expectPage(t, body, "/dynamic", file.path(), string(want))
			if got := reply.Header.Get("Set-Cookie"); got != choice.cookie() {
				t.Errorf("user %d: %s, want %s", user, got, choice.cookie())
			}
		}
	}
	// The stored file is unchanged, and a user who is not in the table gets it.
	file := fileID{3, 1, 4}
	reply, body := c.ask(get("/dynamic?"+file.path(), "Cookie: my_cookie=user_id=11000&last_ad=0\r\n"))
	expectPage(t, body, "/dynamic", file.path(), string(content.file(file)))
	if got := reply.Header.Get("Set-Cookie"); got != "found_cookie=Ad_id=-1&Ad_weight=0&Expired=1" {
		t.Error(got)
	}
}

func TestAPostIsLoggedAndAnsweredWithItsFile(t *testing.T) {
	c, file := dial(t, start(t, testSeed, testDirectories)), fileID{11, 2, 5}
	for client := 1; client <= 2; client++ {
		reply, body := c.ask(post(postCookie, form(file, client)))
		expectPage(t, body, "/dynamic", "", string(newContent(testSeed).file(file)))
		if got := reply.Header.Get("Set-Cookie"); got != "my_cookie=10003" {
			t.Error(got)
		}
	}
	record := "%10d 1000000000          0    11  2  5 %10d /file_set/dir00011/class2_5%33s          0      10003\n"
	log := "         2\n" + fmt.Sprintf(record, 1, 1, "") + fmt.Sprintf(record, 2, 2, "")
	_, body := c.ask(get("/dynamic?command/Fetch", ""))
	expectPage(t, body, "/dynamic", "command/Fetch", log)
}

func TestPostsAtTheSameTimeHaveOneRecordEach(t *testing.T) {
	const clients, posts = 8, 1000 // so many that Fetch sends the log without copying it
	address := start(t, testSeed, testDirectories)
	var all sync.WaitGroup
	for client := 0; client < clients; client++ {
		c, request := dial(t, address), post(postCookie, form(fileID{1, 0, 0}, client))
		all.Add(2)
		go func() {
			defer all.Done()
			if _, err := c.conn.Write([]byte(strings.Repeat(request, posts))); err != nil {
				t.Error(err)
			}
		}()
		go func() {
			defer all.Done()
			for i := 0; i < posts; i++ {
				if reply, _, err := c.read(); err != nil || reply.StatusCode != http.StatusOK {
					t.Errorf("%v, %v", reply, err)
					return
				}
			}
		}()
	}
	all.Wait()
	_, body := dial(t, address).ask(get("/dynamic?command/Fetch", ""))
	_, log, _ := strings.Cut(strings.TrimSuffix(body, frameEnd), "<pre>\n")
	lines := strings.SplitAfter(log, "\n")
	if lines[0] != fmt.Sprintf("%10d\n", clients*posts) || len(lines) != clients*posts+2 || lines[len(lines)-1] != "" {
		t.Fatalf("%d lines, the first is %q", len(lines), lines[0])
	}
	of := map[string]int{}
	for i, record := range lines[1 : len(lines)-1] {
		if len(record) != postRecordBytes || record[:10] != fmt.Sprintf("%10d", i+1) {
			t.Fatalf("record %d is %q", i+1, record)
		}
		of[record[45:55]]++
	}
	for client := 0; client < clients; client++ {
		if got := of[fmt.Sprintf("%10d", client)]; got != posts {
			t.Errorf("client %d has %d records", client, got)
		}
	}
}

func TestAResetMakesNewTablesAndEmptiesTheLog(t *testing.T) {
	c := dial(t, start(t, testSeed, testDirectories))
	c.ask(post(postCookie, form(fileID{0, 0, 0}, 1)))
	const reset = "command/Reset&maxload=3&pttime=1800000000&maxthread=1&exp=-1,-1&urlroot=/file_set/"
	_, body := c.ask(get("/dynamic?"+reset, ""))
	expectPage(t, body, "/dynamic", reset, "")
	_, body = c.ask(get("/dynamic?command/Fetch", ""))
	expectPage(t, body, "/dynamic", "command/Fetch", "         0\n")
	tables := newTables(testSeed, tableOptions{3, 1_800_000_000, [2]int64{-1, -1}})
	for user := 2; user <= 3; user++ { // the last user and one more
		cookie := fmt.Sprintf("Cookie: my_cookie=user_id=%d&last_ad=5\r\n", firstUser+user)
		reply, _ := c.ask(get("/dynamic?/file_set/dir00000/class1_0", cookie))
		if got, want := reply.Header.Get("Set-Cookie"), tables.choose(user, 5); got != want.cookie() || !want.expired {
			t.Errorf("user %d: %s, want %+v", user, got, want)
		}
	}
	_, body = c.ask(post(postCookie, form(fileID{0, 0, 0}, 1)) + get("/dynamic?command/Fetch", ""))
	if _, body = c.reply(); !strings.Contains(body, "         1 1800000000          0 ") {
		t.Errorf("%q", body)
	}
}
