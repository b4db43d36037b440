// Command go-gws serves the chat over WebSocket by the package lxzan/gws, which calls the server with each message. Each connection has a
// goroutine that reads and one that writes.
package main

import (
	"net/http"
	"os"

	"github.com/lxzan/gws"
	"klatch/goroutines/websockets"
)

func main() {
	os.Exit(websockets.Run("gws", upgrade, os.Args[1:], os.Stdout, os.Stderr))
}

func upgrade(writer http.ResponseWriter, request *http.Request, subprotocol string) (websockets.Socket, error) {
	// Room for both ends: that of handle and that of the loop.
	s := &socket{ends: make(chan end, 2)}
	options := gws.ServerOption{ReadMaxPayloadSize: websockets.MessageBytesMax, CheckUtf8Enabled: true}
	if subprotocol != "" {
		options.SubProtocols = []string{subprotocol}
	}
	conn, err := gws.NewUpgrader(s, &options).Upgrade(writer, request)
	if err != nil {
		return nil, err
	}
	s.conn = conn
	return s, nil
}

// socket is also the package's handler of events.
type socket struct {
	gws.BuiltinEventHandler
	conn   *gws.Conn
	handle func(bool, []byte) (int, string)
	// closing is set once handle has returned a code; only the package's loop uses it.
	closing bool
	ends    chan end
}

// end is how reading ended, as ReadAll returns it.
type end struct {
	code   int
	reason string
}

// ReadAll returns before the package's loop ends if handle demands a close: that loop ends with the connection only, and what is
// queued is to be written before.
func (s *socket) ReadAll(handle func(bool, []byte) (int, string)) (int, string) {
	s.handle = handle
	go func() {
		s.conn.ReadLoop()
		s.ends <- end{}
	}()
	first := <-s.ends
	return first.code, first.reason
}

// OnPing answers a ping.
func (s *socket) OnPing(conn *gws.Conn, payload []byte) {
	_ = conn.WritePong(payload)
}

// OnMessage passes a message on, unless the connection is being closed.
func (s *socket) OnMessage(_ *gws.Conn, message *gws.Message) {
	defer message.Close()
	if s.closing {
		return
	}
	code, reason := s.handle(message.Opcode == gws.OpcodeText, message.Bytes())
	if code != 0 {
		s.closing = true
		s.ends <- end{code, reason}
	}
}

func (s *socket) Write(text bool, message []byte) error {
	opcode := gws.OpcodeBinary
	if text {
		opcode = gws.OpcodeText
	}
	return s.conn.WriteMessage(opcode, message)
}

func (s *socket) Close(code int, reason string) {
	s.conn.WriteClose(uint16(code), []byte(reason))
}

func (s *socket) Abort() {
	_ = s.conn.NetConn().Close()
}
