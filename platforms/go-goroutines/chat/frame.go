package chat

const (
	// LineMax is the longest line in bytes, its ending CR LF included.
	LineMax = 512
	// ContentMax is the longest line in bytes without its ending.
	ContentMax = LineMax - 2
)

// Event is a result of Framer.Next.
type Event int

const (
	// None means that all of the input is used up.
	None Event = iota
	// Line is a line without its ending; never empty.
	Line
	// TooLong is a line of more than ContentMax bytes. It is discarded up to its end.
	TooLong
	// NUL is a NUL in the input. The rest of the input is ignored.
	NUL
)

// Framer splits the bytes of one connection into lines. It copies only lines that arrive in pieces.
type Framer struct {
	partial    []byte
	handed     bool // partial was returned as a line; the next call discards it
	discarding bool
	dead       bool
}

// Next consumes input up to the next event and returns the rest. The line is valid until the next call.
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

// findSpecial returns the index of the first NUL, CR or LF, or len(bytes).
func findSpecial(bytes []byte) int {
	for i, b := range bytes {
		if b == '\n' || b == '\r' || b == 0 {
			return i
		}
	}
	return len(bytes)
}
