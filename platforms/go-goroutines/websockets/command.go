package websockets

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"klatch/goroutines/stall"
)

const version = "0.1.0"

// headTimeout is the time that a client has to send its request.
const headTimeout = 30 * time.Second

// options are those of the command line.
type options struct {
	listen    string
	sendBytes int // most bytes in the send queue of a connection
	loops     int // threads that run goroutines in parallel
}

// Run is the program go-MODEL: it serves until SIGTERM or SIGINT and returns the exit status.
func Run(model string, upgrade Upgrade, args []string, stdout, stderr io.Writer) int {
	program := "go-" + model
	parsed, err := parseOptions(program, args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v; try --help\n", program, err)
		return 2
	}
	runtime.GOMAXPROCS(parsed.loops)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	config := net.ListenConfig{Control: stall.Limit(registrationTimeout)}
	listener, err := config.Listen(context.Background(), "tcp", parsed.listen)
	if err != nil {
		fmt.Fprintf(stderr, "%s: cannot listen on %s: %v\n", program, parsed.listen, err)
		return 2
	}
	address := listener.Addr().(*net.TCPAddr)
	line, err := json.Marshal(map[string]any{
		"event": "ready", "host": address.IP.String(), "port": address.Port, "pid": os.Getpid(),
		"model": model, "class": "classic", "version": version, "runtime": runtime.Version(),
	})
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	fmt.Fprintln(stdout, string(line))
	server := http.Server{Handler: NewServer(parsed.sendBytes, upgrade), ReadHeaderTimeout: headTimeout}
	go func() { _ = server.Serve(listener) }()
	<-stop
	return 0
}

func parseOptions(program string, args []string, stderr io.Writer) (*options, error) {
	parsed := &options{}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&parsed.listen, "listen", "127.0.0.1:6667", "address to listen on, `HOST:PORT`; port 0 takes a free one")
	flags.IntVar(&parsed.sendBytes, "sendq", 1<<20, "most `bytes` in the send queue of a connection; beyond them it is closed")
	flags.IntVar(&parsed.loops, "loops", runtime.GOMAXPROCS(0), "`threads` that run goroutines in parallel")
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err == nil && (parsed.sendBytes < 4096 || parsed.loops < 1) {
		err = errors.New("--sendq must be at least 4096, and --loops at least 1")
	}
	return parsed, err
}
