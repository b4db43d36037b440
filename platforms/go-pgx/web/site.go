package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const bodyMax = 64 << 10

// RequestTimeout is the time for the head of a request to arrive, and then for its body.
const RequestTimeout = 30 * time.Second

// Forever is the time between two requests. Without one, Go 1.19 counts it as a part of the time for the head of the next request.
const Forever = 100 * 365 * 24 * time.Hour

// Request is an HTTP request with what its handler needs.
type Request struct {
	*http.Request
	// BodyText is empty for GET.
	BodyText string
	// cookie is what the reply sets, NAME=VALUE; empty for none.
	cookie string
}

// SetCookie sets a cookie in the reply.
func (r *Request) SetCookie(name, value string) {
	r.cookie = name + "=" + value
}

// Handler returns the reply, which becomes JSON, or the error, which may be a Refused.
type Handler func(*Request) (any, error)

// Site serves the targets below one folder.
type Site struct {
	// Root is the path of the folder, with a slash at both ends.
	Root string
	// Gets and Posts are the targets of the two methods, by their names below the folder.
	Gets, Posts map[string]Handler
}

// ServeHTTP implements http.Handler.
func (s Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := &Request{Request: r}
	reply, err := s.reply(request)
	status := http.StatusOK
	if err != nil {
		var known Refused
		if !errors.As(err, &known) {
			known = Refused{http.StatusInternalServerError, "the database failed: " + plain(err.Error())}
		}
		status, reply = known.Status, map[string]string{"error": known.Reason}
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(reply); err != nil {
		panic(err) // numbers and plain texts always have a JSON form
	}
	body.Truncate(body.Len() - 1) // the encoder ends the line
	if request.cookie != "" {
		w.Header().Set("Set-Cookie", request.cookie)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // fails only if the client has gone
}

func (s Site) reply(r *Request) (any, error) {
	name := strings.TrimPrefix(r.URL.Path, s.Root)
	get, isGet := s.Gets[name]
	post, isPost := s.Posts[name]
	switch {
	case name == r.URL.Path || !isGet && !isPost:
		return nil, Refuse(http.StatusNotFound, "there is no %s", plain(r.URL.Path))
	case isGet && r.Method == http.MethodGet:
		return get(r)
	case isPost && r.Method == http.MethodPost:
		body, err := readBody(r.Request)
		if err != nil {
			return nil, Refuse(http.StatusBadRequest, "the body is cut off")
		}
		r.BodyText = string(body)
		return post(r)
	}
	return nil, Refuse(http.StatusMethodNotAllowed, "%s has another method", name)
}

// readBody reads a body, which has a time limit.
func readBody(r *http.Request) ([]byte, error) {
	// A test has no connection.
	if conn, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		_ = conn.SetReadDeadline(time.Now().Add(RequestTimeout)) // fails only if the connection is broken
		defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	}
	return io.ReadAll(io.LimitReader(r.Body, bodyMax))
}

// connKey is the key of a request's connection in its context. Bodies have a deadline, which Go 1.19 sets in no other way.
type connKey struct{}

// WithConn is the ConnContext of a server of sites.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
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
