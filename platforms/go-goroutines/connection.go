package main

import (
	"errors"
	"io"
	"net"
	"os"
	"time"

	"klatch/goroutines/chat"
)

const (
	bufferBytes = 4096
	// linger is how long the other side may take to see that its connection is closed.
	linger = time.Second
)

// connection is one client: a goroutine that reads and obeys, and one that writes, with one call for each line.
type connection struct {
	server     *server
	conn       *net.TCPConn
	session    *chat.Session
	queue      *queue
	registered bool // known to the reader only
}

// serve reads until the connection or its session ends, and sees its last lines out.
func (c *connection) serve() {
	timeout := c.server.options.registrationTimeout
	_ = c.conn.SetReadDeadline(time.Now().Add(timeout))
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	c.end(c.read())
	_ = c.conn.SetWriteDeadline(time.Now().Add(timeout))
	<-written
	discard(c.conn)
}

// read returns why nothing more can be read; nil if the session is over.
func (c *connection) read() error {
	buffer := make([]byte, bufferBytes)
	for {
		count, err := c.conn.Read(buffer)
		if err != nil {
			return err
		}
		if !c.session.Feed(buffer[:count]) {
			return nil
		}
		// A deadline that stopped the reader may have been lifted by the registration.
		if !c.queue.is(taking) {
			return os.ErrDeadlineExceeded
		}
	}
}

// end ends the session, if it is not over yet. What it has said is still written.
func (c *connection) end(err error) {
	if !c.registered {
		c.server.halfOpen.Add(-1)
	}
	switch {
	case c.queue.is(overflowed):
		c.session.HangUp("SendQ exceeded")
		c.queue.closeWith(chat.ClosingLine("SendQ exceeded"))
	case errors.Is(err, io.EOF):
		c.session.HangUp("Connection closed")
	case errors.Is(err, os.ErrDeadlineExceeded) && c.queue.is(taking):
		c.session.Close("Registration timed out")
	case err != nil:
		c.session.HangUp("Connection reset")
	}
	c.queue.close()
}

// write writes line by line until the queue is closed and empty, or the connection is broken.
func (c *connection) write() {
	for {
		line, ok := c.queue.next()
		if !ok {
			return
		}
		if _, err := c.conn.Write(line); err != nil {
			c.queue.fail()
			c.stopReading()
			return
		}
	}
}

// Send implements chat.Client.
func (c *connection) Send(line []byte) {
	if !c.queue.put(line) {
		c.stopReading()
	}
}

// Registered implements chat.Client.
func (c *connection) Registered() {
	c.registered = true
	c.server.halfOpen.Add(-1)
	_ = c.conn.SetReadDeadline(time.Time{})
}

// stopReading wakes the reader by a deadline that is long over. From any goroutine; never blocks.
func (c *connection) stopReading() {
	_ = c.conn.SetReadDeadline(time.Unix(1, 0))
}

// discard closes a connection when the other side has closed it too, or shortly after. Closing it with bytes unread
// would reset it, and the other side would lose our last words.
func discard(conn *net.TCPConn) {
	_ = conn.CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(linger))
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}
