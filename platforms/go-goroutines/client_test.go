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

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

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
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &client{t, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

func (c *client) say(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.conn, format+"\r\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) hear() string {
	c.t.Helper()
	line, err := c.input.ReadString('\n')
	if err != nil {
		c.t.Fatalf("after %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// hearUntil skips lines up to the first that contains a text.
func (c *client) hearUntil(text string) string {
	c.t.Helper()
	for {
		if line := c.hear(); strings.Contains(line, text) {
			return line
		}
	}
}

func (c *client) expect(want string) {
	c.t.Helper()
	if got := c.hear(); got != want {
		c.t.Fatalf("got %q, want %q", got, want)
	}
}

// expectEnd wants an orderly end of the connection, and nothing before it.
func (c *client) expectEnd() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.input); err != nil || len(rest) > 0 {
		c.t.Fatalf("got %q, %v instead of the end", rest, err)
	}
}

func (c *client) register(nick string) *client {
	c.t.Helper()
	c.say("NICK %s\r\nUSER %s 0 * :%s", nick, nick, nick)
	c.hearUntil(" 376 ")
	return c
}

func (c *client) join(room string) *client {
	c.t.Helper()
	c.say("JOIN %s", room)
	c.hearUntil(" 366 ")
	return c
}

// ping waits until the server has obeyed all that was said.
func (c *client) ping() {
	c.t.Helper()
	c.say("PING x")
	c.hearUntil(" PONG ")
}
