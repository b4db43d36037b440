package brokerage

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

const (
	root        = "/trade/"
	bodyMax     = 64 << 10
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

// request is an HTTP request with what its handlers need.
type request struct {
	*http.Request
	body string
	// cookie is what the reply sets for the cookie user; nil for none.
	cookie *string
}

type handler func(site, *request) (any, error)

var gets = map[string]handler{
	"home":       site.home,
	"quotes":     site.showQuotes,
	"account":    site.account,
	"portfolio":  site.portfolio,
	"statistics": func(s site, _ *request) (any, error) { return s.database.Statistics(), nil },
}

var posts = map[string]handler{
	"login":    site.login,
	"logout":   site.logout,
	"register": site.register,
	"update":   site.update,
	"buy":      site.buy,
	"sell":     site.sell,
}

// NewSite returns the handler of a brokerage with so many quotes.
func NewSite(database *Database, quotes int) http.Handler {
	return site{database, quotes}
}

// ServeHTTP implements http.Handler.
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := &request{Request: r}
	reply, err := s.reply(request)
	status := http.StatusOK
	if err != nil {
		var known refused
		if !errors.As(err, &known) {
			known = refused{http.StatusInternalServerError, "the database failed: " + plain(err.Error())}
		}
		status, reply = known.status, map[string]string{"error": known.reason}
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(reply); err != nil {
		panic(err) // numbers and plain texts always have a JSON form
	}
	body.Truncate(body.Len() - 1) // the encoder ends the line
	if request.cookie != nil {
		w.Header().Set("Set-Cookie", "user="+*request.cookie)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // fails only if the client has gone
}

func (s site) reply(r *request) (any, error) {
	name := strings.TrimPrefix(r.URL.Path, root)
	get, isGet := gets[name]
	post, isPost := posts[name]
	switch {
	case name == r.URL.Path || !isGet && !isPost:
		return nil, refuse(http.StatusNotFound, "there is no %s", plain(r.URL.Path))
	case isGet && r.Method == http.MethodGet:
		return get(s, r)
	case isPost && r.Method == http.MethodPost:
		body, err := io.ReadAll(io.LimitReader(r.Body, bodyMax))
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "the body is cut off")
		}
		r.body = string(body)
		return post(s, r)
	}
	return nil, refuse(http.StatusMethodNotAllowed, "%s has another method", name)
}

// user returns the user of the cookie.
func (r *request) user() (int64, error) {
	cookie, err := r.Cookie("user")
	if err != nil || cookie.Value == "" {
		return 0, refuse(http.StatusBadRequest, "the cookie user is missing: log in first")
	}
	return number(cookie.Value, 0, numberMax)
}

func (r *request) setCookie(value string) {
	r.cookie = &value
}

// existing parses a symbol.
func (s site) existing(digits string) (int, error) {
	symbol, err := number(digits, 0, 1<<31-1)
	if err == nil && symbol >= int64(s.quotes) {
		err = noQuote(int(symbol))
	}
	return int(symbol), err
}

// plain returns a text without what JSON would escape.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return '?'
		}
		return c
	}, text)
}
