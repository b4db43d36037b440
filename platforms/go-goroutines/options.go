package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"time"
)

const usage = `Klatch's chat server in Go: two goroutines a connection, one write a delivery (class classic).

Usage: go-goroutines [OPTIONS]

Options:
      --listen HOST:PORT              Where to listen; port 0 takes a free one [default: 127.0.0.1:6667]
      --sendq BYTES                   Bytes that may wait for one connection; a reader that is slower is closed
                                      [default: 1048576]
      --nodelay true|false            TCP_NODELAY on every connection [default: true]
      --loops THREADS                 Threads that run goroutines at the same time (GOMAXPROCS) [default: one a CPU]
      --registration-timeout SECONDS  How long a connection may take to register [default: 30]
      --half-open-max N               Connections that may be unregistered at the same time [default: 4096]
      --json                          Print the ready line as JSON
      --help                          Print this
`

type options struct {
	listen              string
	sendqBytes          int
	nodelay             bool
	loops               int
	registrationTimeout time.Duration
	halfOpenMax         int
	json                bool
}

// parseOptions reads the command line. The error is flag.ErrHelp if help is asked for.
func parseOptions(args []string) (*options, error) {
	parsed := options{listen: "127.0.0.1:6667", sendqBytes: 1 << 20, nodelay: true, halfOpenMax: 4096}
	parsed.loops = runtime.GOMAXPROCS(0)
	timeout := 30
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Func("listen", "", func(value string) error {
		parsed.listen = value
		return checkAddress(value)
	})
	flags.Var(&number{&parsed.sendqBytes, 4096, 1 << 30}, "sendq", "")
	flags.Func("nodelay", "", func(value string) error {
		parsed.nodelay = value == "true"
		if !parsed.nodelay && value != "false" {
			return errors.New("must be true or false")
		}
		return nil
	})
	flags.Var(&number{&parsed.loops, 1, 1024}, "loops", "")
	flags.Var(&number{&timeout, 1, 86_400}, "registration-timeout", "")
	flags.Var(&number{&parsed.halfOpenMax, 1, 1 << 20}, "half-open-max", "")
	flags.BoolVar(&parsed.json, "json", false, "")
	err := flags.Parse(args)
	parsed.registrationTimeout = time.Duration(timeout) * time.Second
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return &parsed, err
}

// checkAddress wants HOST:PORT.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return errors.New("must be HOST:PORT, like 127.0.0.1:6667")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("port must be 0..=65535, got %s", port)
	}
	return nil
}

// number is a flag within bounds.
type number struct {
	value       *int
	least, most int
}

func (n *number) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < n.least || value > n.most {
		return fmt.Errorf("must be %d..=%d", n.least, n.most)
	}
	*n.value = value
	return nil
}

func (n *number) String() string {
	return "" // no default is printed by the flag package
}
