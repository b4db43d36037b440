package chat

import "strings"

const paramsMax = 15

// Message is a parsed line.
type Message struct {
	// Prefix is the source of the message, without the colon; it may be empty.
	Prefix string
	// Command is the command or numeric in the spelling of the sender; never empty.
	Command string
	// Params has at most 15 parameters; the last one is without its colon.
	Params []string
}

// Parse parses a line without its ending; ok is false if the line has no command.
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

// Param returns parameter index, from 0; empty if it is missing.
func (m Message) Param(index int) string {
	if index < len(m.Params) {
		return m.Params[index]
	}
	return ""
}

// splitWord returns the text up to the first space, and the rest after the spaces.
func splitWord(text string) (word, rest string) {
	if at := strings.IndexByte(text, ' '); at >= 0 {
		return text[:at], skipSpaces(text[at:])
	}
	return text, ""
}

func skipSpaces(text string) string {
	return strings.TrimLeft(text, " ")
}

// items splits a list at commas and drops empty parts.
func items(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// upper converts ASCII letters only, so that no other letter can become part of a command.
func upper(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, text)
}
