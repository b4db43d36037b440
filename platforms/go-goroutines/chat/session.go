package chat

// Session is one connection's side of a hall. One goroutine at a time may call its methods. What others see of it
// (nick, away, rooms) changes under the hall's lock.
type Session struct {
	hall   *Hall
	client Client
	host   string
	framer Framer
	open   bool

	nick       string // empty before the first good NICK
	login      login
	registered bool
	prefix     string // ":nick!user@host" for the lines that others get; empty until registered
	away       string // empty: is not
	rooms      []*room
}

// Feed takes the bytes that arrived, in pieces of any size, and does what they ask for. It returns false when the
// session is over: what was sent is to be written, and the connection closed.
func (s *Session) Feed(input []byte) bool {
	for s.open {
		event, line, rest := s.framer.Next(input)
		input = rest
		switch event {
		case None:
			return true
		case Line:
			s.obey(string(line))
		case TooLong:
			s.say(inputTooLong)
		case NUL:
			s.Close("NUL in input")
		}
	}
	return false
}

// Close ends the session from the server's side: it gets an ERROR that tells the reason, the others see it quit.
func (s *Session) Close(reason string) {
	if s.open {
		s.client.Send(ClosingLine(reason))
		s.HangUp(reason)
	}
}

// HangUp ends the session because its connection is gone or cannot take a line any more: the others see it quit.
func (s *Session) HangUp(reason string) {
	if !s.open {
		return
	}
	s.open = false
	s.hall.mu.Lock()
	defer s.hall.mu.Unlock()
	quit := compose(s.prefix, " QUIT :", reason)
	neighbours := s.neighbours()
	for _, room := range s.rooms {
		s.hall.leave(room, s)
	}
	s.rooms = nil
	for _, neighbour := range neighbours {
		neighbour.client.Send(quit)
	}
	delete(s.hall.holders, Fold(s.nick))
	if s.registered {
		s.hall.registered--
	}
}

// neighbours are all who share a room with this session, once each.
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

// send sends a line made of parts to this session's own client.
func (s *Session) send(parts ...string) {
	s.client.Send(compose(parts...))
}

// say sends a numeric that always has the same text.
func (s *Session) say(n numeric, about ...string) {
	s.reply(n.code, append(about, ":"+n.text)...)
}

func (s *Session) needMore(command string) {
	s.say(needMoreParams, command)
}

// reply sends ":server code nick params…"; a last parameter with spaces brings its colon along.
func (s *Session) reply(code string, params ...string) {
	s.send(s.head(code, params...))
}

// replyList sends ":server code nick params… :item item…" as often as it takes; once if there are no items.
func (s *Session) replyList(code string, items []string, params ...string) {
	head := s.head(code, params...) + " :"
	whole := head
	for _, item := range items {
		if len(whole) > len(head) {
			if len(whole)+1+len(item) > ContentMax {
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
	head := ":" + s.hall.identity.Name + " " + code + " " + s.called()
	for _, param := range params {
		head += " " + param
	}
	return head
}

// called is what the server calls this client.
func (s *Session) called() string {
	if s.registered {
		return s.nick
	}
	return "*"
}
