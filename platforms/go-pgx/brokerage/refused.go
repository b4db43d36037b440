package brokerage

import (
	"net/http"

	"klatch/pgx/web"
)

func unknownUser(user int64) error {
	return web.Refuse(http.StatusUnauthorized, "user %d is unknown", user)
}

func noQuote(symbol int) error {
	return web.Refuse(http.StatusNotFound, "there is no quote %d", symbol)
}
