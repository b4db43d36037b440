package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// acceptPause is the pause after a failed accept, until descriptors may be free again.
const acceptPause = 100 * time.Millisecond

// acceptor is a listener that reports the first failed accept, and goes on until it is closed.
type acceptor struct {
	*net.TCPListener
	nodelay  bool
	log      io.Writer
	reported bool
}

// Accept implements net.Listener. Its connections are of type *net.TCPConn, and its only error is net.ErrClosed.
func (a *acceptor) Accept() (net.Conn, error) {
	for {
		conn, err := a.AcceptTCP()
		if err == nil {
			_ = conn.SetNoDelay(a.nodelay) // fails only if the connection is broken, which the reader detects
			return conn, nil
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		if !a.reported {
			a.reported = true
			fmt.Fprintf(a.log, "%s: cannot accept more connections for now: %v%s\n", program, err, limit())
		}
		time.Sleep(acceptPause) // new connections wait in the backlog until others close
	}
}

// limit describes the limit of open files and how to raise it.
func limit() string {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return ""
	}
	return fmt.Sprintf("; the limit of open files is %d; raise it before the start (`ulimit -Hn` as root, "+
		"LimitNOFILE= in a unit)", files.Cur)
}
