package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// speaker is one client of a dialogue.
type speaker struct {
	t            *testing.T
	session      *Session
	lines        []string
	closed       bool
	closedWanted bool
}

func (s *speaker) Send(line []byte) {
	text := string(line)
	if len(text) > LineMax || !strings.HasSuffix(text, "\r\n") {
		s.t.Errorf("%d bytes, or no CR LF at the end: %q", len(text), text)
	}
	s.lines = append(s.lines, strings.TrimSuffix(text, "\r\n"))
}

func (s *speaker) Registered() {}

func (s *speaker) hear() (line string, ok bool) {
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

// act does one step of a dialogue; the marks are in vectors/README.md.
func (s *speaker) act(mark string) {
	mark, text, _ := strings.Cut(mark, " ")
	text = unescape(s.t, text)
	switch mark {
	case ">":
		s.feed(text + "\r\n")
	case ">>":
		s.feed(text)
	case "<":
		if line, ok := s.hear(); !ok || line != text {
			s.t.Errorf("got %q (%v), want %q", line, ok, text)
		}
	case "<<":
		for {
			line, ok := s.hear()
			if !ok {
				s.t.Errorf("no %s came", text)
				return
			}
			if message, _ := Parse(line); message.Command == text {
				return
			}
		}
	case "<x":
		s.closedWanted = true
		if !s.closed || len(s.lines) > 0 {
			s.t.Errorf("closed is %v, left are %q", s.closed, s.lines)
		}
	case ">x":
		s.session.HangUp("Connection closed")
	default:
		s.t.Errorf("vectors/README.md does not know %s", mark)
	}
}

func play(t *testing.T, script string) {
	hall := NewHall(Identity{"klatch.test", "klatch-test", "2000-01-01", "Klatch", []string{"Come in and talk."}})
	speakers := map[string]*speaker{}
	for number, step := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if step == "" || step[0] == '#' {
			continue
		}
		at := strings.IndexAny(step, "<>")
		who := speakers[step[:at]]
		if who == nil {
			who = &speaker{t: t}
			who.session = hall.Enter("127.0.0.1", who)
			speakers[step[:at]] = who
		}
		if who.act(step[at:]); t.Failed() {
			t.Fatalf("at line %d: %s", number+1, step)
		}
	}
	for name, speaker := range speakers {
		if len(speaker.lines) > 0 || speaker.closed != speaker.closedWanted {
			t.Errorf("at the end %s is closed: %v, has left: %q", name, speaker.closed, speaker.lines)
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

func TestIPv6HostsDoNotLookLikeAText(t *testing.T) {
	ann := &speaker{t: t}
	ann.session = NewHall(Identity{Name: "a.b", Network: "N"}).Enter("::1", ann)
	ann.feed("NICK ann\r\nUSER ann 0 * :Ann\r\n")
	ann.act("< :a.b 001 ann :Welcome to N, ann!ann@0::1")
	ann.act("<< 422") // there is no message of the day
}
