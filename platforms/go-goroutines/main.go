// Command go-goroutines is Klatch's server in Go. For workload chat each connection has a goroutine that reads and one
// that writes, with one write call for each delivery. For workload rr it has one goroutine, and workload web runs on
// net/http. The contract is docs/reference/protocol.md.
//
// Build it with `go build -buildvcs=false -o ../../target/go-goroutines .`
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

const (
	program = "go-goroutines"
	model   = "goroutines"
	class   = "classic" // of workload chat; the others have none
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
	runtime.GOMAXPROCS(options.loops)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	server, err := listen(options, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", program, err)
		return 2
	}
	fmt.Fprintln(stdout, readyLine(options, server.listener.Addr().(*net.TCPAddr), os.Getpid()))
	go server.run()
	<-stop
	return 0
}

// readyLine returns the line that announces that connections are accepted.
func readyLine(options *options, address *net.TCPAddr, pid int) string {
	class, suffix := class, " ("+class+")"
	if options.workload != workloadChat {
		class, suffix = "", ""
	}
	if !options.json {
		return fmt.Sprintf("ready: %s%s on %s, pid %d", model, suffix, address, pid)
	}
	line, err := json.Marshal(struct {
		Event   string `json:"event"`
		Host    string `json:"host"`
		Port    int    `json:"port"`
		PID     int    `json:"pid"`
		Model   string `json:"model"`
		Class   string `json:"class,omitempty"`
		Version string `json:"version"`
		Runtime string `json:"runtime"`
	}{"ready", address.IP.String(), address.Port, pid, model, class, version, runtime.Version()})
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return string(line)
}
