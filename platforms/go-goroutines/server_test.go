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
	if changed.registrationTimeout == 0 {
		changed.registrationTimeout = patience
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
	ann.say("PRIVMSG #a :hello")
	bob.expect(":ann!ann@127.0.0.1 PRIVMSG #a :hello")
	// Bytes that come after QUIT are not read, and must not cost the last words.
	bob.say("QUIT :bye\r\nPING x")
	bob.expect("ERROR :Closing link: (Quit: bye)")
	bob.expectEnd()
	ann.expect(":bob!bob@127.0.0.1 QUIT :Quit: bye")
}

func TestEverybodyGetsEverythingInOrder(t *testing.T) {
	const users, messages = 8, 300
	address := start(t, options{})
	var clients [users]*client
	for i := range clients {
		clients[i] = dial(t, address).register("u" + string(rune('0'+i))).join("#a")
	}
	for _, client := range clients {
		client.ping() // has heard everybody come
	}
	var all sync.WaitGroup
	for _, one := range clients {
		all.Add(2)
		go func(c *client) {
			defer all.Done()
			for number := 0; number < messages; number++ {
				c.say("PRIVMSG #a :%06d", number)
			}
		}(one)
		go func(c *client) {
			defer all.Done()
			last := map[string]string{} // speaker → text
			for i := 0; i < messages*(users-1); i++ {
				speaker, text, _ := strings.Cut(c.hear(), " PRIVMSG #a :")
				if text <= last[speaker] {
					t.Errorf("%s said %q after %q", speaker, text, last[speaker])
				}
				last[speaker] = text
			}
		}(one)
	}
	all.Wait()
}

func TestASlowReaderIsClosedAndNobodyElseNotices(t *testing.T) {
	address := start(t, options{sendqBytes: 64 << 10})
	slow := dial(t, address).register("slow").join("#a")
	talker := dial(t, address).register("talker").join("#a")
	listener := dial(t, address).register("listener").join("#a")
	listener.ping()

	// As many as it takes: the kernel's buffers come on top of the queue. The listener is never far behind, so it is
	// not slow itself.
	batch := strings.Repeat("PRIVMSG #a :"+strings.Repeat("x", 400)+"\r\n", 100) + "PRIVMSG #a :step"
	quit := ""
	for quit == "" {
		talker.say("%s", batch)
		for got := ""; !strings.HasSuffix(got, ":step"); {
			if got = listener.hear(); strings.Contains(got, " QUIT ") {
				quit = got
			}
		}
	}
	if quit != ":slow!slow@127.0.0.1 QUIT :SendQ exceeded" {
		t.Error(quit)
	}
	if last := slow.hearUntil("ERROR "); last != "ERROR :Closing link: (SendQ exceeded)" {
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
	// Who registers makes room for another, and so does who leaves.
	idle[0].register("bob")
	another := dial(t, address)
	another.ping()
	another.say("QUIT")
	another.hearUntil("ERROR ")
	another.expectEnd()
	dial(t, address).register("cid").ping()
}

func TestRegistrationHasALimitedTime(t *testing.T) {
	address := start(t, options{registrationTimeout: time.Second})
	ann := dial(t, address).register("ann")
	silent, half := dial(t, address), dial(t, address)
	half.say("NICK half\r\nCAP LS")
	half.hearUntil(" CAP ")
	for _, late := range []*client{silent, half} {
		late.expect("ERROR :Closing link: (Registration timed out)")
		late.expectEnd()
	}
	ann.ping()
	dial(t, address).register("half")
}

func TestBrokenAndHalfClosedConnectionsAreSeenToQuit(t *testing.T) {
	address := start(t, options{})
	ann := dial(t, address).register("ann").join("#a")
	bob := dial(t, address).register("bob").join("#a")
	_ = bob.conn.SetLinger(0)
	bob.conn.Close()
	ann.hearUntil(":bob!bob@127.0.0.1 QUIT :Connection reset")
	cid := dial(t, address).register("cid").join("#a")
	cid.say("PING last")
	_ = cid.conn.CloseWrite()
	cid.expect(":klatch.localhost PONG klatch.localhost :last")
	cid.expectEnd()
	ann.hearUntil(":cid!cid@127.0.0.1 QUIT :Connection closed")
}

func TestANULEndsOneSessionOnly(t *testing.T) {
	address := start(t, options{})
	ann := dial(t, address).register("ann").join("#a")
	bob := dial(t, address).register("bob").join("#a")
	bob.say("PRIVMSG #a :x\x00y")
	bob.expect("ERROR :Closing link: (NUL in input)")
	bob.expectEnd()
	ann.hearUntil(":bob!bob@127.0.0.1 QUIT :NUL in input")
	ann.say("PRIVMSG #a :%s", strings.Repeat("y", 600))
	ann.expect(":klatch.localhost 417 ann :Input line was too long")
	ann.ping()
}

func TestAThousandComeAndGo(t *testing.T) {
	address := start(t, options{})
	ann := dial(t, address).register("ann")
	for i := 0; i < 1000; i++ {
		guest := dial(t, address)
		guest.say("NICK g%d\r\nUSER g 0 * :g\r\nJOIN #g%d", i, i)
		guest.conn.Close()
	}
	for { // until the last of them is gone
		ann.say("LUSERS")
		users, rooms := ann.hearUntil(" 251 "), ann.hearUntil(" 254 ")
		if strings.Contains(users, " 0 users and 1 invisible") && strings.HasSuffix(rooms, " 0 :channels formed") {
			return
		}
	}
}
