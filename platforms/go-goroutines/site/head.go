package site

import "net/http"

const (
	headersMax   = 32
	bodyBytesMax = 4 << 10
)

// checkHead checks what net/http does not: it returns the status of the reply if the next request cannot be found after
// this one, so that the connection must close.
func checkHead(r *http.Request) int {
	headers := 0
	if r.Host != "" {
		headers = 1 // net/http keeps it apart
	}
	for _, values := range r.Header {
		headers += len(values)
	}
	switch {
	case headers > headersMax:
		return http.StatusRequestHeaderFieldsTooLarge
	case !isKnown(r.Method) || len(r.TransferEncoding) > 0:
		return http.StatusNotImplemented
	case r.ContentLength > bodyBytesMax:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusOK
}

// isKnown returns whether a method is one of RFC 9110 or RFC 5789.
func isKnown(method string) bool {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodConnect,
		http.MethodOptions, http.MethodTrace, http.MethodPatch:
		return true
	}
	return false
}
