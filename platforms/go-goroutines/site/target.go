package site

import (
	"strconv"
	"strings"
)

const (
	dynamicPath  = "/dynamic"
	cgiPath      = "/cgi"
	commandReset = "command/Reset"
	commandFetch = "command/Fetch"
	urlRoot      = "/file_set/"
	// secondsMax is the largest time or distance in a Reset.
	secondsMax = 9_999_999_999
)

// targetKind is what a request asks for.
type targetKind int

const (
	noTarget    targetKind = iota
	fileTarget             // a file as it is
	pageTarget             // a dynamic page, with or without ads
	cgiTarget              // a page through the Common Gateway Interface
	formTarget             // the dynamic path without a query, to which a POST goes
	resetTarget            // the command that makes new tables and empties the post log
	fetchTarget            // the command that returns the post log
)

// target is the parsed target of a request.
type target struct {
	kind   targetKind
	query  string
	file   fileID       // of fileTarget, pageTarget and cgiTarget
	tables tableOptions // of resetTarget
}

// parseTarget parses a request's target, also if it has the absolute form of requests to a proxy.
func parseTarget(uri string) target {
	if strings.HasPrefix(uri, "http://") {
		uri = uri[len("http://"):]
		if slash := strings.IndexByte(uri, '/'); slash >= 0 {
			uri = uri[slash:]
		}
	}
	path, query, hasQuery := strings.Cut(uri, "?")
	parsed := target{query: query}
	var ok bool
	switch {
	case !hasQuery && path == dynamicPath:
		parsed.kind, ok = formTarget, true
	case !hasQuery:
		parsed.kind = fileTarget
		parsed.file, ok = parsePath(path)
	case path == cgiPath:
		parsed.kind = cgiTarget
		parsed.file, ok = parsePath(query)
	case path == dynamicPath && query == commandFetch:
		parsed.kind, ok = fetchTarget, true
	case path == dynamicPath && strings.HasPrefix(query, commandReset):
		parsed.kind = resetTarget
		parsed.tables, ok = parseReset(query[len(commandReset):])
	case path == dynamicPath:
		parsed.kind = pageTarget
		parsed.file, ok = parsePath(query)
	}
	if !ok {
		return target{}
	}
	return parsed
}

// parseReset parses the parameters of a Reset, which have one order.
func parseReset(parameters string) (tableOptions, bool) {
	values := make([]string, 0, 6)
	for _, name := range []string{"&maxload=", "&pttime=", "&maxthread=", "&exp=", ",", "&urlroot="} {
		value, rest, found := strings.Cut(parameters, name)
		if !found {
			return tableOptions{}, false
		}
		values, parameters = append(values, value), rest
	}
	users, ok1 := decimal(values[1], usersMax)
	nowS, ok2 := seconds(values[2])
	threads, ok3 := decimal(values[3], usersMax)
	early, ok4 := seconds(values[4])
	late, ok5 := seconds(values[5])
	ok := values[0] == "" && parameters == urlRoot && ok1 && ok2 && ok3 && ok4 && ok5 && users*threads <= usersMax
	options := tableOptions{int(users * threads), nowS, [2]int64{early, late}}
	return options, ok && options.fit()
}

func seconds(text string) (int64, bool) {
	digits, sign := text, int64(1)
	if strings.HasPrefix(text, "-") {
		digits, sign = text[1:], -1
	}
	value, ok := decimal(digits, secondsMax)
	return sign * int64(value), ok
}

// decimal parses digits, and nothing else, to a number of at most max.
func decimal(digits string, max uint64) (uint64, bool) {
	value, err := strconv.ParseUint(digits, 10, 64)
	return value, err == nil && value <= max
}
