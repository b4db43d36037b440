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
	// linger is the time that the client has to close after the server.
	linger = time.Second
)

// stream is a connection of TCP, with TLS around it or not.
type stream interface {
	net.Conn
	// CloseWrite ends the output. The client sees the end after the last line.
	CloseWrite() error
}

// connection serves one client: one goroutine reads and handles lines, another writes, with one call for each line.
type connection struct {
	server     *server
	conn       stream
	session    *chat.Session
	queue      *queue
	registered bool // used by the reader only
}

// serve reads until the connection or its session ends, and waits until the last lines are written.
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

// read returns the error that ended the input; nil if the session has ended.
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
		// The registration may have cleared the deadline that stopped the reader.
		if !c.queue.is(open) {
			return os.ErrDeadlineExceeded
		}
	}
}

// end ends the session, unless it has ended already. Queued lines are still written.
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
	case errors.Is(err, os.ErrDeadlineExceeded) && c.queue.is(open):
		c.session.Close("Registration timed out")
	case err != nil:
		c.session.HangUp("Connection reset")
	}
	c.queue.close()
}

// write writes line by line until the queue is closed and empty, or a write fails.
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

// IsOpen implements chat.Client.
func (c *connection) IsOpen() bool {
	return c.queue.is(open)
}

// Registered implements chat.Client.
func (c *connection) Registered() {
	c.registered = true
	c.server.halfOpen.Add(-1)
	_ = c.conn.SetReadDeadline(time.Time{})
}

// stopReading wakes the reader by a deadline in the past. Callable from any goroutine; it does not block.
func (c *connection) stopReading() {
	_ = c.conn.SetReadDeadline(time.Unix(1, 0))
}

// discard closes a connection after the client has closed it, or after linger. Closing with unread bytes would reset
// the connection, and the client would lose the last line.
func discard(conn stream) {
	_ = conn.CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(linger))
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}
