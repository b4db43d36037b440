package chat

import "strings"

// channelModes are those of RFC 1459, which an operator might set elsewhere.
const channelModes = "biklmnopstv"

// mode answers questions. There are no operators: every channel is +n, every user +i, and that is how it stays.
func (s *Session) mode(message Message) {
	name := message.Param(0)
	if name == "" {
		s.needMore("MODE")
	} else if strings.HasPrefix(name, "#") {
		s.channelMode(name, message)
	} else {
		s.userMode(name, message.Param(1))
	}
}

func (s *Session) channelMode(name string, message Message) {
	room := s.existing(name)
	if room == nil {
		return
	}
	change := message.Param(1)
	letters := strings.TrimLeft(change, "+-")
	if letters == "" {
		s.reply("324", room.name, "+n")
	} else if (change == "b" || change == "+b") && message.Param(2) == "" {
		s.say(endOfBans, room.name)
	} else if s.memberOf(name) != nil {
		if letter := letters[:1]; strings.Contains(channelModes, letter) {
			s.say(noChannelOperator, room.name)
		} else {
			s.say(unknownMode, letter)
		}
	}
}

func (s *Session) userMode(nick, change string) {
	if !Same(nick, s.nick) {
		if s.hall.user(nick) != nil {
			s.say(notYourMode)
		} else {
			s.say(noSuchNick, nick)
		}
	} else if change == "" {
		s.reply("221", "+i")
	} else if strings.Trim(change, "+i") != "" { // +i is what clients set as they come in, and is so already
		s.say(unknownUserMode)
	}
}
