package chat

import "strings"

const paramsMax = 15

// Message is a line taken apart.
type Message struct {
	// Prefix is who it comes from, without the colon; empty if it does not say.
	Prefix string
	// Command is the command or numeric in the spelling of the sender; never empty.
	Command string
	// Params are at most 15; the last one is without its colon.
	Params []string
}

// Parse takes a line without its ending apart. It is not ok if the line has no command.
func Parse(line string) (message Message, ok bool) {
	rest := skipSpaces(line)
	if strings.HasPrefix(rest, ":") {
		message.Prefix, rest = splitWord(rest[1:])
	}
	message.Command, rest = splitWord(rest)
	for rest != "" {
		var word string
		if rest[0] == ':' || len(message.Params) == paramsMax-1 {
			word, rest = strings.TrimPrefix(rest, ":"), ""
		} else {
			word, rest = splitWord(rest)
		}
		message.Params = append(message.Params, word)
	}
	return message, message.Command != ""
}

// Param is the parameter number index (from 0), empty if it is missing.
func (m Message) Param(index int) string {
	if index < len(m.Params) {
		return m.Params[index]
	}
	return ""
}

// splitWord returns the text up to the first space, and what follows the spaces.
func splitWord(text string) (word, rest string) {
	if at := strings.IndexByte(text, ' '); at >= 0 {
		return text[:at], skipSpaces(text[at:])
	}
	return text, ""
}

func skipSpaces(text string) string {
	return strings.TrimLeft(text, " ")
}

// items are the parts of a list with commas; empty ones do not count.
func items(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// upper changes ASCII letters only: no other letter may become a part of a command.
func upper(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, text)
}
