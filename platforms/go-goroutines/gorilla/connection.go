package main

import (
	"bytes"
	"net"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"klatch/goroutines/chat"
)

const (
	messageBytesMax     = 16 * 1024
	registrationTimeout = 30 * time.Second
	// lastTimeout is the time that a client has to take its last lines.
	lastTimeout    = time.Second
	textProtocol   = "text.ircv3.net"
	binaryProtocol = "binary.ircv3.net"
)

// server upgrades requests to WebSocket.
type server struct {
	state     *chat.ServerState
	upgrader  websocket.Upgrader
	sendBytes int
}

func newServer(sendBytes int) *server {
	return &server{
		state:     newState(),
		sendBytes: sendBytes,
		upgrader: websocket.Upgrader{
			// A crowd is no browser, and sends no origin.
			CheckOrigin: func(*http.Request) bool { return true },
		},
	}
}

// ServeHTTP serves one connection until its end.
func (s *server) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	header := http.Header{}
	messages := websocket.TextMessage
	// The client's order counts; the package has one of its own.
	if agreed := subprotocol(websocket.Subprotocols(request)); agreed != "" {
		header.Set("Sec-WebSocket-Protocol", agreed)
		if agreed == binaryProtocol {
			messages = websocket.BinaryMessage
		}
	}
	socket, err := s.upgrader.Upgrade(writer, request, header)
	if err != nil {
		return // the package has answered
	}
	host, _, _ := net.SplitHostPort(request.RemoteAddr)
	c := &connection{socket: socket, messages: messages, bytesMax: s.sendBytes}
	c.changed.L = &c.mu
	c.session = s.state.OpenSession(host, c)
	c.serve()
}

func subprotocol(asked []string) string {
	for _, name := range asked {
		if name == textProtocol || name == binaryProtocol {
			return name
		}
	}
	return ""
}

// connection serves one client.
type connection struct {
	socket   *websocket.Conn
	session  *chat.Session
	messages int // type of the messages that it gets
	bytesMax int

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
	c.socket.SetReadLimit(messageBytesMax)
	_ = c.socket.SetReadDeadline(time.Now().Add(registrationTimeout))
	code, reason := c.read()
	c.session.HangUp("Connection closed")
	c.end()
	// A client that reads nothing must not hold the writer, whose write no deadline of the package ends any more.
	timer := time.AfterFunc(lastTimeout, func() { _ = c.socket.UnderlyingConn().Close() })
	defer timer.Stop()
	<-written
	if code != 0 {
		last := websocket.FormatCloseMessage(code, reason)
		_ = c.socket.WriteControl(websocket.CloseMessage, last, time.Now().Add(lastTimeout))
	}
	_ = c.socket.Close()
}

// read handles messages until the end. It returns the code with which the connection is to be closed; 0 if that is done.
func (c *connection) read() (int, string) {
	for {
		kind, message, err := c.socket.ReadMessage()
		if err != nil {
			return 0, "" // the package has sent a close frame
		}
		// The package does not check it.
		if kind == websocket.TextMessage && !utf8.Valid(message) {
			return websocket.CloseInvalidFramePayloadData, "a text is not UTF-8"
		}
		if bytes.ContainsAny(message, "\r\n") {
			return websocket.ClosePolicyViolation, "a message is one line, without its end"
		}
		if !c.session.Feed(append(message, '\r', '\n')) {
			return websocket.CloseNormalClosure, ""
		}
	}
}

// write writes message by message until the connection ends.
func (c *connection) write() {
	for {
		line, ok := c.next()
		if !ok {
			return
		}
		message := bytes.TrimSuffix(line, []byte("\r\n"))
		if c.messages == websocket.TextMessage {
			message = bytes.ToValidUTF8(message, []byte("\ufffd"))
		}
		if err := c.socket.WriteMessage(c.messages, message); err != nil {
			_ = c.socket.Close()
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
		_ = c.socket.SetReadDeadline(time.Unix(1, 0)) // wakes the reader, and does not block
		return
	}
	c.lines = append(c.lines, line)
	c.bytes += len(line)
	if len(c.lines) == 1 {
		c.changed.Signal()
	}
}

// Registered implements chat.Client.
func (c *connection) Registered() {
	_ = c.socket.SetReadDeadline(time.Time{})
}

func (c *connection) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	c.changed.Signal()
}
