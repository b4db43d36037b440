package site

import "testing"

// handMade returns tables with one user who has all characteristics.
func handMade(change func(number int, ad *ad)) *tables {
	t := &tables{nowS: 50, users: []uint32{0x3fffffff}, ads: make([]ad, ads)}
	for number := range t.ads {
		t.ads[number] = ad{weights: 0x12345, minimum: 1, expiresS: 50}
		change(number, &t.ads[number])
	}
	return t
}

func TestTheSearchBeginsAfterTheLastAdAndLeavesItOut(t *testing.T) {
	for _, only := range []int{0, 1, 7, 358, 359} {
		tables := handMade(func(number int, ad *ad) {
			if number == only {
				ad.demographics = 0x3fffffff
			}
		})
		for lastAd := 0; lastAd < ads; lastAd++ {
			want := only
			if lastAd == only {
				want = -1
			}
			if got := tables.choose(0, lastAd); got.ad != want {
				t.Errorf("ad %d after %d: %+v", only, lastAd, got)
			}
		}
	}
}

func TestTheWeightsOfSharedGroupsMustReachTheMinimum(t *testing.T) {
	tables := handMade(func(number int, ad *ad) {
		ad.demographics = 0x11000000 // the weights 1 and 2
		ad.minimum = 4
		if number == 9 {
			ad.minimum = 3
		}
	})
	if got := tables.choose(0, 0); got != (adChoice{9, 3, false}) {
		t.Errorf("%+v", got)
	}
	for _, none := range []adChoice{tables.choose(0, 9), tables.choose(1, 0)} {
		if none != (adChoice{-1, 0, true}) {
			t.Errorf("%+v", none)
		}
	}
	if got := weigh(0x3fffffff, 0xfffff); got != 75 {
		t.Errorf("all weights add up to %d", got)
	}
}

func TestAnAdExpiresAfterItsTime(t *testing.T) {
	tables := handMade(func(number int, ad *ad) {
		ad.demographics, ad.expiresS = 1, int64(48+number)
	})
	for lastAd, want := range []bool{true, false, false} {
		if got := tables.choose(0, lastAd); got.expired != want {
			t.Errorf("after %d: %+v", lastAd, got)
		}
	}
}
