package company

import (
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"testing"
)

// vectors are the test vectors of all implementations. A line is an assembly and a quantity, a bill a component and a
// quantity.
type vectors struct {
	Populations []struct {
		Seed                              string
		Rate                              int
		Customers, Assemblies, Components int
		OfAssemblies                      []struct {
			Assembly, Price int
			Bill            [][2]int
		} `json:"of_assemblies"`
		OfComponents []struct {
			Component int
			OnHand    int `json:"on_hand"`
		} `json:"of_components"`
		OfCustomers []struct {
			Customer, Discount int
			Limit, Owed        int64
			Lines              [][2]int
		} `json:"of_customers"`
	}
}

func readVectors(t *testing.T) (read vectors) {
	t.Helper()
	text, err := os.ReadFile("../../../vectors/orders.json")
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || len(read.Populations) < 2 {
		t.Fatal(err, len(read.Populations))
	}
	return read
}

func TestPopulationsAreThoseOfTheVectors(t *testing.T) {
	for _, one := range readVectors(t).Populations {
		seed, err := strconv.ParseUint(one.Seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		population := Population{seed, one.Rate}
		sizes := []int{population.customers(), population.assemblies(), population.components()}
		if want := []int{one.Customers, one.Assemblies, one.Components}; !reflect.DeepEqual(sizes, want) {
			t.Errorf("rate %d: %d instead of %d", one.Rate, sizes, want)
		}
		if len(one.OfAssemblies) == 0 || len(one.OfComponents) == 0 || len(one.OfCustomers) == 0 {
			t.Fatalf("rate %d has no examples", one.Rate)
		}
		for _, example := range one.OfAssemblies {
			want := assembly{price: example.Price}
			for _, row := range example.Bill {
				want.bill = append(want.bill, part{row[0], row[1]})
			}
			if got := population.assembly(example.Assembly); !reflect.DeepEqual(got, want) {
				t.Errorf("assembly %d: %+v instead of %+v", example.Assembly, got, want)
			}
		}
		for _, example := range one.OfComponents {
			if got := population.onHand(example.Component); got != example.OnHand {
				t.Errorf("component %d: %d instead of %d", example.Component, got, example.OnHand)
			}
		}
		for _, example := range one.OfCustomers {
			want := firstCustomer{discount: example.Discount, limit: example.Limit, owed: example.Owed}
			for _, row := range example.Lines {
				want.lines = append(want.lines, Line{row[0], row[1], population.price(row[0])})
			}
			if got := population.customer(example.Customer); !reflect.DeepEqual(got, want) {
				t.Errorf("customer %d: %+v instead of %+v", example.Customer, got, want)
			}
		}
	}
}

func TestABillHasFiveDifferentComponents(t *testing.T) {
	for _, rate := range []int{1, 101, 10_000} {
		population := Population{7, rate}
		for number := 0; number < population.assemblies(); number++ {
			components := map[int]bool{}
			for _, part := range population.assembly(number).bill {
				components[part.component] = part.component >= 0 && part.component < population.components()
			}
			if len(components) != 5 {
				t.Fatalf("rate %d, assembly %d: %v", rate, number, components)
			}
			for component, exists := range components {
				if !exists {
					t.Fatalf("rate %d, assembly %d: component %d", rate, number, component)
				}
			}
		}
	}
}

func TestEveryFirstOrderIsSmallAndWithinTheLimit(t *testing.T) {
	population := Population{7, 20}
	poor := 0
	for number := 0; number < population.customers(); number++ {
		customer := population.customer(number)
		if customer.owed > customer.limit || areLarge(customer.lines) {
			t.Errorf("customer %d: %+v", number, customer)
		}
		if customer.limit < limitOfMost {
			poor++
		}
	}
	if poor <= 100 || poor >= 200 {
		t.Errorf("about a tenth of 1,500 customers have a lower limit, not %d", poor)
	}
}
