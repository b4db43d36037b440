package company

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	"klatch/pgx/web"
)

func TestAChangeHasTheAssembliesAndPricesOfTheOrder(t *testing.T) {
	order := Order{ID: 7, Lines: []Line{{12, 3, 90}, {80, 10, 70}, {12, 1, 90}}}
	lines, err := order.withQuantities([]Item{{12, 4}, {80, 9}, {12, 2}})
	if want := []Line{{12, 4, 90}, {80, 9, 70}, {12, 2, 90}}; err != nil || !reflect.DeepEqual(lines, want) {
		t.Errorf("%+v, %v", lines, err)
	}
	for _, one := range []struct {
		items  []Item
		reason string
	}{
		{[]Item{{12, 4}, {80, 9}}, "order 7 has other assemblies"},
		{[]Item{{12, 4}, {80, 9}, {12, 2}, {12, 2}}, "order 7 has other assemblies"},
		{[]Item{{80, 9}, {12, 4}, {12, 2}}, "order 7 has other assemblies"},
		{[]Item{{12, 4}, {80, 45}, {12, 2}}, "a change cannot make an order large"},
	} {
		_, err := order.withQuantities(one.items)
		if want := web.Refuse(http.StatusBadRequest, one.reason); !errors.Is(err, want) {
			t.Errorf("%v: %v", one.items, err)
		}
	}
}

func TestOrdersThatAreLargeOrCancelledCannotBeChanged(t *testing.T) {
	for _, one := range []struct {
		order Order
		want  error
	}{
		{Order{ID: 7, Status: open}, nil},
		{Order{ID: 7, Status: open, Large: true}, web.Refuse(http.StatusConflict, "order 7 is large")},
		{Order{ID: 7, Status: cancelled}, web.Refuse(http.StatusConflict, "order 7 is cancelled")},
	} {
		if err := one.order.checkChangeable(); !errors.Is(err, one.want) {
			t.Errorf("%+v: %v", one.order, err)
		}
	}
}
