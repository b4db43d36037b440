package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// speaker is one client of a dialogue.
type speaker struct {
	t             *testing.T
	session       *Session
	lines         []string
	closed        bool
	closeExpected bool
}

func (s *speaker) Send(line []byte) {
	text := string(line)
	if len(text) > LineMax || !strings.HasSuffix(text, "\r\n") {
		s.t.Errorf("%d bytes, or no CR LF at the end: %q", len(text), text)
	}
	s.lines = append(s.lines, strings.TrimSuffix(text, "\r\n"))
}

func (s *speaker) Registered() {}

func (s *speaker) IsOpen() bool { return true }

func (s *speaker) nextLine() (line string, ok bool) {
	if len(s.lines) == 0 {
		return "", false
	}
	line, s.lines = s.lines[0], s.lines[1:]
	return line, true
}

func (s *speaker) feed(text string) {
	if s.closed {
		s.t.Error("the connection is closed")
	}
	s.closed = !s.session.Feed([]byte(text))
}

// act performs one step of a dialogue; the marks are in vectors/README.md.
func (s *speaker) act(mark string) {
	mark, text, _ := strings.Cut(mark, " ")
	text = unescape(s.t, text)
	switch mark {
	case ">":
		s.feed(text + "\r\n")
	case ">>":
		s.feed(text)
	case "<":
		if line, ok := s.nextLine(); !ok || line != text {
			s.t.Errorf("got %q (%v), want %q", line, ok, text)
		}
	case "<<":
		for {
			line, ok := s.nextLine()
			if !ok {
				s.t.Errorf("no %s received", text)
				return
			}
			if message, _ := Parse(line); message.Command == text {
				return
			}
		}
	case "<x":
		s.closeExpected = true
		if !s.closed || len(s.lines) > 0 {
			s.t.Errorf("closed is %v, unread lines: %q", s.closed, s.lines)
		}
	case ">x":
		s.session.HangUp("Connection closed")
	default:
		s.t.Errorf("%s is not in vectors/README.md", mark)
	}
}

func play(t *testing.T, script string) {
	state := NewServerState(Identity{"klatch.test", "klatch-test", "2000-01-01", "Klatch", []string{"Come in and talk."}})
	speakers := map[string]*speaker{}
	for number, step := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if step == "" || step[0] == '#' {
			continue
		}
		at := strings.IndexAny(step, "<>")
		current := speakers[step[:at]]
		if current == nil {
			current = &speaker{t: t}
			current.session = state.OpenSession("127.0.0.1", current)
			speakers[step[:at]] = current
		}
		if current.act(step[at:]); t.Failed() {
			t.Fatalf("at line %d: %s", number+1, step)
		}
	}
	for name, speaker := range speakers {
		if len(speaker.lines) > 0 || speaker.closed != speaker.closeExpected {
			t.Errorf("at the end %s is closed: %v, unread lines: %q", name, speaker.closed, speaker.lines)
		}
	}
}

func TestDialogues(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(vectors, "dialogues", "*.txt"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("dialogues are missing: %v, %v", paths, err)
	}
	for _, path := range paths {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) { play(t, string(script)) })
	}
}

func TestIPv6HostIsNotParsedAsTrailingParameter(t *testing.T) {
	ann := &speaker{t: t}
	ann.session = NewServerState(Identity{Name: "a.b", Network: "N"}).OpenSession("::1", ann)
	ann.feed("NICK ann\r\nUSER ann 0 * :Ann\r\n")
	ann.act("< :a.b 001 ann :Welcome to N, ann!ann@0::1")
	ann.act("<< 422") // there is no message of the day
}
