package brokerage

import (
	"net/http"

	"klatch/pgx/web"
)

const (
	userCookie  = "user"
	ordersShown = 5
	quotesMax   = 10
	quantityMax = 200
	balanceMax  = 1 << 62
	numberMax   = 1<<63 - 1
)

// site serves the requests of workload trade.
type site struct {
	database *Database
	quotes   int
}

// NewSite returns the handler of a brokerage. quotes is the number of its quotes.
func NewSite(database *Database, quotes int) http.Handler {
	s := site{database, quotes}
	return web.Site{
		Root: "/trade/",
		Gets: map[string]web.Handler{
			"home":       s.home,
			"quotes":     s.showQuotes,
			"account":    s.account,
			"portfolio":  s.portfolio,
			"statistics": func(*web.Request) (any, error) { return s.database.Statistics(), nil },
		},
		Posts: map[string]web.Handler{
			"login":    s.login,
			"logout":   s.logout,
			"register": s.register,
			"update":   s.update,
			"buy":      s.buy,
			"sell":     s.sell,
		},
	}
}

// userOf returns the user of the cookie.
func userOf(r *web.Request) (int64, error) {
	cookie, err := r.Cookie(userCookie)
	if err != nil || cookie.Value == "" {
		return 0, web.Refuse(http.StatusBadRequest, "the cookie user is missing: log in first")
	}
	return web.ParseNumber(cookie.Value, 0, numberMax)
}

// existing parses a symbol.
func (s site) existing(digits string) (int, error) {
	symbol, err := web.ParseNumber(digits, 0, 1<<31-1)
	if err == nil && symbol >= int64(s.quotes) {
		err = noQuote(int(symbol))
	}
	return int(symbol), err
}
