package company

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// The database of these tests is nil, so a request that reaches it panics.

func reply(method, target, body string) (int, string) {
	recorder := httptest.NewRecorder()
	NewSite(nil).ServeHTTP(recorder, httptest.NewRequest(method, target, strings.NewReader(body)))
	return recorder.Code, recorder.Body.String()
}

func TestRequestsThatCannotBeCarriedOutAreRefused(t *testing.T) {
	refusals := []struct {
		method, target, body string
		status               int
		reason               string
	}{
		{"GET", "/orders/ordr", "", http.StatusNotFound, "there is no /orders/ordr"},
		{"GET", "/trade/home", "", http.StatusNotFound, "there is no /trade/home"},
		{"GET", "/orders/", "", http.StatusNotFound, "there is no /orders/"},
		{"POST", "/orders/order?customer=1&order=1", "", http.StatusMethodNotAllowed, "order has another method"},
		{"GET", "/orders/new", "", http.StatusMethodNotAllowed, "new has another method"},
		{"DELETE", "/orders/cancel", "", http.StatusMethodNotAllowed, "cancel has another method"},
		{"GET", "/orders/order?order=1&customer=1", "", http.StatusBadRequest, "the request must have the fields customer, order"},
		{"GET", "/orders/customer", "", http.StatusBadRequest, "the request must have the fields customer"},
		{"GET", "/orders/customer?customer=2147483648", "", http.StatusBadRequest, "a number from 0 to 2147483647 is needed"},
		{"GET", "/orders/customer?customer=+1", "", http.StatusBadRequest, "a number from 0 to 2147483647 is needed"},
		{"GET", "/orders/purchases?supplier=3&of=3", "", http.StatusBadRequest, "supplier must be below of"},
		{"GET", "/orders/purchases?supplier=0&of=0", "", http.StatusBadRequest, "a number from 1 to 2147483647 is needed"},
		{"POST", "/orders/new", "customer=1", http.StatusBadRequest, "the request must have the fields customer, lines"},
		{"POST", "/orders/new", "customer=1&lines=12:3&more=1", http.StatusBadRequest, "the request must have the fields customer, lines"},
		{"POST", "/orders/new", "customer=1&lines=12", http.StatusBadRequest, "a line is ASSEMBLY:QUANTITY"},
		{"POST", "/orders/change", "customer=1&order=1&lines=12:0", http.StatusBadRequest, "a number from 1 to 1000 is needed"},
		{"POST", "/orders/change", "customer=1&order=-1&lines=12:1", http.StatusBadRequest, "a number from 0 to 9223372036854775807 is needed"},
		{"POST", "/orders/cancel", "customer=1&order=9223372036854775808", http.StatusBadRequest, "a number from 0 to 9223372036854775807 is needed"},
		{"POST", "/orders/plan", "assembly=1&quantity=1001", http.StatusBadRequest, "a number from 1 to 1000 is needed"},
		{"POST", "/orders/schedule", "work_order=", http.StatusBadRequest, "a number from 0 to 9223372036854775807 is needed"},
		{"POST", "/orders/advance", "work_order=1&state=1", http.StatusBadRequest, "a number from 2 to 4 is needed"},
		{"POST", "/orders/advance", "work_order=1&state=5", http.StatusBadRequest, "a number from 2 to 4 is needed"},
		{"POST", "/orders/deliver", "purchases=1", http.StatusBadRequest, "the request must have the fields purchase"},
	}
	for _, one := range refusals {
		status, body := reply(one.method, one.target, one.body)
		if want := `{"error":"` + one.reason + `"}`; status != one.status || body != want {
			t.Errorf("%s %s %s: %d %s", one.method, one.target, one.body, status, body)
		}
	}
}

func TestLinesAreParsedAsPairs(t *testing.T) {
	items, err := parseItems("12:3,80:1000,12:1")
	if want := []Item{{12, 3}, {80, 1000}, {12, 1}}; err != nil || !reflect.DeepEqual(items, want) {
		t.Errorf("%v, %v", items, err)
	}
	wrong := []string{"", "12", "12:", ":3", "12:0", "12:1001", "12:3,", "12:3:4", "2147483648:1", "1:1,1:1,1:1,1:1,1:1,1:1"}
	for _, lines := range wrong {
		if items, err := parseItems(lines); err == nil {
			t.Errorf("%s: %v", lines, items)
		}
	}
}

func TestRepliesHaveTheFieldsOfTheContractInItsOrder(t *testing.T) {
	id := int64(7500)
	for want, reply := range map[string]any{
		`{"order":7500,"status":"open","total":9,"owed":10,"work_orders":[3,4]}`: Entry{&id, open, 9, 10, []int64{3, 4}},
		`{"order":null,"status":"refused","total":9,"owed":1,"work_orders":[]}`:  Entry{nil, refused, 9, 1, []int64{}},
		`{"order":7,"status":"cancelled","total":9,"owed":1}`:                    Change{7, cancelled, 9, 1},
		`{"order":7,"customer":3,"status":"open","large":false,"total":9,"lines":[{"assembly":1,"quantity":2,"price":3}]}`: Order{
			7, 3, open, false, 9, []Line{{1, 2, 3}},
		},
		`{"customer":3,"discount":1,"limit":5,"owed":2,"orders":[{"order":7,"status":"open","total":9}]}`: Customer{
			3, 1, 5, 2, []Summary{{7, open, 9}},
		},
		`{"work_order":7,"state":1,"assembly":2,"quantity":3}`: WorkOrder{7, 1, 2, 3},
		`{"purchase":7,"component":2,"quantity":1000}`:         Purchase{7, 2, purchaseQuantity},
	} {
		if text, err := json.Marshal(reply); err != nil || string(text) != want {
			t.Errorf("%s, %v instead of %s", text, err, want)
		}
	}
}
