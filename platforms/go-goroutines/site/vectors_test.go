package site

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// vectors are the test vectors of all implementations.
type vectors struct {
	Paths []struct {
		Path string
		File []int
	}
	Files []struct {
		Seed, Path, First, FNV1a string
		Ad                       *int
		Size                     int
		Tags                     []int
	}
	Lines []struct {
		Seed        string
		Directories int
		First       []string
	}
	Ads []struct {
		Seed            string
		Users           int
		Now             int64    `json:"now_s"`
		Expiry          [2]int64 `json:"expiry_s"`
		UserPersonality string   `json:"user_personality"`
		CustomAds       string   `json:"custom_ads"`
		FirstUser       string   `json:"first_user"`
		FirstAd         string   `json:"first_ad"`
		Choices         []struct {
			User   int
			LastAd int `json:"last_ad"`
			Cookie string
		}
	}
}

func readVectors(t *testing.T) *vectors {
	t.Helper()
	var read vectors
	text, err := os.ReadFile("../../../vectors/web.json")
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || len(read.Paths)*len(read.Files)*len(read.Lines)*len(read.Ads) == 0 {
		t.Fatalf("%v in %+v", err, read)
	}
	return &read
}

// seed parses a seed, which is a string because JSON's numbers have 53 bits in some languages.
func seed(t *testing.T, text string) uint64 {
	t.Helper()
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func fnv1a(bytes []byte) string {
	hash := fnv.New64a()
	_, _ = hash.Write(bytes)
	return fmt.Sprintf("%016x", hash.Sum64())
}

func TestPathsOfTheVectors(t *testing.T) {
	for _, vector := range readVectors(t).Paths {
		var parts []int
		if file, ok := parsePath(vector.Path); ok {
			parts = []int{file.directory, file.class, file.number}
		}
		if !reflect.DeepEqual(parts, vector.File) {
			t.Errorf("%s: %v, want %v", vector.Path, parts, vector.File)
		}
	}
}

func TestFilesOfTheVectors(t *testing.T) {
	for _, vector := range readVectors(t).Files {
		content := newContent(seed(t, vector.Seed))
		file, _ := parsePath(vector.Path)
		bytes := content.file(file)
		if vector.Ad != nil {
			content.rotate(bytes, file, *vector.Ad)
		}
		if len(bytes) != vector.Size || string(bytes[:64]) != vector.First || fnv1a(bytes) != vector.FNV1a {
			t.Errorf("%s, ad %v: %d bytes, %q", vector.Path, vector.Ad, len(bytes), bytes[:64])
		}
		tags := []int{}
		for at, rest := 0, string(bytes); strings.Contains(rest, "<!WEB99CAD>"); rest = string(bytes[at:]) {
			at += strings.Index(rest, "<!WEB99CAD>")
			tags = append(tags, at)
			at += tagBytes
		}
		if !reflect.DeepEqual(tags, vector.Tags) {
			t.Errorf("%s: tags at %v, want %v", vector.Path, tags, vector.Tags)
		}
	}
}

func TestAdsOfTheVectors(t *testing.T) {
	for _, vector := range readVectors(t).Ads {
		tables := newTables(seed(t, vector.Seed), tableOptions{vector.Users, vector.Now, vector.Expiry})
		var users, ads []byte
		for number, demographics := range tables.users {
			users = fmt.Appendf(users, "%5d %8X\n", number, demographics)
		}
		for number, ad := range tables.ads {
			ads = fmt.Appendf(ads, "%5d %8X %8X %3d %10d\n", number, ad.demographics, ad.weights, ad.minimum, ad.expiresS)
		}
		if string(users[:15]) != vector.FirstUser || string(ads[:39]) != vector.FirstAd {
			t.Errorf("first records: %q and %q", users[:15], ads[:39])
		}
		if fnv1a(users) != vector.UserPersonality || fnv1a(ads) != vector.CustomAds {
			t.Errorf("seed %s: other tables", vector.Seed)
		}
		for _, choice := range vector.Choices {
			if got := tables.choose(choice.User, choice.LastAd).cookie(); got != choice.Cookie {
				t.Errorf("user %d after ad %d: %s, want %s", choice.User, choice.LastAd, got, choice.Cookie)
			}
		}
	}
}

// The requests of the vectors' lines, each on a connection of its own.
func TestRequestsOfTheVectorsAreServed(t *testing.T) {
	served := 0
	for _, vector := range readVectors(t).Lines {
		if len(vector.First) == 0 {
			continue
		}
		address := start(t, seed(t, vector.Seed), vector.Directories)
		content := newContent(seed(t, vector.Seed))
		for _, request := range vector.First {
			reply, body := dial(t, address).ask(request)
			closes := strings.Contains(request, "HTTP/1.0") || strings.Contains(request, "Connection: close")
			if reply.Close != closes {
				t.Errorf("%q: closes is %v", request, reply.Close)
			}
			file := requestedFile(t, request)
			bytes := content.file(file)
			if isPage := !strings.HasPrefix(request, "GET /file_set/"); !isPage {
				if body != string(bytes) {
					t.Errorf("%q: another file", request)
				}
			} else if !strings.Contains(body, "\n<pre>\n"+file.path()+" ") || len(body) < len(bytes) {
				t.Errorf("%q: another page", request)
			}
			served++
		}
	}
	if served < 30 {
		t.Errorf("%d requests", served)
	}
}

// requestedFile finds the file that a request names in its target or its form.
func requestedFile(t *testing.T, request string) fileID {
	t.Helper()
	if at := strings.Index(request, "/file_set/dir"); at >= 0 {
		if file, ok := parsePath(request[at : at+len(pathTemplate)]); ok {
			return file
		}
	}
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	form, ok := parseForm(body)
	if !ok {
		t.Fatalf("%q names no file", request)
	}
	return form.file
}
