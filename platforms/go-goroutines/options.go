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

	"klatch/goroutines/site"
)

const usage = `Klatch's server in Go. Workload chat: two goroutines a connection, one write a delivery (class classic).
Workload rr: one goroutine a connection, which echoes all bytes (RFC 862).
Workload web: net/http, with one goroutine a connection and a second one during a reply.

Usage: go-goroutines [OPTIONS]

Options:
      --workload chat|rr|web          IRC, an echo of all bytes, or a web site [default: chat]
      --listen HOST:PORT              Address to listen on; port 0 takes a free one [default: 127.0.0.1:6667]
      --sendq BYTES                   Most bytes in the send queue of a connection; beyond them it is closed
                                      [default: 1048576]
      --nodelay true|false            TCP_NODELAY on every connection [default: true]
      --loops THREADS                 Threads that run goroutines in parallel (GOMAXPROCS) [default: one a CPU]
      --certificate FILE              Speak TLS 1.3, with this certificate chain in PEM
      --key FILE                      The key of the certificate, in PEM
      --http2                         Workload web: let clients of TLS speak HTTP/2
      --tickets                       Give each client a ticket, by which its next connection can resume the session
      --registration-timeout SECONDS  How long a client may take to register, to complete a request, and to take any of
                                      what waits for it [default: 30]
      --half-open-max N               Most connections that have not registered [default: 4096]
      --directories N                 Workload web: directories of the site, of 5 MB each [default: 25]
      --content-seed SEED             Workload web: seed of the site's contents [default: 1]
      --json                          Print the ready line as JSON
      --help                          Print this help
`

// workload is what the server does with the bytes of its connections.
type workload string

const (
	workloadChat workload = "chat"
	workloadRR   workload = "rr"
	workloadWeb  workload = "web"
)

type options struct {
	workload            workload
	listen              string
	sendqBytes          int
	nodelay             bool
	loops               int
	registrationTimeout time.Duration
	halfOpenMax         int
	certificate         string // empty without TLS
	key                 string
	tickets             bool
	http2               bool // of workload web
	directories         int
	contentSeed         uint64
	json                bool
}

// parseOptions parses the command line. The error is flag.ErrHelp for --help.
func parseOptions(args []string) (*options, error) {
	parsed := options{workload: workloadChat, listen: "127.0.0.1:6667", sendqBytes: 1 << 20, nodelay: true}
	parsed.halfOpenMax, parsed.directories = 4096, 25
	parsed.loops = runtime.GOMAXPROCS(0)
	timeout := 30
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Func("workload", "", func(value string) error {
		parsed.workload = workload(value)
		switch parsed.workload {
		case workloadChat, workloadRR, workloadWeb:
			return nil
		}
		return errors.New("must be chat, rr or web")
	})
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
	flags.StringVar(&parsed.certificate, "certificate", "", "")
	flags.StringVar(&parsed.key, "key", "", "")
	flags.BoolVar(&parsed.tickets, "tickets", false, "")
	flags.BoolVar(&parsed.http2, "http2", false, "")
	flags.Var(&number{&parsed.directories, 1, site.DirectoriesMax}, "directories", "")
	flags.Uint64Var(&parsed.contentSeed, "content-seed", 1, "")
	flags.BoolVar(&parsed.json, "json", false, "")
	err := flags.Parse(args)
	parsed.registrationTimeout = time.Duration(timeout) * time.Second
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	flags.Visit(func(set *flag.Flag) {
		isOfSite := set.Name == "directories" || set.Name == "content-seed" || set.Name == "http2"
		if err == nil && isOfSite && parsed.workload != workloadWeb {
			err = fmt.Errorf("--%s belongs to --workload web, not to %s", set.Name, parsed.workload)
		}
	})
	hasTLS := parsed.certificate != "" || parsed.key != ""
	if err == nil && (parsed.certificate == "") != (parsed.key == "") {
		err = errors.New("--certificate and --key belong together")
	}
	if err == nil && parsed.tickets && !hasTLS {
		err = errors.New("--tickets needs --certificate and --key")
	}
	if err == nil && parsed.http2 && !hasTLS {
		err = errors.New("--http2 needs --certificate and --key")
	}
	return &parsed, err
}

// checkAddress returns an error unless address is HOST:PORT.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return errors.New("must be HOST:PORT, like 127.0.0.1:6667")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("port must be 0 to 65535, got %s", port)
	}
	return nil
}

// number is an integer flag from least to most.
type number struct {
	value       *int
	least, most int
}

func (n *number) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < n.least || value > n.most {
		return fmt.Errorf("must be %d to %d", n.least, n.most)
	}
	*n.value = value
	return nil
}

func (n *number) String() string {
	return "" // the flag package then prints no default
}
