// Command go-gorilla serves the chat over WebSocket by the package gorilla/websocket. Each connection has a goroutine that reads and
// one that writes.
package main

import (
	"net/http"
	"os"
	"time"

	"github.com/gorilla/websocket"
	"klatch/goroutines/websockets"
)

// closeTimeout is the time that a client has to take a close frame.
const closeTimeout = time.Second

func main() {
	os.Exit(websockets.Run("gorilla", upgrade, os.Args[1:], os.Stdout, os.Stderr))
}

// upgrader accepts pages of any origin: anyone may join the chat.
var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

func upgrade(writer http.ResponseWriter, request *http.Request, subprotocol string) (websockets.Socket, error) {
	header := http.Header{}
	if subprotocol != "" {
		header.Set("Sec-WebSocket-Protocol", subprotocol)
	}
	conn, err := upgrader.Upgrade(writer, request, header)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(websockets.MessageBytesMax)
	return &socket{conn}, nil
}

type socket struct{ conn *websocket.Conn }

func (s *socket) ReadAll(handle func(bool, []byte) (int, string)) (int, string) {
	for {
		kind, message, err := s.conn.ReadMessage()
		if err != nil {
			return 0, "" // the package has sent a close frame
		}
		if code, reason := handle(kind == websocket.TextMessage, message); code != 0 {
			return code, reason
		}
	}
}

func (s *socket) Write(text bool, message []byte) error {
	kind := websocket.BinaryMessage
	if text {
		kind = websocket.TextMessage
	}
	return s.conn.WriteMessage(kind, message)
}

func (s *socket) Close(code int, reason string) {
	last := websocket.FormatCloseMessage(code, reason)
	_ = s.conn.WriteControl(websocket.CloseMessage, last, time.Now().Add(closeTimeout))
	_ = s.conn.Close()
}

func (s *socket) Abort() {
	_ = s.conn.UnderlyingConn().Close()
}
