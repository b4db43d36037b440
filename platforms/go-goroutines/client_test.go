package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// testTimeout is the longest time that a test waits for an event.
const testTimeout = 30 * time.Second

// client is an IRC client over a real socket.
type client struct {
	t     *testing.T
	conn  *net.TCPConn
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
	return &client{t, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.conn, format+"\r\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) nextLine() string {
	c.t.Helper()
	line, err := c.input.ReadString('\n')
	if err != nil {
		c.t.Fatalf("after %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// skipTo reads up to the first line that contains a text.
func (c *client) skipTo(text string) string {
	c.t.Helper()
	for {
		if line := c.nextLine(); strings.Contains(line, text) {
			return line
		}
	}
}

func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.nextLine(); got != want {
		c.t.Fatalf("got %q, want %q", got, want)
	}
}

// expectEnd expects an orderly end of the connection, without a line before it.
func (c *client) expectEnd() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.input); err != nil || len(rest) > 0 {
		c.t.Fatalf("got %q, %v before the end", rest, err)
	}
}

func (c *client) register(nick string) *client {
	c.t.Helper()
	c.send("NICK %s\r\nUSER %s 0 * :%s", nick, nick, nick)
	c.skipTo(" 376 ")
	return c
}

func (c *client) join(room string) *client {
	c.t.Helper()
	c.send("JOIN %s", room)
	c.skipTo(" 366 ")
	return c
}

// ping waits until the server has handled all earlier lines.
func (c *client) ping() {
	c.t.Helper()
	c.send("PING x")
	c.skipTo(" PONG ")
}
