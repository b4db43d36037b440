package chat

import "strconv"

// welcome is what a client gets when it has registered.
func (s *Session) welcome() {
	about := &s.hall.identity
	s.reply("001", ":Welcome to "+about.Network+", "+s.prefix[1:])
	s.reply("002", ":Your host is "+about.Name+", running "+about.Version)
	s.reply("003", ":This server was created "+about.Created)
	s.reply("004", about.Name, about.Version, "i", "bn")
	s.reply("005", "AWAYLEN=200", "CASEMAPPING=rfc1459", "CHANLIMIT=#:50", "CHANMODES=b,,,n", "CHANNELLEN=50",
		"CHANTYPES=#", "NETWORK="+about.Network, "NICKLEN=30", "PREFIX=",
		"TARGMAX=JOIN:,LIST:,NAMES:,NOTICE:4,PART:,PRIVMSG:4,WHOIS:1", "TOPICLEN=300", "USERLEN=16",
		":are supported by this server")
	s.lusers(Message{})
	s.tellMotd()
}

func (s *Session) lusers(Message) {
	users := strconv.Itoa(s.hall.registered)
	s.reply("251", ":There are 0 users and "+users+" invisible on 1 servers")
	s.reply("254", strconv.Itoa(len(s.hall.rooms)), ":channels formed")
	s.reply("255", ":I have "+users+" clients and 0 servers")
}

func (s *Session) motd(message Message) {
	if s.isHere(message.Param(0)) {
		s.tellMotd()
	}
}

func (s *Session) tellMotd() {
	about := &s.hall.identity
	if len(about.MOTD) == 0 {
		s.say(noMotd)
		return
	}
	s.reply("375", ":- "+about.Name+" Message of the day -")
	for _, text := range about.MOTD {
		s.reply("372", ":- "+text)
	}
	s.say(endOfMotd)
}

func (s *Session) version(message Message) {
	if about := &s.hall.identity; s.isHere(message.Param(0)) {
		s.reply("351", about.Version, about.Name, ":"+about.Network)
	}
}

// isHere tells whether a question is for this server, the only one; if not, the client hears so.
func (s *Session) isHere(server string) bool {
	here := server == "" || Same(server, s.hall.identity.Name)
	if !here {
		s.say(noSuchServer, server)
	}
	return here
}

func (s *Session) ping(message Message) {
	server := s.hall.identity.Name
	if token := message.Param(0); token != "" {
		s.send(":", server, " PONG ", server, " :", token)
	} else {
		s.say(noOrigin)
	}
}

func (s *Session) oper(message Message) {
	if message.Param(1) == "" {
		s.needMore("OPER")
	} else {
		s.say(noOperHost)
	}
}
