package chat

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// vectors is the folder of the test vectors of all implementations.
const vectors = "../../../vectors"

func readVectors(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, file))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unescape replaces the escapes in a string.
func unescape(t *testing.T, text string) string {
	t.Helper()
	var plain strings.Builder
	for text != "" {
		size := 1
		switch {
		case text[0] != '\\':
			plain.WriteByte(text[0])
		case strings.HasPrefix(text, `\x`) && len(text) >= 4:
			value, err := strconv.ParseUint(text[2:4], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			plain.WriteByte(byte(value))
			size = 4
		case len(text) >= 2 && strings.IndexByte(`rn0\`, text[1]) >= 0:
			plain.WriteByte("\r\n\x00\\"[strings.IndexByte(`rn0\`, text[1])])
			size = 2
		default:
			t.Fatalf("escape is not in vectors/README.md: %s", text)
		}
		text = text[size:]
	}
	return plain.String()
}

func TestParse(t *testing.T) {
	var vectors struct {
		Lines []struct {
			Line, Prefix, Command, Error string
			Params                       []string
		}
	}
	readVectors(t, "parse.json", &vectors)
	if len(vectors.Lines) == 0 {
		t.Fatal("no lines")
	}
	for _, want := range vectors.Lines {
		got, ok := Parse(want.Line)
		if ok != (want.Error == "") {
			t.Errorf("%q: ok is %v", want.Line, ok)
			continue
		}
		if !ok {
			continue
		}
		params := append([]string{}, got.Params...) // none is not nil in the vectors
		if got.Prefix != want.Prefix || got.Command != want.Command || !reflect.DeepEqual(params, want.Params) {
			t.Errorf("%q: got %+v, want %+v", want.Line, got, want)
		}
	}
}

// framingEvent is an event in the form of the vectors.
type framingEvent struct {
	Line    string
	TooLong bool `json:"too_long"`
	Nul     bool
}

func frame(chunks ...[]byte) []framingEvent {
	var framer Framer
	events := []framingEvent{}
	for _, input := range chunks {
		for event := Line; event != None; {
			var line []byte
			event, line, input = framer.Next(input)
			if event != None {
				events = append(events, framingEvent{string(line), event == TooLong, event == NUL})
			}
		}
	}
	return events
}

func TestFraming(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Name   string
			Chunks []string
			Events []framingEvent
		}
	}
	readVectors(t, "framing.json", &vectors)
	if len(vectors.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, test := range vectors.Cases {
		var chunks [][]byte
		for _, chunk := range test.Chunks {
			chunks = append(chunks, []byte(unescape(t, chunk)))
		}
		for i := range test.Events {
			test.Events[i].Line = unescape(t, test.Events[i].Line)
		}
		whole := bytes.Join(chunks, nil)
		var single [][]byte
		for i := range whole {
			single = append(single, whole[i:i+1])
		}
		for how, got := range map[string][]framingEvent{
			"as given":     frame(chunks...),
			"all at once":  frame(whole),
			"byte by byte": frame(single...),
		} {
			if !reflect.DeepEqual(got, test.Events) {
				t.Errorf("%s, %s: got %+v, want %+v", test.Name, how, got, test.Events)
			}
		}
	}
}

func TestNames(t *testing.T) {
	type name struct {
		Name  string
		Valid bool
	}
	var vectors struct {
		Nicks, Channels []name
		Folds           []struct {
			A, B string
			Same bool
		}
	}
	readVectors(t, "names.json", &vectors)
	if len(vectors.Nicks) == 0 || len(vectors.Channels) == 0 || len(vectors.Folds) == 0 {
		t.Fatal("no names")
	}
	for _, test := range vectors.Nicks {
		if ValidNick(test.Name) != test.Valid {
			t.Errorf("nick %q: valid is not %v", test.Name, test.Valid)
		}
	}
	for _, test := range vectors.Channels {
		if ValidChannel(test.Name) != test.Valid {
			t.Errorf("channel %q: valid is not %v", test.Name, test.Valid)
		}
	}
	for _, test := range vectors.Folds {
		if Same(test.A, test.B) != test.Same || (Fold(test.A) == Fold(test.B)) != test.Same {
			t.Errorf("%q and %q: same is not %v", test.A, test.B, test.Same)
		}
	}
}

// No other letter may become an ASCII letter: a dotless i is not the I of JOIN.
func TestOnlyASCIIFoldsInCommands(t *testing.T) {
	for _, word := range []string{"joın", "paſs", "PA\xdf"} {
		if got := upper(word); got == "JOIN" || got == "PASS" {
			t.Errorf("%q became %s", word, got)
		}
	}
	if upper("Join") != "JOIN" {
		t.Error("Join did not become JOIN")
	}
}
