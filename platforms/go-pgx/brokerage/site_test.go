package brokerage

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The database of these tests is nil, so a request that reaches it panics.

func reply(method, target, cookie, body string) (int, string) {
	request := httptest.NewRequest(method, target, strings.NewReader(body))
	if cookie != "" {
		request.Header.Set("Cookie", cookie)
	}
	recorder := httptest.NewRecorder()
	NewSite(nil, 40).ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.String()
}

func TestRequestsThatCannotBeCarriedOutAreRefused(t *testing.T) {
	refusals := []struct {
		method, target, cookie, body string
		status                       int
		reason                       string
	}{
		{"GET", "/trade/hom", "", "", http.StatusNotFound, "there is no /trade/hom"},
		{"GET", "/home", "", "", http.StatusNotFound, "there is no /home"},
		{"POST", "/trade/home", "", "", http.StatusMethodNotAllowed, "home has another method"},
		{"GET", "/trade/buy", "user=1", "", http.StatusMethodNotAllowed, "buy has another method"},
		{"DELETE", "/trade/buy", "user=1", "", http.StatusMethodNotAllowed, "buy has another method"},
		{"GET", "/trade/home", "", "", http.StatusBadRequest, "the cookie user is missing: log in first"},
		{"GET", "/trade/home", "user=", "", http.StatusBadRequest, "the cookie user is missing: log in first"},
		{"POST", "/trade/sell", "user=+1", "holding=3", http.StatusBadRequest, "a number from 0 to 9223372036854775807 is needed"},
		{"POST", "/trade/buy", "user=1", "symbol=3", http.StatusBadRequest, "the request must have the fields symbol, quantity"},
		{"POST", "/trade/buy", "user=1", "symbol=40&quantity=1", http.StatusNotFound, "there is no quote 40"},
		{"POST", "/trade/buy", "user=1", "symbol=3&quantity=0", http.StatusBadRequest, "a number from 1 to 200 is needed"},
		{"POST", "/trade/buy", "user=1", "symbol=3&quantity=201", http.StatusBadRequest, "a number from 1 to 200 is needed"},
		{"POST", "/trade/login", "", "user=1&password=\"", http.StatusBadRequest, "a field has more than plain text"},
		{"POST", "/trade/update", "user=1", "email=x&address=y&card=z", http.StatusBadRequest, "the request must have the fields address, email, card"},
		{"GET", "/trade/quotes?symbols=1,2,3,4,5,6,7,8,9,10,11", "user=1", "", http.StatusBadRequest, "at most 10 symbols"},
		{"GET", "/trade/quotes?symbols=1,,2", "user=1", "", http.StatusBadRequest, "a number from 0 to 2147483647 is needed"},
	}
	for _, one := range refusals {
		status, body := reply(one.method, one.target, one.cookie, one.body)
		if want := `{"error":"` + one.reason + `"}`; status != one.status || body != want {
			t.Errorf("%s %s %s: %d %s", one.method, one.target, one.body, status, body)
		}
	}
}

func TestTheGainOfAnOrderHasItsFee(t *testing.T) {
	shares := Holding{ID: 7, Symbol: 3, Quantity: 10, Paid: 90}
	if gain := newOrder(1, buy, shares, 100, 0).gain(); gain != -3495 {
		t.Errorf("a buy: %d", gain)
	}
	if gain := newOrder(1, sell, shares, 100, 0).gain(); gain != -1495 {
		t.Errorf("a sale: %d", gain)
	}
}
