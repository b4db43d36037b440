package chat

const (
	userMax     = 16
	realNameMax = 100
)

// login is what is known from registration.
type login struct {
	user, realName string
	negotiating    bool // registration waits while capabilities are talked about
}

// capability is CAP. None is offered.
func (s *Session) capability(message Message) {
	verb := message.Param(0)
	switch upper(verb) {
	case "":
		s.needMore("CAP")
	case "LS":
		s.login.negotiating = true
		s.answerCap("LS", "")
	case "LIST":
		s.answerCap("LIST", "")
	case "REQ":
		s.login.negotiating = true
		s.answerCap("NAK", message.Param(1))
	case "END":
		s.login.negotiating = false
		s.registerWhenComplete()
	default:
		s.say(invalidCap, verb)
	}
}

func (s *Session) answerCap(verb, capabilities string) {
	s.send(":", s.hall.identity.Name, " CAP ", s.called(), " ", verb, " :", capabilities)
}

// pass takes any password.
func (s *Session) pass(message Message) {
	if s.registered {
		s.say(alreadyRegistered)
	} else if message.Param(0) == "" {
		s.needMore("PASS")
	}
}

func (s *Session) user(message Message) {
	switch {
	case s.registered:
		s.say(alreadyRegistered)
	case message.Param(0) == "" || len(message.Params) < 4:
		s.needMore("USER")
	default:
		s.login.user = cleanUser(message.Param(0))
		s.login.realName = cut(message.Param(3), realNameMax)
		s.registerWhenComplete()
	}
}

func (s *Session) changeNick(message Message) {
	nick := message.Param(0)
	switch {
	case nick == "":
		s.say(noNick)
	case !ValidNick(nick):
		s.say(erroneousNick, nick)
	case nick != s.nick:
		s.takeNick(nick)
	}
}

func (s *Session) takeNick(nick string) {
	if holder := s.hall.holders[Fold(nick)]; holder != nil && holder != s {
		s.say(nickInUse, nick)
		return
	}
	delete(s.hall.holders, Fold(s.nick))
	s.hall.holders[Fold(nick)] = s
	s.nick = nick
	if !s.registered {
		s.registerWhenComplete()
		return
	}
	news := compose(s.prefix, " NICK ", nick)
	s.setPrefix()
	s.client.Send(news)
	for _, neighbour := range s.neighbours() {
		neighbour.client.Send(news)
	}
}

func (s *Session) registerWhenComplete() {
	if s.registered || s.login.negotiating || s.nick == "" || s.login.user == "" {
		return
	}
	s.registered = true
	s.hall.registered++
	s.setPrefix()
	s.client.Registered()
	s.welcome()
}

func (s *Session) setPrefix() {
	s.prefix = ":" + s.nick + "!" + s.login.user + "@" + s.host
}

// cleanUser has at most 16 bytes, of which none can be mistaken for a part of a prefix.
func cleanUser(name string) string {
	clean := []byte(name)
	if len(clean) > userMax {
		clean = clean[:userMax]
	}
	for i, b := range clean {
		if !isLetter(b) && !isDigit(b) && b != '-' && b != '.' && b != '_' && b != '~' {
			clean[i] = '_'
		}
	}
	return string(clean)
}
