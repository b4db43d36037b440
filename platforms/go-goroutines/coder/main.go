// Command go-coder serves the chat over WebSocket by the package coder/websocket. Each connection has a goroutine that reads and one
// that writes.
package main

import (
	"context"
	"net/http"
	"os"

	"github.com/coder/websocket"
	"klatch/goroutines/websockets"
)

func main() {
	os.Exit(websockets.Run("coder", upgrade, os.Args[1:], os.Stdout, os.Stderr))
}

func upgrade(writer http.ResponseWriter, request *http.Request, subprotocol string) (websockets.Socket, error) {
	options := websocket.AcceptOptions{
		// Pages of any origin: anyone may join the chat.
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	}
	if subprotocol != "" {
		options.Subprotocols = []string{subprotocol}
	}
	conn, err := websocket.Accept(writer, request, &options)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(websockets.MessageBytesMax)
	// The context of the request ends with its handler, and the package closes a connection whose context has ended.
	ctx, cancel := context.WithCancel(context.Background())
	return &socket{conn, ctx, cancel}, nil
}

type socket struct {
	conn   *websocket.Conn
	ctx    context.Context
	cancel context.CancelFunc
}

func (s *socket) ReadAll(handle func(bool, []byte) (int, string)) (int, string) {
	for {
		kind, message, err := s.conn.Read(s.ctx)
		if err != nil {
			return 0, "" // the package has sent a close frame
		}
		if code, reason := handle(kind == websocket.MessageText, message); code != 0 {
			return code, reason
		}
	}
}

func (s *socket) Write(text bool, message []byte) error {
	kind := websocket.MessageBinary
	if text {
		kind = websocket.MessageText
	}
	return s.conn.Write(s.ctx, kind, message)
}

func (s *socket) Close(code int, reason string) {
	_ = s.conn.Close(websocket.StatusCode(code), reason)
}

// Abort ends a read and a write at once. After a violation the package leaves the connection open, so it is closed too, which can block.
func (s *socket) Abort() {
	s.cancel()
	go func() { _ = s.conn.CloseNow() }()
}
