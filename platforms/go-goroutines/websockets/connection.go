package websockets

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"klatch/goroutines/chat"
)

// Server serves the chat to WebSockets.
type Server struct {
	state     *chat.ServerState
	upgrade   Upgrade
	sendBytes int
}

// NewServer returns a server whose connections have a send queue of so many bytes.
func NewServer(sendBytes int, upgrade Upgrade) *Server {
	return &Server{state: chat.NewServerState(chat.KlatchIdentity(version, time.Now())), sendBytes: sendBytes, upgrade: upgrade}
}

// ServeHTTP serves one connection until its end.
func (s *Server) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	agreed := subprotocol(request)
	socket, err := s.upgrade(writer, request, agreed)
	if err != nil {
		return // the package has answered
	}
	host, _, _ := net.SplitHostPort(request.RemoteAddr)
	c := &connection{socket: socket, text: agreed != BinaryProtocol, bytesMax: s.sendBytes}
	c.changed.L = &c.mu
	c.registration = time.AfterFunc(registrationTimeout, socket.Abort)
	c.session = s.state.OpenSession(host, c)
	c.serve()
}

// subprotocol returns the first of the client's subprotocols that the server has. The packages have orders of their own.
func subprotocol(request *http.Request) string {
	for _, value := range request.Header.Values("Sec-WebSocket-Protocol") {
		for _, name := range strings.Split(value, ",") {
			if name = strings.TrimSpace(name); name == TextProtocol || name == BinaryProtocol {
				return name
			}
		}
	}
	return ""
}

// connection serves one client.
type connection struct {
	socket       Socket
	session      *chat.Session
	text         bool // type of the messages that it gets
	bytesMax     int
	registration *time.Timer

	mu      sync.Mutex
	changed sync.Cond
	lines   [][]byte
	bytes   int
	ending  bool // the queued lines are still written
}

func (c *connection) serve() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write()
	}()
	code, reason := c.socket.ReadAll(c.onMessage)
	c.registration.Stop()
	c.session.HangUp("Connection closed")
	c.end()
	// A client that reads nothing must not hold the writer.
	timer := time.AfterFunc(lastTimeout, c.socket.Abort)
	<-written
	if code != 0 {
		c.socket.Close(code, reason)
	}
	timer.Stop()
	c.socket.Abort()
}

// onMessage handles a message. It returns the code with which the connection is to be closed, or 0.
func (c *connection) onMessage(text bool, message []byte) (int, string) {
	// Not every package checks it.
	if text && !utf8.Valid(message) {
		return CloseInvalidText, "a text is not UTF-8"
	}
	if bytes.ContainsAny(message, "\r\n") {
		return ClosePolicy, "a message is one line, without its end"
	}
	if !c.session.Feed(append(message, '\r', '\n')) {
		return CloseNormal, ""
	}
	return 0, ""
}

// write writes message by message until the connection ends.
func (c *connection) write() {
	for {
		line, ok := c.next()
		if !ok {
			return
		}
		message := bytes.TrimSuffix(line, []byte("\r\n"))
		if c.text {
			message = bytes.ToValidUTF8(message, []byte("\ufffd"))
		}
		if err := c.socket.Write(c.text, message); err != nil {
			c.socket.Abort()
			return
		}
	}
}

// next waits for a line and removes it. It returns false when the connection ends and no line is left.
func (c *connection) next() ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.lines) == 0 {
		if c.ending {
			return nil, false
		}
		c.changed.Wait()
	}
	line := c.lines[0]
	c.lines = c.lines[1:]
	c.bytes -= len(line)
	return line, true
}

// Send implements chat.Client.
func (c *connection) Send(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return
	}
	if c.bytes+len(line) > c.bytesMax {
		c.ending, c.lines = true, nil
		c.changed.Signal()
		c.socket.Abort()
		return
	}
	c.lines = append(c.lines, line)
	c.bytes += len(line)
	if len(c.lines) == 1 {
		c.changed.Signal()
	}
}

// IsOpen implements chat.Client.
func (c *connection) IsOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.ending
}

// Registered implements chat.Client.
func (c *connection) Registered() {
	c.registration.Stop()
}

func (c *connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	c.changed.Signal()
}
