package chat

import "unicode/utf8"

// ClosingLine is the line that a connection gets before it is closed.
func ClosingLine(reason string) []byte {
	return compose("ERROR :Closing link: (", reason, ")")
}

// compose makes a line from its parts, cut if it is too long.
func compose(parts ...string) []byte {
	size := len("\r\n")
	for _, part := range parts {
		size += len(part)
	}
	line := make([]byte, 0, size)
	for _, part := range parts {
		line = append(line, part...)
	}
	if len(line) > ContentMax {
		line = line[:len(cut(string(line), ContentMax))]
	}
	return append(line, "\r\n"...)
}

// cut returns at most max bytes from the front, not ending inside a UTF-8 character.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	// A character has at most 3 bytes after its first; more of that kind are not UTF-8, and any place is as good.
	for at := max; at >= 0 && at >= max-3; at-- {
		if utf8.RuneStart(text[at]) {
			return text[:at]
		}
	}
	return text[:max]
}
