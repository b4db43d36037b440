package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"sync"
	"syscall"
	"testing"
)

const mib = 1 << 20

func randomBytes(seed int64, count int) []byte {
	all := make([]byte, count)
	rand.New(rand.NewSource(seed)).Read(all)
	return all
}

func atMost(value, limit int) int {
	if value > limit {
		return limit
	}
	return value
}

// expectBytes reads as many bytes as want has, at most pieceMax at a time, and compares them.
func (c *client) expectBytes(want []byte, pieceMax int) {
	c.t.Helper()
	got := make([]byte, len(want))
	for at := 0; at < len(got); {
		count, err := c.conn.Read(got[at:atMost(at+pieceMax, len(got))])
		if err != nil {
			c.t.Errorf("after %d bytes: %v", at, err)
			return
		}
		at += count
	}
	if !bytes.Equal(got, want) {
		c.t.Error("the echo differs from the request")
	}
}

func (c *client) echo(request []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(request); err != nil {
		c.t.Fatal(err)
	}
	c.expectBytes(request, len(request))
}

func TestEveryEchoConnectionGetsBackItsOwnBytes(t *testing.T) {
	address := start(t, options{workload: workloadRR})
	var all sync.WaitGroup
	for seed := int64(0); seed < 6; seed++ {
		c, sent, random := dial(t, address), randomBytes(seed, 200_000), rand.New(rand.NewSource(seed))
		all.Add(2)
		go func() {
			defer all.Done()
			for at := 0; at < len(sent); {
				end := atMost(at+1+random.Intn(3000), len(sent))
				if _, err := c.conn.Write(sent[at:end]); err != nil {
					t.Error(err)
					return
				}
				at = end
			}
		}()
		go func() {
			defer all.Done()
			c.expectBytes(sent, len(sent))
		}()
	}
	all.Wait()
}

func TestOneMebibyteAtOnceReachesASlowReaderThatHasClosedItsOutput(t *testing.T) {
	c := dial(t, start(t, options{workload: workloadRR}))
	_ = c.conn.SetReadBuffer(32 << 10)
	sent := randomBytes(1, mib)
	go func() {
		if _, err := c.conn.Write(sent); err != nil {
			t.Error(err)
		}
		_ = c.conn.CloseWrite()
	}()
	c.expectBytes(sent, 1000)
	c.expectEnd()
}

func TestAnEchoServerReadsNoMoreThanItsClientDoes(t *testing.T) {
	const (
		total       = 128 * mib
		inFlightMax = 64 * mib // more than the buffers of the kernel: net.ipv4.tcp_rmem and tcp_wmem
	)
	c := dial(t, start(t, options{workload: workloadRR}))
	_ = c.conn.SetReadBuffer(64 << 10)
	raw, err := c.conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	sent, received := 0, 0
	out, in := make([]byte, mib), make([]byte, 512)
	for sent < total {
		written := 0
		_ = raw.Write(func(fd uintptr) bool {
			written, err = syscall.Write(int(fd), out)
			return true // do not wait until the socket accepts more
		})
		if errors.Is(err, syscall.EAGAIN) {
			// Reads only when it cannot write: then the server has stopped reading, or is about to.
			written, err = 0, nil
			var count int
			count, err = c.conn.Read(in)
			received += count
		}
		if err != nil {
			t.Fatal(err)
		}
		sent += written
		if sent-received > inFlightMax {
			t.Fatalf("the server holds %d bytes", sent-received)
		}
	}
	_ = c.conn.CloseWrite()
	rest, err := io.Copy(io.Discard, c.conn)
	if err != nil || received+int(rest) != sent {
		t.Errorf("got %d bytes of %d, %v", received+int(rest), sent, err)
	}
}

func TestAResetEndsOneEchoConnectionOnly(t *testing.T) {
	address := start(t, options{workload: workloadRR})
	stays := dial(t, address)
	for i := 0; i < 3; i++ {
		leaves := dial(t, address)
		leaves.echo([]byte("ping"))
		_, _ = leaves.conn.Write(randomBytes(2, 20_000)) // reset while it is echoed
		_ = leaves.conn.SetLinger(0)
		leaves.conn.Close()
		stays.echo([]byte("ping"))
	}
}

func TestEchoConnectionsAreNotHalfOpen(t *testing.T) {
	address := start(t, options{workload: workloadRR, halfOpenMax: 1})
	clients := []*client{dial(t, address), dial(t, address), dial(t, address)}
	for _, c := range clients {
		c.echo([]byte("ping"))
	}
}
