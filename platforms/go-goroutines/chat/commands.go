package chat

// commands of who is registered, but for those that obey does itself. They run with the hall locked.
var commands = map[string]func(*Session, Message){
	"JOIN":     (*Session).join,
	"PART":     (*Session).part,
	"TOPIC":    (*Session).topic,
	"INVITE":   (*Session).invite,
	"KICK":     (*Session).kick,
	"NAMES":    (*Session).names,
	"LIST":     (*Session).list,
	"MODE":     (*Session).mode,
	"WHO":      (*Session).who,
	"WHOIS":    (*Session).whois,
	"WHOWAS":   (*Session).whowas,
	"USERHOST": (*Session).userhost,
	"ISON":     (*Session).ison,
	"AWAY":     (*Session).setAway,
	"MOTD":     (*Session).motd,
	"LUSERS":   (*Session).lusers,
	"VERSION":  (*Session).version,
	"OPER":     (*Session).oper,
	"KILL":     (*Session).refuse,
	"REHASH":   (*Session).refuse,
	"DIE":      (*Session).refuse,
	"RESTART":  (*Session).refuse,
	"SQUIT":    (*Session).refuse,
	"CONNECT":  (*Session).refuse,
	"WALLOPS":  (*Session).refuse,
}

// obey does what a line asks for.
func (s *Session) obey(line string) {
	message, ok := Parse(line)
	if !ok {
		return
	}
	command := upper(message.Command)
	switch command {
	case "PRIVMSG", "NOTICE":
		if s.registered {
			s.talk(command, message) // takes what locks it needs
			return
		}
	case "QUIT":
		if reason := message.Param(0); reason != "" {
			s.Close("Quit: " + reason)
		} else {
			s.Close("Quit")
		}
		return
	}
	s.hall.mu.Lock()
	defer s.hall.mu.Unlock()
	switch command {
	case "CAP":
		s.capability(message)
	case "PASS":
		s.pass(message)
	case "NICK":
		s.changeNick(message)
	case "USER":
		s.user(message)
	case "PING":
		s.ping(message)
	case "PONG":
	default:
		if !s.registered {
			s.say(notRegistered)
		} else if do := commands[command]; do != nil {
			do(s, message)
		} else {
			s.say(unknownCommand, message.Command)
		}
	}
}

// refuse answers what only an operator may do. There is none.
func (s *Session) refuse(Message) {
	s.say(noIRCOperator)
}
