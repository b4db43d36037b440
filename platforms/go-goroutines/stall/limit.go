// Package stall limits the time for which a client may take none of the bytes that wait for it.
package stall

import (
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of Linux, which the package syscall lacks.
const tcpUserTimeout = 18

// Limit returns a control function for a net.ListenConfig. The kernel then ends an accepted connection to which it could not
// pass on any bytes for this time. So no goroutine waits for ever in a write, and a write needs no deadline.
func Limit(stallMax time.Duration) func(network, address string, socket syscall.RawConn) error {
	return func(_, _ string, socket syscall.RawConn) error {
		var failed error
		err := socket.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(stallMax.Milliseconds()))
		})
		if err != nil {
			return err
		}
		return failed
	}
}
