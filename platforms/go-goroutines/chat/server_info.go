package chat

import "strconv"

// welcome sends the replies to a completed registration.
func (s *Session) welcome() {
	identity := &s.server.identity
	s.reply("001", ":Welcome to "+identity.Network+", "+s.prefix[1:])
	s.reply("002", ":Your host is "+identity.Name+", running "+identity.Version)
	s.reply("003", ":This server was created "+identity.Created)
	s.reply("004", identity.Name, identity.Version, "i", "bn")
	s.reply("005", "AWAYLEN=200", "CASEMAPPING=rfc1459", "CHANLIMIT=#:50", "CHANMODES=b,,,n", "CHANNELLEN=50",
		"CHANTYPES=#", "NETWORK="+identity.Network, "NICKLEN=30", "PREFIX=",
		"TARGMAX=JOIN:,LIST:1,NAMES:1,NOTICE:4,PART:,PRIVMSG:4,WHOIS:1", "TOPICLEN=300", "USERLEN=16",
		":are supported by this server")
	s.lusers(Message{})
	s.sendMotd()
}

func (s *Session) lusers(Message) {
	users := strconv.Itoa(s.server.registered)
	s.reply("251", ":There are 0 users and "+users+" invisible on 1 servers")
	s.reply("254", strconv.Itoa(len(s.server.rooms)), ":channels formed")
	s.reply("255", ":I have "+users+" clients and 0 servers")
}

func (s *Session) motd(message Message) {
	if s.isForThisServer(message.Param(0)) {
		s.sendMotd()
	}
}

func (s *Session) sendMotd() {
	identity := &s.server.identity
	if len(identity.MOTD) == 0 {
		s.replyNumeric(noMotd)
		return
	}
	s.reply("375", ":- "+identity.Name+" Message of the day -")
	for _, text := range identity.MOTD {
		s.reply("372", ":- "+text)
	}
	s.replyNumeric(endOfMotd)
}

func (s *Session) version(message Message) {
	if identity := &s.server.identity; s.isForThisServer(message.Param(0)) {
		s.reply("351", identity.Version, identity.Name, ":"+identity.Network)
	}
}

// isForThisServer reports whether server is empty or this server's name; otherwise it replies noSuchServer.
func (s *Session) isForThisServer(server string) bool {
	matches := server == "" || Same(server, s.server.identity.Name)
	if !matches {
		s.replyNumeric(noSuchServer, server)
	}
	return matches
}

func (s *Session) ping(message Message) {
	server := s.server.identity.Name
	if token := message.Param(0); token != "" {
		s.send(":", server, " PONG ", server, " :", token)
	} else {
		s.replyNumeric(noOrigin)
	}
}

func (s *Session) oper(message Message) {
	if message.Param(1) == "" {
		s.replyNeedMoreParams("OPER")
	} else {
		s.replyNumeric(noOperHost)
	}
}
