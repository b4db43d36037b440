package brokerage

import (
	"fmt"
	"net/http"
)

// refused is a request that is not carried out, with the status of its reply.
type refused struct {
	status int
	reason string
}

func (r refused) Error() string {
	return r.reason
}

func refuse(status int, format string, values ...any) error {
	return refused{status, fmt.Sprintf(format, values...)}
}

func unknownUser(user int64) error {
	return refuse(http.StatusUnauthorized, "user %d is unknown", user)
}

func noQuote(symbol int) error {
	return refuse(http.StatusNotFound, "there is no quote %d", symbol)
}
