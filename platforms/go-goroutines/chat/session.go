package chat

// Session is the protocol state of one connection. One goroutine at a time may call its methods. The fields that other
// sessions read (nick, away, rooms) change under the server's lock.
type Session struct {
	server *ServerState
	client Client
	host   string
	framer Framer
	open   bool

	nick       string // empty before the first good NICK
	login      login
	registered bool
	prefix     string // ":nick!user@host", the source of relayed lines; empty until registered
	away       string // empty if not away
	rooms      []*room
}

// Feed handles received bytes, in chunks of any size. It returns false when the session has ended: the caller then
// writes the queued lines and closes the connection.
func (s *Session) Feed(input []byte) bool {
	for s.open {
		event, line, rest := s.framer.Next(input)
		input = rest
		switch event {
		case None:
			return true
		case Line:
			s.dispatch(string(line))
		case TooLong:
			s.replyNumeric(inputTooLong)
		case NUL:
			s.Close("NUL in input")
		}
	}
	return false
}

// Close ends the session from the server's side: the client gets an ERROR with the reason, other users a QUIT.
func (s *Session) Close(reason string) {
	if s.open {
		s.client.Send(ClosingLine(reason))
		s.HangUp(reason)
	}
}

// HangUp ends the session after its connection has ended or overflowed: other users get a QUIT.
func (s *Session) HangUp(reason string) {
	if !s.open {
		return
	}
	s.open = false
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	quit := compose(s.prefix, " QUIT :", reason)
	neighbours := s.neighbours()
	for _, room := range s.rooms {
		s.server.leave(room, s)
	}
	s.rooms = nil
	for _, neighbour := range neighbours {
		neighbour.client.Send(quit)
	}
	delete(s.server.holders, Fold(s.nick))
	if s.registered {
		s.server.registered--
	}
}

// neighbours returns the other sessions in this session's rooms, once each.
func (s *Session) neighbours() []*Session {
	var neighbours []*Session
	seen := map[*Session]bool{s: true}
	for _, room := range s.rooms {
		for _, member := range room.members {
			if !seen[member] {
				seen[member] = true
				neighbours = append(neighbours, member)
			}
		}
	}
	return neighbours
}

// send concatenates parts to a line and sends it to this session's client.
func (s *Session) send(parts ...string) {
	s.client.Send(compose(parts...))
}

// replyNumeric sends a numeric reply with a fixed text.
func (s *Session) replyNumeric(n numeric, params ...string) {
	s.reply(n.code, append(params, ":"+n.text)...)
}

func (s *Session) replyNeedMoreParams(command string) {
	s.replyNumeric(needMoreParams, command)
}

// reply sends ":server code nick params…"; the caller adds the colon of a last parameter with spaces.
func (s *Session) reply(code string, params ...string) {
	s.send(s.head(code, params...))
}

// replyList sends ":server code nick params… :item item…" on as many lines as needed; one if there are no items.
func (s *Session) replyList(code string, items []string, params ...string) {
	head := s.head(code, params...) + " :"
	whole := head
	for _, item := range items {
		if len(whole) > len(head) {
			if len(whole)+1+len(item) > ContentMax {
				if !s.client.IsOpen() {
					return
				}
				s.send(whole)
				whole = head
			} else {
				whole += " "
			}
		}
		whole += item
	}
	s.send(whole)
}

func (s *Session) head(code string, params ...string) string {
	head := ":" + s.server.identity.Name + " " + code + " " + s.replyTarget()
	for _, param := range params {
		head += " " + param
	}
	return head
}

// replyTarget returns the nick for replies: * until registered.
func (s *Session) replyTarget() string {
	if s.registered {
		return s.nick
	}
	return "*"
}
