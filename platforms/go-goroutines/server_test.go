package main

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// start serves until the end of the test and returns the address.
func start(t *testing.T, changed options) string {
	t.Helper()
	changed.listen = "127.0.0.1:0"
	if changed.sendqBytes == 0 {
		changed.sendqBytes = 1 << 20
	}
	if changed.halfOpenMax == 0 {
		changed.halfOpenMax = 4096
	}
	if changed.directories == 0 {
		changed.directories = 1
	}
	if changed.registrationTimeout == 0 {
		changed.registrationTimeout = testTimeout
	}
	server, err := listen(&changed, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.listener.Close() })
	go server.run()
	return server.listener.Addr().String()
}

func TestUsersJoinTalkAndLeave(t *testing.T) {
	address := start(t, options{})
	ann := dial(t, address).register("ann").join("#a")
	bob := dial(t, address).register("bob").join("#a")
	ann.expect(":bob!bob@127.0.0.1 JOIN #a")
	ann.send("PRIVMSG #a :hello")
	bob.expect(":ann!ann@127.0.0.1 PRIVMSG #a :hello")
	// Bytes after QUIT are ignored, and must not cost the client the last line.
	bob.send("QUIT :bye\r\nPING x")
	bob.expect("ERROR :Closing link: (Quit: bye)")
	bob.expectEnd()
	ann.expect(":bob!bob@127.0.0.1 QUIT :Quit: bye")
}

func TestEveryUserGetsAllMessagesInOrder(t *testing.T) {
	const users, messages = 8, 300
	address := start(t, options{})
	var clients [users]*client
	for i := range clients {
		clients[i] = dial(t, address).register("u" + string(rune('0'+i))).join("#a")
	}
	for _, client := range clients {
		client.ping() // has received all JOINs
	}
	var all sync.WaitGroup
	for _, one := range clients {
		all.Add(2)
		go func(c *client) {
			defer all.Done()
			for number := 0; number < messages; number++ {
				c.send("PRIVMSG #a :%06d", number)
			}
		}(one)
		go func(c *client) {
			defer all.Done()
			last := map[string]string{} // speaker → text
			for i := 0; i < messages*(users-1); i++ {
				speaker, text, _ := strings.Cut(c.nextLine(), " PRIVMSG #a :")
				if text <= last[speaker] {
					t.Errorf("%s: %q arrived after %q", speaker, text, last[speaker])
				}
				last[speaker] = text
			}
		}(one)
	}
	all.Wait()
}

func TestOverflowClosesOnlyTheSlowReader(t *testing.T) {
	address := start(t, options{sendqBytes: 64 << 10})
	slow := dial(t, address).register("slow").join("#a")
	talker := dial(t, address).register("talker").join("#a")
	listener := dial(t, address).register("listener").join("#a")
	listener.ping()

	// The number is open: the kernel's buffers add to the queue. The listener reads every batch, so it does not overflow.
	batch := strings.Repeat("PRIVMSG #a :"+strings.Repeat("x", 400)+"\r\n", 100) + "PRIVMSG #a :step"
	quit := ""
	for quit == "" {
		talker.send("%s", batch)
		for got := ""; !strings.HasSuffix(got, ":step"); {
			if got = listener.nextLine(); strings.Contains(got, " QUIT ") {
				quit = got
			}
		}
	}
	if quit != ":slow!slow@127.0.0.1 QUIT :SendQ exceeded" {
		t.Error(quit)
	}
	if last := slow.skipTo("ERROR "); last != "ERROR :Closing link: (SendQ exceeded)" {
		t.Error(last)
	}
	slow.expectEnd()
	talker.ping()
}

func TestUnregisteredConnectionsAreLimited(t *testing.T) {
	address := start(t, options{halfOpenMax: 3})
	ann := dial(t, address).register("ann")
	var idle [3]*client
	for i := range idle {
		idle[i] = dial(t, address)
		idle[i].ping()
	}
	for i := 0; i < 20; i++ {
		refused := dial(t, address)
		refused.expect("ERROR :Too many unregistered connections")
		refused.expectEnd()
	}
	ann.ping()
	// A registration frees a place, and so does a closed connection.
	idle[0].register("bob")
	another := dial(t, address)
	another.ping()
	another.send("QUIT")
	another.skipTo("ERROR ")
	another.expectEnd()
	dial(t, address).register("cid").ping()
}

func TestRegistrationTimesOut(t *testing.T) {
	address := start(t, options{registrationTimeout: time.Second})
	ann := dial(t, address).register("ann")
	silent, half := dial(t, address), dial(t, address)
	half.send("NICK half\r\nCAP LS")
	half.skipTo(" CAP ")
	for _, late := range []*client{silent, half} {
		late.expect("ERROR :Closing link: (Registration timed out)")
		late.expectEnd()
	}
	ann.ping()
	dial(t, address).register("half")
}

func TestBrokenAndHalfClosedConnectionsBecomeAQuit(t *testing.T) {
	address := start(t, options{})
	ann := dial(t, address).register("ann").join("#a")
	bob := dial(t, address).register("bob").join("#a")
	_ = bob.conn.SetLinger(0)
	bob.conn.Close()
	ann.skipTo(":bob!bob@127.0.0.1 QUIT :Connection reset")
	cid := dial(t, address).register("cid").join("#a")
	cid.send("PING last")
	_ = cid.conn.CloseWrite()
	cid.expect(":klatch.localhost PONG klatch.localhost :last")
	cid.expectEnd()
	ann.skipTo(":cid!cid@127.0.0.1 QUIT :Connection closed")
}

func TestANULEndsOneSessionOnly(t *testing.T) {
	address := start(t, options{})
	ann := dial(t, address).register("ann").join("#a")
	bob := dial(t, address).register("bob").join("#a")
	bob.send("PRIVMSG #a :x\x00y")
	bob.expect("ERROR :Closing link: (NUL in input)")
	bob.expectEnd()
	ann.skipTo(":bob!bob@127.0.0.1 QUIT :NUL in input")
	ann.send("PRIVMSG #a :%s", strings.Repeat("y", 600))
	ann.expect(":klatch.localhost 417 ann :Input line was too long")
	ann.ping()
}

func TestAThousandShortConnectionsLeaveNothingBehind(t *testing.T) {
	address := start(t, options{})
	ann := dial(t, address).register("ann")
	for i := 0; i < 1000; i++ {
		guest := dial(t, address)
		guest.send("NICK g%d\r\nUSER g 0 * :g\r\nJOIN #g%d", i, i)
		guest.conn.Close()
	}
	for { // until the server has closed the last one
		ann.send("LUSERS")
		users, rooms := ann.skipTo(" 251 "), ann.skipTo(" 254 ")
		if strings.Contains(users, " 0 users and 1 invisible") && strings.HasSuffix(rooms, " 0 :channels formed") {
			return
		}
	}
}
