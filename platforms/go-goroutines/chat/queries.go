package chat

import "strings"

const userhostMax = 5

// who takes a channel or a nick. Everybody is invisible (+i), so a mask finds nobody.
func (s *Session) who(message Message) {
	mask := message.Param(0)
	if mask == "" {
		mask = "*"
	}
	if room := s.hall.room(mask); room != nil {
		for _, member := range room.members {
			s.whoIsThere(room.name, member)
		}
	} else if user := s.hall.user(mask); user != nil {
		s.whoIsThere("*", user)
	}
	s.say(endOfWho, mask)
}

func (s *Session) whoIsThere(room string, user *Session) {
	here := "H"
	if user.away != "" {
		here = "G"
	}
	server := s.hall.identity.Name
	s.reply("352", room, user.login.user, user.host, server, user.nick, here, ":0 "+user.login.realName)
}

// whois takes a nick; with two parameters the first one is a server, and there is but one.
func (s *Session) whois(message Message) {
	nick := message.Param(1)
	if nick == "" {
		nick = message.Param(0)
	}
	if nick == "" {
		s.say(noNick)
		return
	}
	user := s.hall.user(nick)
	if user == nil {
		s.say(noSuchNick, nick)
		s.say(endOfWhois, nick)
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
	s.reply("312", user.nick, s.hall.identity.Name, ":"+s.hall.identity.Network)
	if user.away != "" {
		s.reply("301", user.nick, ":"+user.away)
	}
	s.say(endOfWhois, user.nick)
}

// whowas: nobody is remembered. Clients ask by themselves when WHOIS finds nobody.
func (s *Session) whowas(message Message) {
	nick := message.Param(0)
	if nick == "" {
		s.say(noNick)
		return
	}
	s.say(wasNoSuchNick, nick)
	s.say(endOfWhowas, nick)
}

func (s *Session) userhost(message Message) {
	nicks := message.Params
	if len(nicks) == 0 {
		s.needMore("USERHOST")
		return
	}
	if len(nicks) > userhostMax {
		nicks = nicks[:userhostMax]
	}
	var found []string
	for _, nick := range nicks {
		if user := s.hall.user(nick); user != nil {
			here := "=+"
			if user.away != "" {
				here = "=-"
			}
			found = append(found, user.nick+here+user.login.user+"@"+user.host)
		}
	}
	s.replyList("302", found)
}

func (s *Session) ison(message Message) {
	if len(message.Params) == 0 {
		s.needMore("ISON")
		return
	}
	var found []string
	for _, nick := range strings.Split(strings.Join(message.Params, " "), " ") {
		if user := s.hall.user(nick); user != nil {
			found = append(found, user.nick)
		}
	}
	s.replyList("303", found)
}
