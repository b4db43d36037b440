package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	headBytesMax = 8 << 10
	// headSlopBytes is what net/http adds to its limit of a head.
	headSlopBytes = 4 << 10
	// sharedBytesMin is the size from which another write costs less than a copy. Only files of class 3, which have no
	// tags, and the post log are that large.
	sharedBytesMin = 100 << 10
)

// site answers the requests of all connections.
type site struct {
	seed   uint64
	store  *store
	tables atomic.Pointer[tables]
	posts  postLog
	pages  sync.Pool // of *bytes.Buffer, for whole pages

	requestTimeout time.Duration
}

// connKey is the key of a request's connection in its context. Bodies have a deadline, which Go 1.19 sets in no other way.
type connKey struct{}

// forever is the time between two requests. Without one, Go 1.19 counts it as a part of the time for the head of the next request.
const forever = 100 * 365 * 24 * time.Hour

// NewServer returns a server of a site with 1 to DirectoriesMax directories. The head of a request and its body have a time
// limit each. There is none between requests, because a line may be idle there.
func NewServer(seed uint64, directories int, requestTimeout time.Duration, logger *log.Logger) *http.Server {
	s := &site{seed: seed, store: newStore(seed, directories), requestTimeout: requestTimeout}
	s.tables.Store(newTables(seed, defaultTables))
	s.pages.New = func() any { return new(bytes.Buffer) }
	return &http.Server{
		Handler: s, MaxHeaderBytes: headBytesMax - headSlopBytes, ReadHeaderTimeout: requestTimeout, IdleTimeout: forever, ErrorLog: logger,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
	}
}

// ServeHTTP implements http.Handler.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status := checkHead(r); status != http.StatusOK {
		w.Header().Set("Connection", "close")
		refuse(w, status)
		return
	}
	target := parseTarget(r.RequestURI)
	allowed := http.MethodGet
	if target.kind == formTarget {
		allowed = http.MethodPost
	}
	switch {
	case target.kind == noTarget:
		refuse(w, http.StatusNotFound)
	case r.Method != allowed:
		w.Header().Set("Allow", allowed)
		refuse(w, http.StatusMethodNotAllowed)
	case !s.store.has(target.file):
		refuse(w, http.StatusNotFound)
	default:
		s.serve(w, r, target)
	}
}

// serve replies to a request for a target that exists, with the right method.
func (s *site) serve(w http.ResponseWriter, r *http.Request, target target) {
	page := page{script: dynamicPath, query: target.query}
	switch target.kind {
	case fileTarget:
		file := s.store.file(target.file)
		writeHead(w, len(file))
		_, _ = w.Write(file) // fails only if the connection is broken, which net/http detects
		return
	case pageTarget:
		page.content = s.store.file(target.file)
		cookie, found, ok := parseCookie(r.Header.Get("Cookie"))
		if found && !ok {
			refuse(w, http.StatusBadRequest)
			return
		}
		if found {
			s.addAd(&page, target.file, cookie)
		}
	case cgiTarget:
		page.script, page.content = cgiPath, s.store.file(target.file)
	case formTarget:
		if status := s.post(&page, r); status != http.StatusOK {
			if status == http.StatusRequestTimeout {
				w.Header().Set("Connection", "close")
			}
			refuse(w, status)
			return
		}
	case resetTarget:
		s.tables.Store(newTables(s.seed, target.tables))
		s.posts.clear()
	case fetchTarget:
		page.content = s.posts.text()
	}
	s.send(w, r, &page)
}

// addAd chooses the ad that a page shows to a user.
func (s *site) addAd(page *page, file fileID, cookie userCookie) {
	choice := s.tables.Load().choose(cookie.user, cookie.lastAd)
	page.cookie = choice.cookie()
	if choice.ad >= 0 {
		page.rotate = func(content []byte) { s.store.content.rotate(content, file, choice.ad) }
	}
}

// post logs a POST and completes the page. It returns the status of the reply.
func (s *site) post(page *page, r *http.Request) int {
	body, err := s.readBody(r)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return http.StatusRequestTimeout
	}
	form, formOK := parseForm(string(body))
	cookie, _, cookieOK := parseCookie(r.Header.Get("Cookie"))
	if err != nil || !formOK || !cookieOK {
		return http.StatusBadRequest
	}
	if !s.store.has(form.file) {
		return http.StatusNotFound
	}
	if !s.posts.append(s.tables.Load().nowS, form, cookie.user) {
		return http.StatusServiceUnavailable
	}
	page.cookie = "my_cookie=" + strconv.Itoa(firstUser+cookie.user)
	page.content = s.store.file(form.file)
	return http.StatusOK
}

// readBody reads a body within the time limit. In HTTP/2 there is none, as the connection has other streams.
func (s *site) readBody(r *http.Request) ([]byte, error) {
	if r.ProtoMajor == 2 {
		return io.ReadAll(r.Body)
	}
	conn := r.Context().Value(connKey{}).(net.Conn)
	_ = conn.SetReadDeadline(time.Now().Add(s.requestTimeout)) // fails only if the connection is broken
	body, err := io.ReadAll(r.Body)
	_ = conn.SetReadDeadline(time.Time{})
	return body, err
}

// page is the reply to a request for anything but a file.
type page struct {
	script, query string
	cookie        string               // the value of the header Set-Cookie, if not empty
	content       []byte               // what the frame contains; shared, so it must not be changed
	rotate        func(content []byte) // changes the tags in a copy of content; nil if they stay as they are
}

func (s *site) send(w http.ResponseWriter, r *http.Request, page *page) {
	buffer := s.pages.Get().(*bytes.Buffer)
	defer s.pages.Put(buffer)
	buffer.Reset()
	remote, _, _ := net.SplitHostPort(r.RemoteAddr)
	writeFrame(buffer, remote, page.script, page.query)
	frameBytes := buffer.Len()
	if page.cookie != "" {
		w.Header().Set("Set-Cookie", page.cookie)
	}
	writeHead(w, frameBytes+len(page.content)+len(frameEnd))
	// Writes fail only if the connection is broken, which net/http detects.
	if len(page.content) >= sharedBytesMin {
		_, _ = w.Write(buffer.Bytes())
		_, _ = w.Write(page.content)
		_, _ = io.WriteString(w, frameEnd)
		return
	}
	buffer.Write(page.content)
	if page.rotate != nil {
		page.rotate(buffer.Bytes()[frameBytes:])
	}
	buffer.WriteString(frameEnd)
	_, _ = w.Write(buffer.Bytes())
}

func writeHead(w http.ResponseWriter, bodyBytes int) {
	header := w.Header()
	header.Set("Content-Type", "text/html")
	header.Set("Content-Length", strconv.Itoa(bodyBytes))
	w.WriteHeader(http.StatusOK)
}

// refuse replies with the status as a short text.
func refuse(w http.ResponseWriter, status int) {
	http.Error(w, fmt.Sprintf("%d %s", status, http.StatusText(status)), status)
}
