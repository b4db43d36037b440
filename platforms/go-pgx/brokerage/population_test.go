package brokerage

import (
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"testing"
)

// vectors are the test vectors of all implementations.
type vectors struct {
	Populations []struct {
		Seed          string
		Users, Quotes int
		OfUsers       []struct {
			User        int
			OpenBalance int64 `json:"open_balance"`
			Balance     int64
			Holdings    [][4]int
		} `json:"of_users"`
		Chains []struct {
			Symbol int
			Prices []int
		}
	}
	Steps []struct{ Price, Draw, Next int }
}

func readVectors(t *testing.T) (read vectors) {
	t.Helper()
	text, err := os.ReadFile("../../../vectors/trade.json")
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil || len(read.Populations) < 2 || len(read.Steps) < 2 {
		t.Fatal(err, len(read.Populations), len(read.Steps))
	}
	return read
}

func TestPopulationsAreThoseOfTheVectors(t *testing.T) {
	for _, one := range readVectors(t).Populations {
		seed, err := strconv.ParseUint(one.Seed, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		population := Population{seed, one.Users, one.Quotes}
		for _, user := range one.OfUsers {
			want := firstUser{openBalance: user.OpenBalance, balance: user.Balance}
			for _, row := range user.Holdings {
				want.holdings = append(want.holdings, Holding{int64(row[0]), row[1], row[2], row[3]})
			}
			if got := population.user(user.User); !reflect.DeepEqual(got, want) {
				t.Errorf("user %d: %+v instead of %+v", user.User, got, want)
			}
		}
		for _, chain := range one.Chains {
			price := population.open(chain.Symbol)
			for changes, want := range chain.Prices {
				if price != want {
					t.Fatalf("quote %d after %d changes: %d instead of %d", chain.Symbol, changes, price, want)
				}
				price = population.next(chain.Symbol, changes, price)
			}
		}
	}
}

func TestStepsOfPricesAreThoseOfTheVectors(t *testing.T) {
	for _, step := range readVectors(t).Steps {
		if got := nextPrice(step.Price, step.Draw); got != step.Next {
			t.Errorf("%+v: %d", step, got)
		}
	}
}
