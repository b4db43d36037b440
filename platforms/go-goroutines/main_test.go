package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// serverMode is the environment variable that makes the test binary run the server.
const serverMode = "KLATCH_TEST_SERVER_MODE"

func TestMain(m *testing.M) {
	if os.Getenv(serverMode) != "" {
		main()
	}
	os.Exit(m.Run())
}

// spawn starts this program as a server with a limit of open files.
func spawn(t *testing.T, openFiles string, args ...string) (process *exec.Cmd, ready string, stderr *bytes.Buffer) {
	t.Helper()
	shell := []string{"-c", "ulimit -n " + openFiles + ` && exec "$0" "$@"`, os.Args[0]}
	process = exec.Command("sh", append(shell, args...)...)
	process.Env = append(os.Environ(), serverMode+"=yes")
	stderr = &bytes.Buffer{}
	process.Stderr = stderr
	stdout, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Process.Kill() })
	ready, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return process, ready, stderr
}

func TestPrintsReadyLineAndStopsOnSignal(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		process, line, _ := spawn(t, "100", "--listen", "127.0.0.1:0", "--json")
		var ready struct {
			Event, Host, Model, Class, Version, Runtime string
			Port, PID                                   int
		}
		if err := json.Unmarshal([]byte(line), &ready); err != nil {
			t.Fatal(err)
		}
		port := ready.Port
		ready.Port = 0
		want := ready
		want.Event, want.Host, want.Model, want.Class = "ready", "127.0.0.1", "goroutines", "classic"
		want.PID, want.Version, want.Runtime = process.Process.Pid, version, runtime.Version()
		if ready != want || port == 0 {
			t.Errorf("ready line: %s", line)
		}
		address := net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
		ann := dial(t, address.String()).register("ann")
		_ = process.Process.Signal(signal)
		if err := process.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
		ann.expectEnd()
	}
}

func TestOpenConnectionsAreServedAtTheFileLimit(t *testing.T) {
	process, line, stderr := spawn(t, "30", "--listen", "127.0.0.1:0")
	line = strings.TrimPrefix(line, "ready: goroutines (classic) on ")
	address, _, _ := strings.Cut(line, ",")
	ann := dial(t, address).register("ann")
	var others [40]*client
	for i := range others {
		others[i] = dial(t, address)
	}
	ann.join("#a")
	// Closed connections free descriptors for the last one in the backlog.
	for _, other := range others[:39] {
		other.conn.Close()
	}
	others[39].register("last")
	ann.ping()
	_ = process.Process.Signal(syscall.SIGTERM)
	if err := process.Wait(); err != nil {
		t.Error(err)
	}
	if strings.Count(stderr.String(), "the limit of open files is 30; raise it") != 1 {
		t.Errorf("stderr: %q", stderr)
	}
}

func TestInvalidOptionsAreReported(t *testing.T) {
	used := start(t, options{})
	for _, test := range []struct{ args, want string }{
		{"--listen " + used, "cannot listen on " + used + ": address already in use; stop the other program or choose"},
		{"--listen nonsense", "must be HOST:PORT, like 127.0.0.1:6667"},
		{"--listen :6667", "must be HOST:PORT, like 127.0.0.1:6667"},
		{"--listen 127.0.0.1:99999", "port must be 0 to 65535, got 99999"},
		{"--listen 192.0.2.1:6667", "this machine does not have that address; choose one that it has"},
		{"--sendq 100", `"100" for flag -sendq: must be 4096 to 1073741824; try --help`},
		{"--nodelay no", `"no" for flag -nodelay: must be true or false; try --help`},
		{"--loops 0", `"0" for flag -loops: must be 1 to 1024; try --help`},
		{"--registration-timeout 0", "must be 1 to 86400"},
		{"--half-open-max many", "must be 1 to 1048576"},
		{"--model threads", "flag provided but not defined: -model; try --help"},
		{"--workload ftp", `"ftp" for flag -workload: must be chat, `},
		{"--workload rr --coalesce", "flag provided but not defined: -coalesce; try --help"},
		{"--workload web --directories 0", `"0" for flag -directories: must be 1 to 100000; try --help`},
		{"--workload web --content-seed -1", `"-1" for flag -content-seed: parse error; try --help`},
		{"--workload rr --directories 25", "--directories belongs to --workload web, not to rr; try --help"},
		{"--content-seed 1", "--content-seed belongs to --workload web, not to chat; try --help"},
		{"--certificate c.pem", "--certificate and --key belong together; try --help"},
		{"--workload web --http2", "--http2 needs --certificate and --key; try --help"},
		{"--http2", "--http2 belongs to --workload web, not to chat; try --help"},
		{"--tickets", "--tickets needs --certificate and --key; try --help"},
		{"--certificate no.pem --key no.pem", "cannot use the certificate no.pem with the key no.pem: open no.pem: no such file"},
		{"--json now", `unexpected argument "now"; try --help`},
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(test.args), &stdout, &stderr)
		message := stderr.String()
		if status != 2 || stdout.Len() > 0 || strings.Count(message, "\n") != 1 || !strings.Contains(message, test.want) {
			t.Errorf("%s: status %d, stderr %q", test.args, status, message)
		}
	}
}

