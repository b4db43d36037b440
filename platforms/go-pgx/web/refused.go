// Package web has what the applications share of HTTP: forms, refusals, and replies in JSON.
package web

import "fmt"

// Refused is the error of a request that is not carried out, with the status of its reply.
type Refused struct {
	Status int
	Reason string
}

func (r Refused) Error() string {
	return r.Reason
}

// Refuse returns a Refused. The reason has no character that JSON would escape.
func Refuse(status int, format string, values ...any) error {
	return Refused{status, fmt.Sprintf(format, values...)}
}
