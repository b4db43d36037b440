package chat

import "strings"

const (
	targetsMax = 4
	awayMax    = 200
)

// talk is PRIVMSG and NOTICE; a NOTICE is never answered. It runs without the hall's lock.
func (s *Session) talk(verb string, message Message) {
	complain := func(n numeric, about ...string) {
		if verb == "PRIVMSG" {
			s.say(n, about...)
		}
	}
	targets, text := items(message.Param(0)), message.Param(1)
	switch {
	case len(targets) == 0:
		complain(noRecipient)
		return
	case text == "":
		complain(noText)
		return
	case len(targets) > targetsMax:
		complain(tooManyTargets, targets[targetsMax])
		return
	}
	for _, target := range targets {
		if room := s.ownRoom(target); room != nil {
			room.tellOthers(s, compose(s.prefix, " ", verb, " ", room.name, " :", text))
		} else {
			s.tellUser(verb, target, text, complain)
		}
	}
}

func (s *Session) tellUser(verb, target, text string, complain func(numeric, ...string)) {
	s.hall.mu.Lock()
	defer s.hall.mu.Unlock()
	if user := s.hall.user(target); user != nil {
		user.send(s.prefix, " ", verb, " ", user.nick, " :", text)
		if verb == "PRIVMSG" && user.away != "" {
			s.reply("301", user.nick, ":"+user.away)
		}
	} else if !strings.HasPrefix(target, "#") {
		complain(noSuchNick, target)
	} else if room := s.hall.room(target); room != nil {
		complain(cannotSend, room.name)
	} else {
		complain(noSuchChannel, target)
	}
}

func (s *Session) setAway(message Message) {
	s.away = cut(message.Param(0), awayMax)
	if s.away == "" {
		s.say(notAway)
	} else {
		s.say(nowAway)
	}
}
