package main

import (
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"klatch/goroutines/websockets"
)

func dial(t *testing.T, server *httptest.Server, subprotocols ...string) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: subprotocols}
	client, _, err := dialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	_ = client.SetReadDeadline(time.Now().Add(20 * time.Second))
	return client
}

// say sends lines as messages of a type.
func say(t *testing.T, client *websocket.Conn, messages int, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := client.WriteMessage(messages, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
}

// readUntil returns the type and the text of the first message with part in it.
func readUntil(t *testing.T, client *websocket.Conn, part string) (int, string) {
	t.Helper()
	for {
		messages, text, err := client.ReadMessage()
		if err != nil {
			t.Fatalf("before %q: %v", part, err)
		}
		if strings.Contains(string(text), part) {
			return messages, string(text)
		}
	}
}

func start(t *testing.T) *httptest.Server {
	server := httptest.NewServer(websockets.NewServer(1<<20, upgrade))
	t.Cleanup(server.Close)
	return server
}

func TestUsersOfBothSubprotocolsTalk(t *testing.T) {
	server := start(t)
	ann, bob := dial(t, server, "unknown", websockets.TextProtocol, websockets.BinaryProtocol), dial(t, server, websockets.BinaryProtocol)
	if ann.Subprotocol() != websockets.TextProtocol || bob.Subprotocol() != websockets.BinaryProtocol {
		t.Fatalf("agreed to %q and %q", ann.Subprotocol(), bob.Subprotocol())
	}
	say(t, ann, websocket.TextMessage, "NICK ann", "USER ann 0 * :ann", "JOIN #a")
	readUntil(t, ann, " 366 ")
	say(t, bob, websocket.BinaryMessage, "NICK bob", "USER bob 0 * :bob", "JOIN #a")
	readUntil(t, bob, " 366 ")
	say(t, bob, websocket.BinaryMessage, "PRIVMSG #a :not \xff UTF-8")
	messages, text := readUntil(t, ann, "PRIVMSG")
	if messages != websocket.TextMessage || text != ":bob!bob@127.0.0.1 PRIVMSG #a :not \ufffd UTF-8" {
		t.Errorf("got %d %q", messages, text)
	}
	say(t, ann, websocket.TextMessage, "PRIVMSG #a :hello")
	messages, text = readUntil(t, bob, "PRIVMSG")
	if messages != websocket.BinaryMessage || text != ":ann!ann@127.0.0.1 PRIVMSG #a :hello" {
		t.Errorf("got %d %q", messages, text)
	}
	say(t, ann, websocket.TextMessage, "QUIT :bye")
	readUntil(t, bob, "QUIT :Quit: bye")
	readUntil(t, ann, "ERROR ")
	expectClose(t, ann, websocket.CloseNormalClosure)
}

func TestViolationsCloseTheConnection(t *testing.T) {
	server := start(t)
	for _, violation := range []struct {
		message string
		code    int
	}{
		{"PING x\r\nQUIT", websocket.ClosePolicyViolation},
		{strings.Repeat("x", websockets.MessageBytesMax+1), websocket.CloseMessageTooBig},
		{"PING \xff", websocket.CloseInvalidFramePayloadData},
	} {
		client := dial(t, server, websockets.TextProtocol)
		say(t, client, websocket.TextMessage, violation.message)
		expectClose(t, client, violation.code)
	}
}

// closeReporter reports the address of each client whose connection the server closes.
type closeReporter struct {
	net.Listener
	closed chan string
}

type reportedConn struct {
	net.Conn
	closed chan string
}

func (l *closeReporter) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &reportedConn{conn, l.closed}, err
}

func (c *reportedConn) Close() error {
	c.closed <- c.RemoteAddr().String()
	return c.Conn.Close()
}

func TestClientThatNeverReadsIsClosed(t *testing.T) {
	server := httptest.NewUnstartedServer(websockets.NewServer(4<<20, upgrade))
	closed := make(chan string, 100)
	server.Listener = &closeReporter{server.Listener, closed}
	server.Start()
	t.Cleanup(server.Close)
	ann, slow := dial(t, server, websockets.TextProtocol), dial(t, server, websockets.TextProtocol)
	say(t, slow, websocket.TextMessage, "NICK slow", "USER slow 0 * :slow", "JOIN #a")
	readUntil(t, slow, " 366 ")
	say(t, ann, websocket.TextMessage, "NICK ann", "USER ann 0 * :ann", "JOIN #a")
	readUntil(t, ann, " 366 ")
	// More than the buffers of the sockets and the send queue hold.
	line := "PRIVMSG #a :" + strings.Repeat("x", 400)
	for sent := 0; sent < 60_000; sent++ {
		say(t, ann, websocket.TextMessage, line)
	}
	readUntil(t, ann, ":slow!slow@127.0.0.1 QUIT")
	select {
	case address := <-closed:
		if address != slow.LocalAddr().String() {
			t.Errorf("%s was closed, not the client that does not read", address)
		}
	case <-time.After(20 * time.Second):
		t.Error("the connection is still open")
	}
}

func expectClose(t *testing.T, client *websocket.Conn, code int) {
	t.Helper()
	_, text, err := client.ReadMessage()
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != code {
		t.Errorf("got %q and %v, not close code %d", text, err, code)
	}
}
