// Package websockets is the chat of go-goroutines over WebSocket: IRC, one line a message, as IRCv3 specifies it. The WebSocket itself is
// that of another package, behind the interface Socket, so servers differ in nothing else.
package websockets

import (
	"net/http"
	"time"
)

const (
	// MessageBytesMax is the size of the largest message that a server reads.
	MessageBytesMax = 16 * 1024
	// TextProtocol is the subprotocol whose messages are texts.
	TextProtocol = "text.ircv3.net"
	// BinaryProtocol is the subprotocol whose messages are bytes.
	BinaryProtocol = "binary.ircv3.net"

	registrationTimeout = 30 * time.Second
	// lastTimeout is the time that a client has to take its last lines.
	lastTimeout = time.Second
)

// Codes of close frames.
const (
	CloseNormal      = 1000
	CloseInvalidText = 1007
	ClosePolicy      = 1008
)

// Socket is a WebSocket of some package.
type Socket interface {
	// ReadAll passes messages to handle until the connection ends or handle returns a code other than 0. It returns what handle did, and 0
	// if the connection has ended.
	ReadAll(handle func(text bool, message []byte) (code int, reason string)) (int, string)
	// Write writes a message, in one write call.
	Write(text bool, message []byte) error
	// Close sends a close frame and closes the connection.
	Close(code int, reason string)
	// Abort closes the connection without a frame. It does not block, and ends ReadAll and Write.
	Abort()
}

// Upgrade opens the WebSocket of a request. It agrees to the subprotocol, unless that is empty, and answers a request that opens none.
type Upgrade func(writer http.ResponseWriter, request *http.Request, subprotocol string) (Socket, error)
