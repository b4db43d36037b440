//! Numeric replies that always have the same text.

/// A reply code and its fixed text.
pub(crate) struct Numeric {
    pub(crate) code: &'static str,
    pub(crate) text: &'static str,
}

const fn numeric(code: &'static str, text: &'static str) -> Numeric {
    Numeric { code, text }
}

pub(crate) const NOT_AWAY: Numeric = numeric("305", "You are no longer marked as being away");
pub(crate) const NOW_AWAY: Numeric = numeric("306", "You have been marked as being away");
pub(crate) const END_OF_WHO: Numeric = numeric("315", "End of WHO list");
pub(crate) const END_OF_WHOIS: Numeric = numeric("318", "End of /WHOIS list");
pub(crate) const LIST_START: Numeric = numeric("321", "Users  Name");
pub(crate) const END_OF_LIST: Numeric = numeric("323", "End of /LIST");
pub(crate) const NO_TOPIC: Numeric = numeric("331", "No topic is set");
pub(crate) const END_OF_NAMES: Numeric = numeric("366", "End of /NAMES list");
pub(crate) const END_OF_BANS: Numeric = numeric("368", "End of channel ban list");
pub(crate) const END_OF_WHOWAS: Numeric = numeric("369", "End of WHOWAS");
pub(crate) const END_OF_MOTD: Numeric = numeric("376", "End of /MOTD command");
pub(crate) const NO_SUCH_NICK: Numeric = numeric("401", "No such nick/channel");
pub(crate) const NO_SUCH_SERVER: Numeric = numeric("402", "No such server");
pub(crate) const NO_SUCH_CHANNEL: Numeric = numeric("403", "No such channel");
pub(crate) const CANNOT_SEND: Numeric = numeric("404", "Cannot send to channel");
pub(crate) const TOO_MANY_CHANNELS: Numeric = numeric("405", "You have joined too many channels");
pub(crate) const WAS_NO_SUCH_NICK: Numeric = numeric("406", "There was no such nickname");
pub(crate) const TOO_MANY_TARGETS: Numeric = numeric("407", "Too many targets");
pub(crate) const NO_ORIGIN: Numeric = numeric("409", "No origin specified");
pub(crate) const INVALID_CAP: Numeric = numeric("410", "Invalid CAP command");
pub(crate) const NO_RECIPIENT: Numeric = numeric("411", "No recipient given (PRIVMSG)");
pub(crate) const NO_TEXT: Numeric = numeric("412", "No text to send");
pub(crate) const TOO_LONG: Numeric = numeric("417", "Input line was too long");
pub(crate) const UNKNOWN_COMMAND: Numeric = numeric("421", "Unknown command");
pub(crate) const NO_MOTD: Numeric = numeric("422", "MOTD File is missing");
pub(crate) const NO_NICK: Numeric = numeric("431", "No nickname given");
pub(crate) const ERRONEOUS_NICK: Numeric = numeric("432", "Erroneous nickname");
pub(crate) const NICK_IN_USE: Numeric = numeric("433", "Nickname is already in use");
pub(crate) const NOT_ON_CHANNEL: Numeric = numeric("442", "You're not on that channel");
pub(crate) const ALREADY_ON_CHANNEL: Numeric = numeric("443", "is already on channel");
pub(crate) const NOT_REGISTERED: Numeric = numeric("451", "You have not registered");
pub(crate) const NEED_MORE_PARAMS: Numeric = numeric("461", "Not enough parameters");
pub(crate) const ALREADY_REGISTERED: Numeric = numeric("462", "You may not reregister");
pub(crate) const UNKNOWN_MODE: Numeric = numeric("472", "is unknown mode char to me");
pub(crate) const NO_IRC_OPERATOR: Numeric = numeric("481", "Permission Denied- You're not an IRC operator");
pub(crate) const NO_CHANNEL_OPERATOR: Numeric = numeric("482", "You're not channel operator");
pub(crate) const NO_OPER_HOST: Numeric = numeric("491", "No O-lines for your host");
pub(crate) const UNKNOWN_USER_MODE: Numeric = numeric("501", "Unknown MODE flag");
pub(crate) const NOT_YOUR_MODE: Numeric = numeric("502", "Cannot change mode for other users");
