package chat

import "strings"

// channelModes are those of RFC 1459; changing them would need an operator.
const channelModes = "biklmnopstv"

// mode replies to queries. Without operators, every channel stays +n and every user +i.
func (s *Session) mode(message Message) {
	name := message.Param(0)
	if name == "" {
		s.replyNeedMoreParams("MODE")
	} else if strings.HasPrefix(name, "#") {
		s.channelMode(name, message)
	} else {
		s.userMode(name, message.Param(1))
	}
}

func (s *Session) channelMode(name string, message Message) {
	room := s.existingRoom(name)
	if room == nil {
		return
	}
	change := message.Param(1)
	letters := strings.TrimLeft(change, "+-")
	if letters == "" {
		s.reply("324", room.name, "+n")
	} else if (change == "b" || change == "+b") && message.Param(2) == "" {
		s.replyNumeric(endOfBans, room.name)
	} else if s.joinedRoom(name) != nil {
		if letter := letters[:1]; strings.Contains(channelModes, letter) {
			s.replyNumeric(noChannelOperator, room.name)
		} else {
			s.replyNumeric(unknownMode, letter)
		}
	}
}

func (s *Session) userMode(nick, change string) {
	if !Same(nick, s.nick) {
		if s.server.user(nick) != nil {
			s.replyNumeric(notYourMode)
		} else {
			s.replyNumeric(noSuchNick, nick)
		}
	} else if change == "" {
		s.reply("221", "+i")
	} else if strings.Trim(change, "+i") != "" { // clients set +i after registration; it is set already
		s.replyNumeric(unknownUserMode)
	}
}