func TestHelpIsPrinted(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if run([]string{"--help"}, &stdout, &stderr) != 0 || stdout.String() != usage || stderr.Len() > 0 {
		t.Errorf("printed %q and %q", stdout.String(), stderr.String())
	}
}

func TestReadyLineAsText(t *testing.T) {
	address := &net.TCPAddr{IP: net.IPv6loopback, Port: 6667}
	want := "ready: goroutines (classic) on [::1]:6667, pid 7"
	if got := readyLine(&options{workload: workloadChat}, address, 7); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadyLineOfOtherWorkloadsHasNoClass(t *testing.T) {
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6667}
	for _, workload := range []workload{workloadRR, workloadWeb} {
		for _, test := range []struct {
			json bool
			want string
		}{
			{false, "ready: goroutines on 127.0.0.1:6667, pid 7"},
			{true, `{"event":"ready","host":"127.0.0.1","port":6667,"pid":7,"model":"goroutines","version":"` + version +
				`","runtime":"` + runtime.Version() + `"}`},
		} {
			if got := readyLine(&options{workload: workload, json: test.json}, address, 7); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		}
	}
}

func TestEchoIsServedAsAProcess(t *testing.T) {
	process, line, _ := spawn(t, "100", "--workload", "rr", "--listen", "127.0.0.1:0")
	address, _, _ := strings.Cut(strings.TrimPrefix(line, "ready: goroutines on "), ",")
	c := dial(t, address)
	c.echo([]byte("\r\n\x00\xff"))
	_ = process.Process.Signal(syscall.SIGTERM)
	if err := process.Wait(); err != nil {
		t.Error(err)
	}
	c.expectEnd()
}

func TestASiteIsServedAsAProcess(t *testing.T) {
	process, line, stderr := spawn(t, "100", "--workload", "web", "--directories", "3", "--content-seed", "7", "--listen",
		"127.0.0.1:0")
	address, _, _ := strings.Cut(strings.TrimPrefix(line, "ready: goroutines on "), ",")
	c := dial(t, address)
	for directory, status := range []string{"200 OK", "200 OK", "200 OK", "404 Not Found"} {
		c.send("GET /file_set/dir%05d/class0_0 HTTP/1.1\r\nHost: h\r\n", directory)
		reply, err := http.ReadResponse(c.input, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(reply.Body); err != nil || reply.Status != status {
			t.Errorf("directory %d: %s, %q, %v", directory, reply.Status, body, err)
		}
	}
	_ = process.Process.Signal(syscall.SIGTERM)
	if err := process.Wait(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, %q", err, stderr)
	}
	c.expectEnd()
}

// More connections than there are descriptors wait in the backlog, and others are served.
func TestASiteAtTheFileLimitServesItsConnections(t *testing.T) {
	process, line, stderr := spawn(t, "30", "--workload", "web", "--listen", "127.0.0.1:0")
	address, _, _ := strings.Cut(strings.TrimPrefix(line, "ready: goroutines on "), ",")
	const request = "GET /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\n"
	first := dial(t, address)
	first.send(request)
	first.skipTo("/file_set/dir00000/class0_0 ")
	var others [40]*client
	for i := range others {
		others[i] = dial(t, address)
	}
	first.send(request)
	first.skipTo("/file_set/dir00000/class0_0 ")
	for _, other := range others[:39] {
		other.conn.Close()
	}
	others[39].send(request)
	others[39].skipTo("/file_set/dir00000/class0_0 ")
	_ = process.Process.Signal(syscall.SIGTERM)
	if err := process.Wait(); err != nil {
		t.Error(err)
	}
	if strings.Count(stderr.String(), "the limit of open files is 30; raise it") != 1 {
		t.Errorf("stderr: %q", stderr)
	}
}

func TestVersionIsThatOfTheWorkspace(t *testing.T) {
	manifest, err := os.ReadFile("../../Cargo.toml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(manifest), "\n[workspace.package]\nversion = \""+version+"\"\n") {
		t.Errorf("%s is not the version in Cargo.toml", version)
	}
}
