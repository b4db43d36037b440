package chat

import "strconv"

const (
	roomsMax = 50
	topicMax = 300
)

func (s *Session) join(message Message) {
	list := message.Param(0)
	if len(items(list)) == 0 {
		s.replyNeedMoreParams("JOIN")
		return
	}
	if list == "0" {
		for len(s.rooms) > 0 {
			s.leave(s.rooms[0], "")
		}
		return
	}
	for _, name := range items(list) {
		if !ValidChannel(name) {
			s.replyNumeric(noSuchChannel, name)
		} else if s.ownRoom(name) == nil {
			s.joinOne(name)
		}
	}
}

func (s *Session) joinOne(name string) {
	if len(s.rooms) >= roomsMax {
		s.replyNumeric(tooManyChannels, name)
		return
	}
	joined := s.server.room(name)
	if joined == nil {
		joined = &room{name: name}
		s.server.rooms[Fold(name)] = joined
	}
	joined.add(s, compose(s.prefix, " JOIN ", joined.name))
	s.rooms = append(s.rooms, joined)
	if joined.topic != "" {
		s.reply("332", joined.name, ":"+joined.topic)
	}
	s.replyNames(joined)
}

func (s *Session) part(message Message) {
	names := items(message.Param(0))
	if len(names) == 0 {
		s.replyNeedMoreParams("PART")
	}
	for _, name := range names {
		if room := s.joinedRoom(name); room != nil {
			s.leave(room, message.Param(1))
		}
	}
}

func (s *Session) leave(left *room, reason string) {
	if reason != "" {
		reason = " :" + reason
	}
	line := compose(s.prefix, " PART ", left.name, reason)
	s.server.leave(left, s)
	left.deliverToOthers(nil, line)
	s.client.Send(line)
	for i, room := range s.rooms {
		if room == left {
			s.rooms = append(s.rooms[:i], s.rooms[i+1:]...)
			return
		}
	}
}

// ownRoom returns the room with this name if the session is in it, else nil. It needs no lock.
func (s *Session) ownRoom(name string) *room {
	for _, room := range s.rooms {
		if Same(room.name, name) {
			return room
		}
	}
	return nil
}

// existingRoom returns the room with this name; if there is none, it replies noSuchChannel.
func (s *Session) existingRoom(name string) *room {
	room := s.server.room(name)
	if room == nil {
		s.replyNumeric(noSuchChannel, name)
	}
	return room
}

// joinedRoom returns the room with this name; if the session is not in it, it replies so.
func (s *Session) joinedRoom(name string) *room {
	if room := s.ownRoom(name); room != nil {
		return room
	}
	if room := s.existingRoom(name); room != nil {
		s.replyNumeric(notOnChannel, room.name)
	}
	return nil
}

func (s *Session) topic(message Message) {
	name := message.Param(0)
	if name == "" {
		s.replyNeedMoreParams("TOPIC")
	} else if len(message.Params) > 1 {
		if room := s.joinedRoom(name); room != nil {
			topic := cut(message.Param(1), topicMax)
			room.setTopic(topic, compose(s.prefix, " TOPIC ", room.name, " :", topic))
		}
	} else if room := s.existingRoom(name); room != nil {
		if room.topic == "" {
			s.replyNumeric(noTopic, room.name)
		} else {
			s.reply("332", room.name, ":"+room.topic)
		}
	}
}

func (s *Session) invite(message Message) {
	nick, name := message.Param(0), message.Param(1)
	if nick == "" || name == "" {
		s.replyNeedMoreParams("INVITE")
		return
	}
	guest := s.server.user(nick)
	if guest == nil {
		s.replyNumeric(noSuchNick, nick)
		return
	}
	room := s.joinedRoom(name)
	if room == nil {
		return
	}
	if guest.ownRoom(name) != nil {
		s.replyNumeric(alreadyOnChannel, guest.nick, room.name)
		return
	}
	s.reply("341", guest.nick, room.name)
	guest.send(s.prefix, " INVITE ", guest.nick, " ", room.name)
}

// kick is always rejected: there are no channel operators.
func (s *Session) kick(message Message) {
	if message.Param(0) == "" || message.Param(1) == "" {
		s.replyNeedMoreParams("KICK")
	} else if room := s.joinedRoom(message.Param(0)); room != nil {
		s.replyNumeric(noChannelOperator, room.name)
	}
}

func (s *Session) names(message Message) {
	name, ok := s.onlyRoom(message)
	if !ok {
		return
	}
	if room := s.server.room(name); name != "" && room != nil {
		s.replyNames(room)
	} else if name != "" {
		s.replyNumeric(endOfNames, name)
	} else {
		s.replyNumeric(endOfNames, "*")
	}
}

// onlyRoom returns the one room of a NAMES or LIST, "" without a parameter. A short line with many rooms would make a long
// answer, so more are refused.
func (s *Session) onlyRoom(message Message) (string, bool) {
	names := items(message.Param(0))
	switch len(names) {
	case 0:
		return "", true
	case 1:
		return names[0], true
	}
	s.replyNumeric(tooManyTargets, names[1])
	return "", false
}

func (s *Session) replyNames(room *room) {
	nicks := make([]string, len(room.members))
	for i, member := range room.members {
		nicks[i] = member.nick
	}
	s.replyList("353", nicks, "=", room.name)
	s.replyNumeric(endOfNames, room.name)
}

func (s *Session) list(message Message) {
	name, ok := s.onlyRoom(message)
	if !ok {
		return
	}
	var rooms []*room
	if name == "" {
		rooms = s.server.allRooms()
	} else if room := s.server.room(name); room != nil {
		rooms = append(rooms, room)
	}
	s.replyNumeric(listStart, "Channel")
	for _, room := range rooms {
		if !s.client.IsOpen() {
			return
		}
		s.reply("322", room.name, strconv.Itoa(len(room.members)), ":"+room.topic)
	}
	s.replyNumeric(endOfList)
}
