package site

import (
	"math"
	"strings"
)

// userCookie is the cookie of a page with ads and of a POST.
type userCookie struct {
	user   int // from 0; in the cookie firstUser is added
	lastAd int
}

// parseCookie parses the value of the header Cookie, in which other cookies may precede or follow. It returns found if
// there is a cookie of this name, and ok if its form is right.
func parseCookie(header string) (cookie userCookie, found, ok bool) {
	for header != "" && !found {
		var one string
		one, header, _ = strings.Cut(header, ";")
		one = strings.TrimSpace(one)
		if found = strings.HasPrefix(one, "my_cookie="); found {
			cookie, ok = parseCookieValue(one[len("my_cookie="):])
		}
	}
	return cookie, found, ok
}

func parseCookieValue(value string) (userCookie, bool) {
	name, lastAdText, found := strings.Cut(value, "&last_ad=")
	if !found || !strings.HasPrefix(name, "user_id=") {
		return userCookie{}, false
	}
	user, ok1 := decimal(name[len("user_id="):], math.MaxUint32)
	lastAd, ok2 := decimal(lastAdText, ads-1)
	return userCookie{int(user) - firstUser, int(lastAd)}, ok1 && ok2 && user >= firstUser
}

// postForm is the form in the body of a POST.
type postForm struct {
	file   fileID
	client uint32 // the number of the line
}

// parseForm parses a form whose fields are in any order, each of them once.
func parseForm(body string) (postForm, bool) {
	values := map[string]string{}
	for _, field := range strings.Split(body, "&") {
		name, value, found := strings.Cut(field, "=")
		if _, repeated := values[name]; repeated || !found {
			return postForm{}, false
		}
		values[name] = value
	}
	directory, ok1 := decimal(values["dir"], DirectoriesMax)
	class, ok2 := decimal(values["class"], classes)
	number, ok3 := decimal(values["num"], filesPerClass)
	client, ok4 := decimal(values["client"], math.MaxUint32)
	file, ok5 := newFileID(int(directory), int(class), int(number))
	ok := len(values) == 5 && values["urlroot"] == urlRoot && ok1 && ok2 && ok3 && ok4 && ok5
	return postForm{file, uint32(client)}, ok
}
