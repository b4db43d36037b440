package chat

import "strings"

const userhostMax = 5

// who accepts a channel or a nick. All users are invisible (+i), so a mask matches none.
func (s *Session) who(message Message) {
	mask := message.Param(0)
	if mask == "" {
		mask = "*"
	}
	if room := s.server.room(mask); room != nil {
		for _, member := range room.members {
			if !s.client.IsOpen() {
				return
			}
			s.replyWho(room.name, member)
		}
	} else if user := s.server.user(mask); user != nil {
		s.replyWho("*", user)
	}
	s.replyNumeric(endOfWho, mask)
}

func (s *Session) replyWho(room string, user *Session) {
	status := "H"
	if user.away != "" {
		status = "G"
	}
	server := s.server.identity.Name
	s.reply("352", room, user.login.user, user.host, server, user.nick, status, ":0 "+user.login.realName)
}

// whois accepts a nick. Of two parameters the first names a server and is ignored.
func (s *Session) whois(message Message) {
	nick := message.Param(1)
	if nick == "" {
		nick = message.Param(0)
	}
	if nick == "" {
		s.replyNumeric(noNick)
		return
	}
	user := s.server.user(nick)
	if user == nil {
		s.replyNumeric(noSuchNick, nick)
		s.replyNumeric(endOfWhois, nick)
		return
	}
	s.reply("311", user.nick, user.login.user, user.host, "*", ":"+user.login.realName)
	if len(user.rooms) > 0 {
		rooms := append([]*room(nil), user.rooms...)
		sortRooms(rooms)
		names := make([]string, len(rooms))
		for i, room := range rooms {
			names[i] = room.name
		}
		s.replyList("319", names, user.nick)
	}
	s.reply("312", user.nick, s.server.identity.Name, ":"+s.server.identity.Network)
	if user.away != "" {
		s.reply("301", user.nick, ":"+user.away)
	}
	s.replyNumeric(endOfWhois, user.nick)
}

// whowas replies that the nick was not in use: there is no history. Clients send it after a failed WHOIS.
func (s *Session) whowas(message Message) {
	nick := message.Param(0)
	if nick == "" {
		s.replyNumeric(noNick)
		return
	}
	s.replyNumeric(wasNoSuchNick, nick)
	s.replyNumeric(endOfWhowas, nick)
}

func (s *Session) userhost(message Message) {
	nicks := message.Params
	if len(nicks) == 0 {
		s.replyNeedMoreParams("USERHOST")
		return
	}
	if len(nicks) > userhostMax {
		nicks = nicks[:userhostMax]
	}
	var replies []string
	for _, nick := range nicks {
		if user := s.server.user(nick); user != nil {
			status := "=+"
			if user.away != "" {
				status = "=-"
			}
			replies = append(replies, user.nick+status+user.login.user+"@"+user.host)
		}
	}
	s.replyList("302", replies)
}

func (s *Session) ison(message Message) {
	if len(message.Params) == 0 {
		s.replyNeedMoreParams("ISON")
		return
	}
	var nicks []string
	for _, nick := range strings.Split(strings.Join(message.Params, " "), " ") {
		if user := s.server.user(nick); user != nil {
			nicks = append(nicks, user.nick)
		}
	}
	s.replyList("303", nicks)
}
