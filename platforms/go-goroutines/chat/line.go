package chat

import "unicode/utf8"

// ClosingLine encodes the last line that the server sends on a connection.
func ClosingLine(reason string) []byte {
	return compose("ERROR :Closing link: (", reason, ")")
}

// compose concatenates parts to a line with CR LF, truncated if it is too long.
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

// cut truncates text to at most max bytes, not inside a UTF-8 character.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	// A character has at most 3 continuation bytes. More are not UTF-8, and any cut will do.
	for at := max; at >= 0 && at >= max-3; at-- {
		if utf8.RuneStart(text[at]) {
			return text[:at]
		}
	}
	return text[:max]
}
