package chat

import "strings"

const (
	targetsMax = 4
	awayMax    = 200
)

// privmsg handles PRIVMSG and NOTICE; a NOTICE gets no reply. It runs without the server's lock.
func (s *Session) privmsg(verb string, message Message) {
	replyError := func(n numeric, params ...string) {
		if verb == "PRIVMSG" {
			s.replyNumeric(n, params...)
		}
	}
	targets, text := items(message.Param(0)), message.Param(1)
	switch {
	case len(targets) == 0:
		replyError(noRecipient)
		return
	case text == "":
		replyError(noText)
		return
	case len(targets) > targetsMax:
		replyError(tooManyTargets, targets[targetsMax])
		return
	}
	for _, target := range targets {
		if room := s.ownRoom(target); room != nil {
			room.deliverToOthers(s, compose(s.prefix, " ", verb, " ", room.name, " :", text))
		} else {
			s.sendToUser(verb, target, text, replyError)
		}
	}
}

func (s *Session) sendToUser(verb, target, text string, replyError func(numeric, ...string)) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if user := s.server.user(target); user != nil {
		user.send(s.prefix, " ", verb, " ", user.nick, " :", text)
		if verb == "PRIVMSG" && user.away != "" {
			s.reply("301", user.nick, ":"+user.away)
		}
	} else if !strings.HasPrefix(target, "#") {
		replyError(noSuchNick, target)
	} else if room := s.server.room(target); room != nil {
		replyError(cannotSend, room.name)
	} else {
		replyError(noSuchChannel, target)
	}
}

func (s *Session) setAway(message Message) {
	s.away = cut(message.Param(0), awayMax)
	if s.away == "" {
		s.replyNumeric(notAway)
	} else {
		s.replyNumeric(nowAway)
	}
}
