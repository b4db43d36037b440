package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"klatch/goroutines/chat"
	"klatch/goroutines/site"
	"klatch/goroutines/stall"
)

// server accepts connections. The listen backlog is Go's default, the kernel's maximum (net.core.somaxconn).
type server struct {
	options  *options
	listener *net.TCPListener
	state    *chat.ServerState
	web      *http.Server // of workload web
	tls      *tls.Config  // nil without TLS
	log      io.Writer
	halfOpen atomic.Int64 // connections that have not registered
}

// listen binds the address; run serves the connections and writes errors.
func listen(options *options, errors io.Writer) (*server, error) {
	config, err := tlsConfig(options)
	if err != nil {
		return nil, err
	}
	listener, err := bind(options.listen, options.registrationTimeout)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %s", options.listen, explain(err))
	}
	state := chat.NewServerState(chat.KlatchIdentity(version, time.Now()))
	s := &server{options: options, listener: listener, state: state, tls: config, log: errors}
	if options.workload == workloadWeb {
		s.web = site.NewServer(options.contentSeed, options.directories, options.registrationTimeout, log.New(errors, program+": ", 0))
	}
	return s, nil
}

// tlsConfig returns the settings of TLS, or nil without a certificate.
func tlsConfig(options *options) (*tls.Config, error) {
	if options.certificate == "" {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(options.certificate, options.key)
	if err != nil {
		return nil, fmt.Errorf("cannot use the certificate %s with the key %s: %v", options.certificate, options.key, err)
	}
	return &tls.Config{
		Certificates:           []tls.Certificate{certificate},
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: !options.tickets,
	}, nil
}

func bind(address string, stallMax time.Duration) (*net.TCPListener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	network := "tcp"
	if resolved.IP.To4() != nil {
		network = "tcp4" // otherwise 0.0.0.0 would include IPv6
	}
	config := net.ListenConfig{Control: stall.Limit(stallMax)}
	listener, err := config.Listen(context.Background(), network, resolved.String())
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener), nil
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
	connections := &acceptor{TCPListener: s.listener, nodelay: s.options.nodelay, log: s.log}
	if s.web != nil {
		var listener net.Listener = connections
		if s.tls != nil && s.options.http2 {
			// net/http makes the connections of TLS itself, so that it learns what they agreed to in ALPN.
			s.web.TLSConfig = s.tls
			_ = s.web.ServeTLS(listener, "", "")
			return
		}
		if s.tls != nil {
			listener = tls.NewListener(connections, s.tls)
		}
		_ = s.web.Serve(listener)
		return
	}
	for {
		conn, err := connections.Accept()
		if err != nil {
			return
		}
		s.admit(conn.(*net.TCPConn))
	}
}

func (s *server) admit(tcp *net.TCPConn) {
	var conn stream = tcp
	if s.tls != nil {
		// The first read makes the handshake.
		conn = tls.Server(tcp, s.tls)
	}
	if s.options.workload == workloadRR {
		go echo(conn)
		return
	}
	if s.halfOpen.Load() >= int64(s.options.halfOpenMax) {
		go func() {
			_ = conn.SetDeadline(time.Now().Add(linger))
			_, _ = io.WriteString(conn, "ERROR :Too many unregistered connections\r\n")
			discard(conn)
		}()
		return
	}
	s.halfOpen.Add(1)
	host := conn.RemoteAddr().(*net.TCPAddr).IP.String()
	c := &connection{server: s, conn: conn, queue: newQueue(s.options.sendqBytes)}
	c.session = s.state.OpenSession(host, c)
	go c.serve()
}
