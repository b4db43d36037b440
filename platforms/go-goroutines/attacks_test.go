package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is the time that a client has for what it must do. It is short, so that a test can wait for its end.
const patience = 300 * time.Millisecond

const smallRequest = "GET /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\n\r\n"

// dialNarrow connects a client that takes few bytes unless it reads.
func dialNarrow(t *testing.T, address string) *client {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, socket syscall.RawConn) error {
		return socket.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testTimeout))
	return &client{t, conn.(*net.TCPConn), bufio.NewReader(conn)}
}

// reset ends the connection without a farewell.
func (c *client) reset() {
	_ = c.conn.SetLinger(0)
	_ = c.conn.Close()
}

// writeUntilClosed writes until the server has closed the connection, and reads nothing.
func (c *client) writeUntilClosed(text string) {
	c.t.Helper()
	for {
		if _, err := io.WriteString(c.conn, text); errors.Is(err, os.ErrDeadlineExceeded) {
			c.t.Fatal("the connection stays open")
		} else if err != nil {
			return
		}
	}
}

func expectServed(t *testing.T, address string) {
	t.Helper()
	c := dial(t, address)
	_, _ = io.WriteString(c.conn, smallRequest)
	reply, err := http.ReadResponse(c.input, nil)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("another client got %v, %v", reply, err)
	}
}

func TestAnIncompleteRequestEndsInItsTime(t *testing.T) {
	address := start(t, options{workload: workloadWeb, registrationTimeout: patience})
	body := "POST /dynamic HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nurlroot="
	// net/http closes without a reply if it is the head that is incomplete.
	for half, status := range map[string]int{"GET / HTTP/1.1\r\nHost: h\r\n": 0, body: http.StatusRequestTimeout} {
		begun := time.Now() // The server's clock starts with the connection.
		c := dial(t, address)
		_, _ = io.WriteString(c.conn, half)
		expectServed(t, address)
		reply, err := http.ReadResponse(c.input, nil)
		if status == 0 && err == nil || status != 0 && (err != nil || reply.StatusCode != status) {
			t.Errorf("%q: %v, %v", half, reply, err)
		}
		if time.Since(begun) < patience {
			t.Errorf("%q: closed too early", half)
		}
	}
	// Byte by byte it has no more time.
	slow := dial(t, address)
	for _, err := io.WriteString(slow.conn, "GET / HTTP/1.1\r\nA: "); err == nil; _, err = io.WriteString(slow.conn, "a") {
		time.Sleep(10 * time.Millisecond)
	}
	// Between two requests there is no limit. The first has one, which a busy machine can miss.
	served := func(c *client) error {
		_, _ = io.WriteString(c.conn, smallRequest)
		reply, err := http.ReadResponse(c.input, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, reply.Body)
		}
		return err
	}
	idle := dial(t, address)
	for attempts := 1; served(idle) != nil; attempts++ {
		if attempts == 5 {
			t.Fatal("no first request is served")
		}
		idle = dial(t, address)
	}
	time.Sleep(2 * patience)
	if err := served(idle); err != nil {
		t.Error("an idle connection was closed: ", err)
	}
}

func TestClientsThatDoNotReadAreClosed(t *testing.T) {
	for served, text := range map[workload]string{
		workloadRR:  strings.Repeat("x", 4096),
		workloadWeb: strings.Replace(smallRequest, "class0_0", "class3_8", 1),
	} {
		address := start(t, options{workload: served, registrationTimeout: patience})
		dialNarrow(t, address).writeUntilClosed(text)
		if served == workloadWeb {
			expectServed(t, address)
		}
	}
	// The queue takes all that waits, so it is the time that ends the connection.
	address := start(t, options{registrationTimeout: patience, sendqBytes: 1 << 30})
	dialNarrow(t, address).register("slow").join("#a")
	ann := dial(t, address).register("ann").join("#a")
	line := "PRIVMSG #a :" + strings.Repeat("x", 400)
	for sent := 0; sent < 20_000; sent++ {
		ann.send("%s", line)
	}
	// Whether reading or writing meets the kernel's time limit first is chance.
	if quit := ann.skipTo(" QUIT "); !strings.HasPrefix(quit, ":slow!slow@127.0.0.1 QUIT :Connection ") {
		t.Error(quit)
	}
}

func TestFloodsOfQueriesEndTheirClientAlone(t *testing.T) {
	address := start(t, options{sendqBytes: 64 << 10})
	ann := dial(t, address).register("ann").join("#a")
	for _, query := range []string{"WHOIS flood", "NAMES #a", "WHO #a", "LIST", "LUSERS", "MOTD", "PING x"} {
		flood := dialNarrow(t, address).register("flood").join("#a")
		flood.writeUntilClosed(strings.Repeat(query+"\r\n", 500))
		ann.skipTo(" QUIT ")
		ann.ping()
	}
}

func TestResetsAtAnyMomentEndTheirConnectionAlone(t *testing.T) {
	web := start(t, options{workload: workloadWeb})
	for at := range smallRequest {
		c := dial(t, web)
		_, _ = io.WriteString(c.conn, smallRequest[:at])
		c.reset()
	}
	expectServed(t, web)
	chat := start(t, options{})
	lines := "NICK a\r\nUSER a 0 * :a\r\nJOIN #a\r\nPRIVMSG #a :x\r\n"
	for at := range lines {
		c := dial(t, chat)
		_, _ = io.WriteString(c.conn, lines[:at])
		c.reset()
	}
	dial(t, chat).register("ann").ping()
}
