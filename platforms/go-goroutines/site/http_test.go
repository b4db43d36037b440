package site

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const smallFile = "/file_set/dir00000/class0_0"

func TestConnectionsStayOpenAsTheRequestsAsk(t *testing.T) {
	address := start(t, testSeed, testDirectories)
	for _, test := range []struct {
		request, connection string // the header of the reply
		closes              bool
	}{
		{"GET " + smallFile + " HTTP/1.0\r\n\r\n", "close", true},
		{"GET /dynamic?" + smallFile + " HTTP/1.0\r\nHost: h\r\n\r\n", "close", true},
		{"GET " + smallFile + " HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "keep-alive", false},
		{"GET /cgi?" + smallFile + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", false},
		{get(smallFile, "Connection: close\r\n"), "close", true},
		{post(postCookie+"Connection: close\r\n", form(fileID{}, 1)), "close", true},
		{get(smallFile, ""), "", false},
		{get("/nothing", ""), "", false},
	} {
		c := dial(t, address)
		c.send(test.request)
		reply, _ := c.reply()
		if got := reply.Header.Get("Connection"); reply.Close != test.closes || (!test.closes && got != test.connection) {
			t.Errorf("%q: closes is %v, Connection is %q", test.request, reply.Close, got)
		}
		if test.closes {
			c.expectEnd()
			continue
		}
		c.ask(get(smallFile, ""))
	}
}

func TestPipelinedRequestsAreAnsweredInTheirOrder(t *testing.T) {
	c, content := dial(t, start(t, testSeed, testDirectories)), newContent(testSeed)
	requests := ""
	for index := 0; index < filesPerDirectory; index++ {
		requests += get(fileAt(index).path(), "")
	}
	go func() { _, _ = c.conn.Write([]byte(requests + post(postCookie, form(fileID{}, 1)) + get("/end", ""))) }()
	for index := 0; index < filesPerDirectory; index++ {
		if _, body := c.reply(); body != string(content.file(fileAt(index))) {
			t.Fatalf("%s: another file", fileAt(index).path())
		}
	}
	if reply, _ := c.reply(); reply.StatusCode != http.StatusOK {
		t.Error(reply.Status)
	}
	if reply, _ := c.reply(); reply.StatusCode != http.StatusNotFound {
		t.Error(reply.Status)
	}
}

func TestRefusedRequestsKeepTheConnectionIfTheNextOneCanBeFound(t *testing.T) {
	address := start(t, testSeed, testDirectories)
	right, many := form(fileID{0, 1, 2}, 1), strings.Repeat("A: b\r\n", headersMax)
	for _, test := range []struct {
		request string
		status  int
		closes  bool
	}{
		{get("/", ""), 404, false},
		{get("/file_set/../etc/passwd", ""), 404, false},
		{get("/file_set/dir00012/class0_0", ""), 404, false},
		{get("/dynamic?/file_set/dir00012/class0_0", ""), 404, false},
		{get("/cgi?/file_set/dir00012/class3_0", ""), 404, false},
		{get("/dynamic?command/Other", ""), 404, false},
		{post(postCookie, form(fileID{12, 1, 2}, 1)), 404, false},
		{get("/dynamic", ""), 405, false},
		{strings.Replace(post(postCookie, right), "/dynamic", smallFile, 1), 405, false},
		{strings.Replace(post(postCookie, right), "/dynamic", "/dynamic?command/Fetch", 1), 405, false},
		{"PUT " + get(smallFile, "")[4:], 405, false},
		{get("/dynamic?"+smallFile, "Cookie: my_cookie=user_id=1\r\n"), 400, false},
		{post("", right), 400, false},
		{post("Cookie: my_cookie=1\r\n", right), 400, false},
		{post(postCookie, ""), 400, false},
		{post(postCookie, right+"&"), 400, false},
		{"nonsense\r\n\r\n", 400, true},
		{"GET " + smallFile + " HTTP/1.1\r\n\r\n", 400, true},
		{get(smallFile, "Host: other\r\n"), 400, true},
		{post("Content-Length: 1\r\n", right), 400, true},
		{post(postCookie, strings.Repeat("x", bodyBytesMax+1)), 413, true},
		{get(smallFile, "A: "+strings.Repeat("b", headBytesMax)+"\r\n"), 431, true},
		{get(smallFile, many), 431, true},
		{"BREW " + get(smallFile, "")[4:], 501, true},
		{"POST /dynamic HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501, true},
	} {
		c := dial(t, address)
		c.send(test.request)
		reply, body := c.reply()
		name := fmt.Sprintf("%.80q", test.request)
		if reply.StatusCode != test.status || reply.Close != test.closes {
			t.Errorf("%s: %s, closes is %v", name, reply.Status, reply.Close)
		}
		if !strings.HasPrefix(body, fmt.Sprint(test.status, " ")) || len(body) > 100 {
			t.Errorf("%s: %q", name, body)
		}
		if !test.closes {
			c.ask(get(smallFile, ""))
		}
	}
}

func TestHeadsAndBodiesOfTheLargestSizeAreServed(t *testing.T) {
	c := dial(t, start(t, testSeed, testDirectories))
	padding := headBytesMax - len(get(smallFile, "A: \r\n"))
	c.ask(get(smallFile, "A: "+strings.Repeat("b", padding)+"\r\n"))
	c.ask(get(smallFile, strings.Repeat("A: b\r\n", headersMax-1)))
	c.send(post(postCookie, strings.Repeat("x", bodyBytesMax)))
	if reply, _ := c.reply(); reply.StatusCode != http.StatusBadRequest || reply.Close {
		t.Errorf("%s: such a body is read, but it is no form", reply.Status)
	}
}

func TestARefusedMethodIsAnsweredWithTheAllowedOne(t *testing.T) {
	c := dial(t, start(t, testSeed, testDirectories))
	for request, want := range map[string]string{
		"DELETE /dynamic HTTP/1.1\r\nHost: h\r\n\r\n":          "POST",
		"DELETE " + smallFile + " HTTP/1.1\r\nHost: h\r\n\r\n": "GET",
	} {
		c.send(request)
		if reply, _ := c.reply(); reply.Header.Get("Allow") != want {
			t.Errorf("%q: %v", request, reply.Header)
		}
	}
}
