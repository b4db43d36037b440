package chat

const (
	userMax     = 16
	realNameMax = 100
)

// login holds the parameters of a registration.
type login struct {
	user, realName string
	negotiating    bool // between CAP LS or REQ and CAP END, which delays the registration
}

// capability handles CAP. No capability is offered.
func (s *Session) capability(message Message) {
	verb := message.Param(0)
	switch upper(verb) {
	case "":
		s.replyNeedMoreParams("CAP")
	case "LS":
		s.login.negotiating = true
		s.replyCap("LS", "")
	case "LIST":
		s.replyCap("LIST", "")
	case "REQ":
		s.login.negotiating = true
		s.replyCap("NAK", message.Param(1))
	case "END":
		s.login.negotiating = false
		s.registerWhenComplete()
	default:
		s.replyNumeric(invalidCap, verb)
	}
}

func (s *Session) replyCap(verb, capabilities string) {
	s.send(":", s.server.identity.Name, " CAP ", s.replyTarget(), " ", verb, " :", capabilities)
}

// pass accepts any password.
func (s *Session) pass(message Message) {
	if s.registered {
		s.replyNumeric(alreadyRegistered)
	} else if message.Param(0) == "" {
		s.replyNeedMoreParams("PASS")
	}
}

func (s *Session) user(message Message) {
	switch {
	case s.registered:
		s.replyNumeric(alreadyRegistered)
	case message.Param(0) == "" || len(message.Params) < 4:
		s.replyNeedMoreParams("USER")
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
		s.replyNumeric(noNick)
	case !ValidNick(nick):
		s.replyNumeric(erroneousNick, nick)
	case nick != s.nick:
		s.claimNick(nick)
	}
}

func (s *Session) claimNick(nick string) {
	if holder := s.server.holders[Fold(nick)]; holder != nil && holder != s {
		s.replyNumeric(nickInUse, nick)
		return
	}
	delete(s.server.holders, Fold(s.nick))
	s.server.holders[Fold(nick)] = s
	s.nick = nick
	if !s.registered {
		s.registerWhenComplete()
		return
	}
	line := compose(s.prefix, " NICK ", nick)
	s.setPrefix()
	s.client.Send(line)
	for _, neighbour := range s.neighbours() {
		neighbour.client.Send(line)
	}
}

func (s *Session) registerWhenComplete() {
	if s.registered || s.login.negotiating || s.nick == "" || s.login.user == "" {
		return
	}
	s.registered = true
	s.server.registered++
	s.setPrefix()
	s.client.Registered()
	s.welcome()
}

func (s *Session) setPrefix() {
	s.prefix = ":" + s.nick + "!" + s.login.user + "@" + s.host
}

// cleanUser truncates a user name to 16 bytes and replaces those that could be parsed as part of a prefix.
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
