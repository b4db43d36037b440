package chat

// commands are those of registered users that dispatch does not handle itself. They run under the server's lock.
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
	"KILL":     (*Session).rejectOperatorCommand,
	"REHASH":   (*Session).rejectOperatorCommand,
	"DIE":      (*Session).rejectOperatorCommand,
	"RESTART":  (*Session).rejectOperatorCommand,
	"SQUIT":    (*Session).rejectOperatorCommand,
	"CONNECT":  (*Session).rejectOperatorCommand,
	"WALLOPS":  (*Session).rejectOperatorCommand,
}

// dispatch parses a line and runs its command.
func (s *Session) dispatch(line string) {
	message, ok := Parse(line)
	if !ok {
		return
	}
	command := upper(message.Command)
	switch command {
	case "PRIVMSG", "NOTICE":
		if s.registered {
			s.privmsg(command, message) // locks as needed
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
	if !s.client.IsOpen() {
		return // it does not read, and its connection is about to be closed
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
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
			s.replyNumeric(notRegistered)
		} else if run := commands[command]; run != nil {
			run(s, message)
		} else {
			s.replyNumeric(unknownCommand, message.Command)
		}
	}
}

// rejectOperatorCommand replies that the user is not an operator: there are none.
func (s *Session) rejectOperatorCommand(Message) {
	s.replyNumeric(noIRCOperator)
}
