// Command go-pgx is Klatch's applications on a database (workloads trade and orders) in Go: net/http, with a goroutine for
// each connection, and PostgreSQL by pgx. The contracts are docs/reference/trade.md and docs/reference/orders.md.
//
// It depends on pgx because Go programs use it for PostgreSQL, so it is part of what is measured.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"klatch/pgx/postgres"
	"klatch/pgx/web"
)

const (
	program = "go-pgx"
	// version is Klatch's.
	version = "0.1.0"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until SIGTERM or SIGINT and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	options, err := parseOptions(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v; try --help\n", program, err)
		return 2
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	pool, err := postgres.Open(context.Background(), options.database, options.population())
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", program, err)
		return 2
	}
	defer pool.Close()
	listener, err := net.Listen("tcp", options.listen)
	if err != nil {
		fmt.Fprintf(stderr, "%s: cannot listen on %s: %v; choose another --listen\n", program, options.listen, err)
		return 2
	}
	server := http.Server{
		Handler:           options.site(pool),
		ReadHeaderTimeout: web.RequestTimeout,
		IdleTimeout:       web.Forever,
		ConnContext:       web.WithConn,
		ErrorLog:          log.New(stderr, program+": ", 0),
	}
	fmt.Fprintln(stdout, readyLine(options.json, listener.Addr().(*net.TCPAddr), os.Getpid()))
	go func() { _ = server.Serve(listener) }()
	<-stop
	_ = server.Close()
	return 0
}

// readyLine returns the line that announces that connections are accepted.
func readyLine(asJSON bool, address *net.TCPAddr, pid int) string {
	if !asJSON {
		return fmt.Sprintf("ready: goroutines on %s, pid %d", address, pid)
	}
	line, err := json.Marshal(struct {
		Event   string `json:"event"`
		Host    string `json:"host"`
		Port    int    `json:"port"`
		PID     int    `json:"pid"`
		Model   string `json:"model"`
		Version string `json:"version"`
		Runtime string `json:"runtime"`
	}{"ready", address.IP.String(), address.Port, pid, "goroutines", version, runtime.Version()})
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return string(line)
}
