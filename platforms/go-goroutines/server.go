package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"klatch/goroutines/chat"
)

// acceptPause is how long nobody is accepted when the system has no room for one more.
const acceptPause = 100 * time.Millisecond

// server accepts connections. The accept backlog is Go's default, which is the most that the kernel allows
// (net.core.somaxconn).
type server struct {
	options  *options
	listener *net.TCPListener
	hall     *chat.Hall
	log      io.Writer
	halfOpen atomic.Int64 // connections that have not registered
}

// listen binds the address; connections are served from run on.
func listen(options *options, log io.Writer) (*server, error) {
	listener, err := bind(options.listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %s", options.listen, explain(err))
	}
	hall := chat.NewHall(chat.Identity{
		Name:    "klatch.localhost",
		Version: "klatch-" + version,
		Created: time.Now().UTC().Format("2006-01-02"),
		Network: "Klatch",
		MOTD:    []string{"Come in and talk."},
	})
	return &server{options: options, listener: listener, hall: hall, log: log}, nil
}

func bind(address string) (*net.TCPListener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	network := "tcp"
	if resolved.IP.To4() != nil {
		network = "tcp4" // or 0.0.0.0 would be IPv6 as well
	}
	return net.ListenTCP(network, resolved)
}

func explain(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "address already in use; stop the other program or choose another port with --listen"
	case errors.Is(err, syscall.EACCES):
		return "permission denied; choose a port above 1023 with --listen"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine does not have that address; choose one that it has with --listen"
	}
	return err.Error() + "; give an address and a port, like 127.0.0.1:6667"
}

// run accepts and serves until the listener is closed.
func (s *server) run() {
	told := false
	for {
		conn, err := s.listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			if !told {
				told = true
				fmt.Fprintf(s.log, "%s: cannot accept more connections for now: %v%s\n", program, err, limit())
			}
			time.Sleep(acceptPause) // those who come wait in the backlog until somebody leaves
			continue
		}
		s.welcome(conn)
	}
}

func (s *server) welcome(conn *net.TCPConn) {
	if s.halfOpen.Load() >= int64(s.options.halfOpenMax) {
		go func() {
			_, _ = io.WriteString(conn, "ERROR :Too many unregistered connections\r\n")
			discard(conn)
		}()
		return
	}
	s.halfOpen.Add(1)
	_ = conn.SetNoDelay(s.options.nodelay) // fails only if the connection is broken, which the reader will see
	host := conn.RemoteAddr().(*net.TCPAddr).IP.String()
	c := &connection{server: s, conn: conn, queue: newQueue(s.options.sendqBytes)}
	c.session = s.hall.Enter(host, c)
	go c.serve()
}

// limit tells how many files may be open, and how to have more.
func limit() string {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return ""
	}
	return fmt.Sprintf("; the limit of open files is %d; raise it before the start (`ulimit -Hn` as root, "+
		"LimitNOFILE= in a unit)", files.Cur)
}
