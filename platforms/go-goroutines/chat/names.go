package chat

import "strings"

const (
	nickMax    = 30
	channelMax = 50
)

// ValidNick reports whether a name has 1 to 30 letters, digits and []\`_^{|}-, and does not start with a digit or -.
func ValidNick(name string) bool {
	for i := 0; i < len(name); i++ {
		b := name[i]
		first := isLetter(b) || strings.IndexByte("[]\\`_^{|}", b) >= 0
		if !first && (i == 0 || b != '-' && !isDigit(b)) {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= nickMax
}

// ValidChannel reports whether a name is a # and 1 to 49 bytes more, none of them a space, comma, colon or control byte.
func ValidChannel(name string) bool {
	for i := 0; i < len(name); i++ {
		if b := name[i]; b <= ' ' || b == 127 || b == ',' || b == ':' {
			return false
		}
	}
	return 2 <= len(name) && len(name) <= channelMax && name[0] == '#'
}

// Fold folds the case of a name as in RFC 1459 (casemapping rfc1459).
func Fold(name string) string {
	folded := []byte(name)
	for i, b := range folded {
		switch {
		case 'A' <= b && b <= ']': // the letters, and [ \ ] after them
			folded[i] = b + 32
		case b == '~':
			folded[i] = '^'
		}
	}
	return string(folded)
}

// Same reports whether two names are equal after folding.
func Same(a, b string) bool {
	return a == b || len(a) == len(b) && Fold(a) == Fold(b)
}

func isLetter(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

func isDigit(b byte) bool {
	return '0' <= b && b <= '9'
}
