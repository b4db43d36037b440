package brokerage

import (
	"net/http"
	"strconv"
	"strings"
)

const textMax = 100

// form is the values of a form, whose fields are in a given order and without escapes.
type form []string

// parseForm parses a form that has exactly these fields.
func parseForm(body string, names ...string) (form, error) {
	fields := strings.Split(body, "&")
	matches := len(fields) == len(names)
	for i := 0; matches && i < len(names); i++ {
		var name string
		name, fields[i], matches = strings.Cut(fields[i], "=")
		matches = matches && name == names[i]
	}
	if !matches {
		return nil, refuse(http.StatusBadRequest, "the body must have the fields %s", strings.Join(names, ", "))
	}
	return fields, nil
}

// text returns the field at an index, which has no character that JSON would escape.
func (f form) text(index int) (string, error) {
	escaped := func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }
	if value := f[index]; len(value) <= textMax && strings.IndexFunc(value, escaped) < 0 {
		return value, nil
	}
	return "", refuse(http.StatusBadRequest, "a field has more than plain text")
}

// number parses a number from least to most.
func number(digits string, least, most int64) (int64, error) {
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || value < least || value > most || digits[0] == '+' || digits[0] == '-' {
		return 0, refuse(http.StatusBadRequest, "a number from %d to %d is needed", least, most)
	}
	return value, nil
}
