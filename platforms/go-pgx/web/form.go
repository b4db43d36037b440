package web

import (
	"net/http"
	"strconv"
	"strings"
)

const textMax = 100

// Form has the values of a form, whose fields are in a given order and without escapes.
type Form []string

// ParseForm parses a body or query that has exactly these fields.
func ParseForm(text string, names ...string) (Form, error) {
	fields := strings.Split(text, "&")
	matches := len(fields) == len(names)
	for i := 0; matches && i < len(names); i++ {
		var name string
		name, fields[i], matches = strings.Cut(fields[i], "=")
		matches = matches && name == names[i]
	}
	if !matches {
		return nil, Refuse(http.StatusBadRequest, "the request must have the fields %s", strings.Join(names, ", "))
	}
	return fields, nil
}

// Text returns the field at an index, which has no character that JSON would escape.
func (f Form) Text(index int) (string, error) {
	escaped := func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }
	if value := f[index]; len(value) <= textMax && strings.IndexFunc(value, escaped) < 0 {
		return value, nil
	}
	return "", Refuse(http.StatusBadRequest, "a field has more than plain text")
}

// ParseNumber parses a number from least to most.
func ParseNumber(digits string, least, most int64) (int64, error) {
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || value < least || value > most || digits[0] == '+' || digits[0] == '-' {
		return 0, Refuse(http.StatusBadRequest, "a number from %d to %d is needed", least, most)
	}
	return value, nil
}
