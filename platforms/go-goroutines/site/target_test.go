package site

import (
	"reflect"
	"strings"
	"testing"
)

const resetQuery = "command/Reset&maxload=5000&pttime=1700000000&maxthread=2&exp=-86400,86400&urlroot=/file_set/"

func TestTargetsAreParsed(t *testing.T) {
	file := fileID{12, 1, 3}
	options := tableOptions{10_000, 1_700_000_000, [2]int64{-86_400, 86_400}}
	for uri, want := range map[string]target{
		"/file_set/dir00012/class1_3":            {kind: fileTarget, file: file},
		"http://h:80/file_set/dir00012/class1_3": {kind: fileTarget, file: file},
		"/dynamic?/file_set/dir00012/class1_3":   {kind: pageTarget, file: file, query: "/file_set/dir00012/class1_3"},
		"/cgi?/file_set/dir00012/class1_3":       {kind: cgiTarget, file: file, query: "/file_set/dir00012/class1_3"},
		"/dynamic":                               {kind: formTarget},
		"/dynamic?command/Fetch":                 {kind: fetchTarget, query: "command/Fetch"},
		"/dynamic?" + resetQuery:                 {kind: resetTarget, query: resetQuery, tables: options},
	} {
		if got := parseTarget(uri); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", uri, got, want)
		}
	}
}

func TestOtherTargetsAreNone(t *testing.T) {
	uris := []string{
		"", "*", "/", "http://h", "/dynamic?", "/dynamic?/file_set/dir00012/class1_9", "/dynamic?command/",
		"/dynamic?command/Fetch&", "/cgi", "/cgi?command/Fetch", "/file_set/dir00012/class1_3?", "/file_set/dir00012/",
		"/dynamic?command/Reset",
	}
	for _, change := range [][2]string{
		{"maxload=5000", "maxload=0"},
		{"maxload=5000", "maxload=50001"},
		{"maxload=5000", "maxload=+5"},
		{"maxthread=2", "maxthread=21"},
		{"maxthread=2", "maxthread="},
		{"urlroot=/file_set/", "urlroot=/"},
		{"urlroot=/file_set/", "urlroot=/file_set/&"},
		{"pttime=1700000000", "pttime=86399"},
		{"pttime=1700000000", "pttime=99999999999"},
		{"exp=-86400", "exp=--86400"},
		{"exp=-86400,", "exp=-86400"},
		{"&pttime", "&x=1&pttime"},
	} {
		uris = append(uris, "/dynamic?"+strings.Replace(resetQuery, change[0], change[1], 1))
	}
	for _, uri := range uris {
		if got := parseTarget(uri); !reflect.DeepEqual(got, target{}) {
			t.Errorf("%s: %+v", uri, got)
		}
	}
}

func TestCookiesAreFoundBetweenOthers(t *testing.T) {
	for header, want := range map[string]userCookie{
		"my_cookie=user_id=10007&last_ad=359":                {7, 359},
		"a=b; my_cookie=user_id=10000&last_ad=0 ; c=d":       {0, 0},
		"my_cookie=user_id=4294967295&last_ad=1":             {4_294_957_295, 1},
		"my_cookie=user_id=10001&last_ad=1; my_cookie=wrong": {1, 1},
	} {
		if got, found, ok := parseCookie(header); !found || !ok || got != want {
			t.Errorf("%s: %v, %v, %v", header, got, found, ok)
		}
	}
	for _, value := range []string{
		"", "user_id=9999&last_ad=1", "user_id=10000&last_ad=360", "user_id=10000", "user_id=1x&last_ad=1",
		"user_id=4294967296&last_ad=1", "user=10000&last_ad=1",
	} {
		if _, found, ok := parseCookie("my_cookie=" + value); !found || ok {
			t.Errorf("%s: %v, %v", value, found, ok)
		}
	}
	for _, header := range []string{"", "a=b; not_my_cookie=1", "my_cookies=1"} {
		if _, found, ok := parseCookie(header); found || ok {
			t.Errorf("%s: %v, %v", header, found, ok)
		}
	}
}

func TestFormsAreParsedInAnyOrder(t *testing.T) {
	const body = "urlroot=/file_set/&dir=12&class=1&num=3&client=42"
	want := postForm{fileID{12, 1, 3}, 42}
	for _, right := range []string{body, "client=42&num=3&class=1&dir=00012&urlroot=/file_set/"} {
		if form, ok := parseForm(right); !ok || form != want {
			t.Errorf("%s: %v, %v", right, form, ok)
		}
	}
	for _, change := range [][2]string{
		{body, ""},
		{"&client=42", ""},
		{"client=42", "client=42&"},
		{"client=42", "client=42&client=42"},
		{"client=42", "client=42&x=y"},
		{"client=42", "x=y"},
		{"client=42", "client=4294967296"},
		{"dir=12", "dir=100000"},
		{"dir=12", "dir="},
		{"class=1", "class=257"},
		{"class=1", "class=4"},
		{"num=3", "num=9"},
		{"num=3", "num=-3"},
		{"/file_set/", "/"},
	} {
		wrong := strings.Replace(body, change[0], change[1], 1)
		if form, ok := parseForm(wrong); ok {
			t.Errorf("%s: %v", wrong, form)
		}
	}
}
