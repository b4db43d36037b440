package site

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"time"
)

const (
	testSeed        = 7
	testDirectories = 12
	// testTimeout is the longest time that a test waits for an event.
	testTimeout = 30 * time.Second
)

// start serves a site until the end of the test and returns its address.
func start(t *testing.T, seed uint64, directories int) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(seed, directories, testTimeout, log.New(io.Discard, "", 0))
	t.Cleanup(func() { server.Close() })
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String()
}

// client sends text as it is and parses replies.
type client struct {
	t     *testing.T
	conn  net.Conn
	input *bufio.Reader
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testTimeout))
	return &client{t, conn, bufio.NewReader(conn)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads the next reply, which is one to a GET or POST.
func (c *client) reply() (*http.Response, string) {
	c.t.Helper()
	reply, body, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return reply, body
}

// read is reply for goroutines other than the test's.
func (c *client) read() (*http.Response, string, error) {
	reply, err := http.ReadResponse(c.input, nil)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(reply.Body)
	return reply, string(body), err
}

// ask sends a request and expects the status 200.
func (c *client) ask(request string) (*http.Response, string) {
	c.t.Helper()
	c.send(request)
	reply, body := c.reply()
	if reply.StatusCode != http.StatusOK {
		c.t.Fatalf("%q: %s", request, reply.Status)
	}
	return reply, body
}

func (c *client) expectEnd() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.input); err != nil || len(rest) > 0 {
		c.t.Fatalf("got %q, %v before the end", rest, err)
	}
}

// get is a request over HTTP/1.1 for a target. Further headers end with CR LF.
func get(target, headers string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n"
}
