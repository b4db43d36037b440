package chat

import "strconv"

const (
	roomsMax = 50
	topicMax = 300
)

func (s *Session) join(message Message) {
	list := message.Param(0)
	if len(items(list)) == 0 {
		s.needMore("JOIN")
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
			s.say(noSuchChannel, name)
		} else if s.ownRoom(name) == nil {
			s.joinOne(name)
		}
	}
}

func (s *Session) joinOne(name string) {
	if len(s.rooms) >= roomsMax {
		s.say(tooManyChannels, name)
		return
	}
	joined := s.hall.room(name)
	if joined == nil {
		joined = &room{name: name}
		s.hall.rooms[Fold(name)] = joined
	}
	joined.add(s, compose(s.prefix, " JOIN ", joined.name))
	s.rooms = append(s.rooms, joined)
	if joined.topic != "" {
		s.reply("332", joined.name, ":"+joined.topic)
	}
	s.namesOf(joined)
}

func (s *Session) part(message Message) {
	names := items(message.Param(0))
	if len(names) == 0 {
		s.needMore("PART")
	}
	for _, name := range names {
		if room := s.memberOf(name); room != nil {
			s.leave(room, message.Param(1))
		}
	}
}

func (s *Session) leave(left *room, reason string) {
	if reason != "" {
		reason = " :" + reason
	}
	news := compose(s.prefix, " PART ", left.name, reason)
	s.hall.leave(left, s)
	left.tellOthers(nil, news)
	s.client.Send(news)
	for i, room := range s.rooms {
		if room == left {
			s.rooms = append(s.rooms[:i], s.rooms[i+1:]...)
			return
		}
	}
}

// ownRoom is the room of this name if the session is in it, or nil. It needs no lock.
func (s *Session) ownRoom(name string) *room {
	for _, room := range s.rooms {
		if Same(room.name, name) {
			return room
		}
	}
	return nil
}

// existing is the room of this name; if there is none, the client hears so.
func (s *Session) existing(name string) *room {
	room := s.hall.room(name)
	if room == nil {
		s.say(noSuchChannel, name)
	}
	return room
}

// memberOf is the room of this name; if the session is not in it, the client hears so.
func (s *Session) memberOf(name string) *room {
	if room := s.ownRoom(name); room != nil {
		return room
	}
	if room := s.existing(name); room != nil {
		s.say(notOnChannel, room.name)
	}
	return nil
}

func (s *Session) topic(message Message) {
	name := message.Param(0)
	if name == "" {
		s.needMore("TOPIC")
	} else if len(message.Params) > 1 {
		if room := s.memberOf(name); room != nil {
			topic := cut(message.Param(1), topicMax)
			room.setTopic(topic, compose(s.prefix, " TOPIC ", room.name, " :", topic))
		}
	} else if room := s.existing(name); room != nil {
		if room.topic == "" {
			s.say(noTopic, room.name)
		} else {
			s.reply("332", room.name, ":"+room.topic)
		}
	}
}

func (s *Session) invite(message Message) {
	nick, name := message.Param(0), message.Param(1)
	if nick == "" || name == "" {
		s.needMore("INVITE")
		return
	}
	guest := s.hall.user(nick)
	if guest == nil {
		s.say(noSuchNick, nick)
		return
	}
	room := s.memberOf(name)
	if room == nil {
		return
	}
	if guest.ownRoom(name) != nil {
		s.say(alreadyOnChannel, guest.nick, room.name)
		return
	}
	s.reply("341", guest.nick, room.name)
	guest.send(s.prefix, " INVITE ", guest.nick, " ", room.name)
}

// kick is refused: nobody is operator.
func (s *Session) kick(message Message) {
	if message.Param(0) == "" || message.Param(1) == "" {
		s.needMore("KICK")
	} else if room := s.memberOf(message.Param(0)); room != nil {
		s.say(noChannelOperator, room.name)
	}
}

func (s *Session) names(message Message) {
	list := message.Param(0)
	if list == "" {
		s.say(endOfNames, "*")
	}
	for _, name := range items(list) {
		if room := s.hall.room(name); room != nil {
			s.namesOf(room)
		} else {
			s.say(endOfNames, name)
		}
	}
}

func (s *Session) namesOf(room *room) {
	nicks := make([]string, len(room.members))
	for i, member := range room.members {
		nicks[i] = member.nick
	}
	s.replyList("353", nicks, "=", room.name)
	s.say(endOfNames, room.name)
}

func (s *Session) list(message Message) {
	var rooms []*room
	if list := message.Param(0); list == "" {
		rooms = s.hall.allRooms()
	} else {
		for _, name := range items(list) {
			if room := s.hall.room(name); room != nil {
				rooms = append(rooms, room)
			}
		}
	}
	s.say(listStart, "Channel")
	for _, room := range rooms {
		s.reply("322", room.name, strconv.Itoa(len(room.members)), ":"+room.topic)
	}
	s.say(endOfList)
}
