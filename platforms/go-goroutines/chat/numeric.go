package chat

// numeric is a numeric reply with a fixed text.
type numeric struct{ code, text string }

var (
	notAway           = numeric{"305", "You are no longer marked as being away"}
	nowAway           = numeric{"306", "You have been marked as being away"}
	endOfWho          = numeric{"315", "End of WHO list"}
	endOfWhois        = numeric{"318", "End of /WHOIS list"}
	listStart         = numeric{"321", "Users  Name"}
	endOfList         = numeric{"323", "End of /LIST"}
	noTopic           = numeric{"331", "No topic is set"}
	endOfNames        = numeric{"366", "End of /NAMES list"}
	endOfBans         = numeric{"368", "End of channel ban list"}
	endOfWhowas       = numeric{"369", "End of WHOWAS"}
	endOfMotd         = numeric{"376", "End of /MOTD command"}
	noSuchNick        = numeric{"401", "No such nick/channel"}
	noSuchServer      = numeric{"402", "No such server"}
	noSuchChannel     = numeric{"403", "No such channel"}
	cannotSend        = numeric{"404", "Cannot send to channel"}
	tooManyChannels   = numeric{"405", "You have joined too many channels"}
	wasNoSuchNick     = numeric{"406", "There was no such nickname"}
	tooManyTargets    = numeric{"407", "Too many targets"}
	noOrigin          = numeric{"409", "No origin specified"}
	invalidCap        = numeric{"410", "Invalid CAP command"}
	noRecipient       = numeric{"411", "No recipient given (PRIVMSG)"}
	noText            = numeric{"412", "No text to send"}
	inputTooLong      = numeric{"417", "Input line was too long"}
	unknownCommand    = numeric{"421", "Unknown command"}
	noMotd            = numeric{"422", "MOTD File is missing"}
	noNick            = numeric{"431", "No nickname given"}
	erroneousNick     = numeric{"432", "Erroneous nickname"}
	nickInUse         = numeric{"433", "Nickname is already in use"}
	notOnChannel      = numeric{"442", "You're not on that channel"}
	alreadyOnChannel  = numeric{"443", "is already on channel"}
	notRegistered     = numeric{"451", "You have not registered"}
	needMoreParams    = numeric{"461", "Not enough parameters"}
	alreadyRegistered = numeric{"462", "You may not reregister"}
	unknownMode       = numeric{"472", "is unknown mode char to me"}
	noIRCOperator     = numeric{"481", "Permission Denied- You're not an IRC operator"}
	noChannelOperator = numeric{"482", "You're not channel operator"}
	noOperHost        = numeric{"491", "No O-lines for your host"}
	unknownUserMode   = numeric{"501", "Unknown MODE flag"}
	notYourMode       = numeric{"502", "Cannot change mode for other users"}
)
