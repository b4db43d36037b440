package chat

const (
	// LineMax is the longest line in bytes, its ending CR LF included.
	LineMax = 512
	// ContentMax is the longest line in bytes without its ending.
	ContentMax = LineMax - 2
)

// Event is what a byte of the input brought about.
type Event int

const (
	// None means that all of the input is used up.
	None Event = iota
	// Line is a line without its ending; never empty.
	Line
	// TooLong is a line of more than ContentMax bytes. It is discarded up to its end.
	TooLong
	// NUL is a NUL in the input. Nothing is read after it.
	NUL
)

// Framer cuts the bytes of one connection into lines. It copies only lines that arrive in pieces.
type Framer struct {
	partial    []byte
	handed     bool // partial was handed out as a line and is to be forgotten
	discarding bool
	dead       bool
}

// Next takes bytes from the front of input up to the next event, and returns the rest. The line is valid until the
// next call.
func (f *Framer) Next(input []byte) (event Event, line, rest []byte) {
	if f.handed {
		f.partial, f.handed = f.partial[:0], false
	}
	for !f.dead && len(input) > 0 {
		at := findSpecial(input)
		content := input[:at]
		if !f.discarding && len(f.partial)+at > ContentMax {
			f.partial, f.discarding = f.partial[:0], true
			return TooLong, nil, input[at:]
		}
		if !f.discarding && (at == len(input) || len(f.partial) > 0) {
			f.partial = append(f.partial, content...)
			content = f.partial
		}
		if at == len(input) {
			break
		}
		ending := input[at]
		input = input[at+1:]
		switch {
		case ending == 0:
			f.dead = true
			return NUL, nil, nil
		case f.discarding:
			f.discarding = false
		case len(content) > 0:
			f.handed = len(f.partial) > 0
			return Line, content, input
		}
	}
	return None, nil, nil
}

// findSpecial returns where the first NUL, CR or LF is, or the length of bytes.
func findSpecial(bytes []byte) int {
	for i, b := range bytes {
		if b == '\n' || b == '\r' || b == 0 {
			return i
		}
	}
	return len(bytes)
}
