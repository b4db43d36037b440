// Package brokerage is workload trade on PostgreSQL. The definition is docs/reference/trade.md.
package brokerage

const (
	// feeCents is the fee of an order.
	feeCents = 2495
	// holdingsMax is the number of first holdings that a user can have, and the distance between the ids of users.
	holdingsMax = 10
	// userZeroCents is the open balance of user 0.
	userZeroCents = 100_000_000

	partUsers   = 9
	partQuotes  = 10
	partChanges = 11
)

// Population determines the first state of every account and quote, and all prices.
type Population struct {
	Seed          uint64
	Users, Quotes int
}

// firstUser is a user as it is loaded. Amounts are in cents.
type firstUser struct {
	openBalance, balance int64
	holdings             []Holding
}

// output returns output number index, from 0, of SplitMix64 with this seed.
func output(seed, index uint64) uint64 {
	z := seed + (index+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below scales the upper half of bits to a number below limit.
func below(bits uint64, limit int) int {
	return int(bits >> 32 * uint64(limit) >> 32)
}

// open returns the first price of a quote, cents.
func (p Population) open(symbol int) int {
	return 100 + below(output(output(output(p.Seed, partQuotes), uint64(symbol)), 0), 19_901)
}

// user returns the user with this number.
func (p Population) user(user int) firstUser {
	draws := uint64(0)
	seed := output(output(p.Seed, partUsers), uint64(user))
	draw := func(limit int) int {
		draws++
		return below(output(seed, draws-1), limit)
	}
	first := firstUser{openBalance: 20_000_000 + int64(draw(10_000_001))}
	if user == 0 {
		first.openBalance = userZeroCents
	}
	first.balance = first.openBalance
	count := draw(holdingsMax + 1)
	for i := 0; i < count; i++ {
		symbol := draw(p.Quotes)
		holding := Holding{int64(user*holdingsMax + i), symbol, 1 + draw(200), p.open(symbol)}
		first.balance -= holding.cost() + feeCents
		first.holdings = append(first.holdings, holding)
	}
	return first
}

// next returns the price of a quote after its change number changes, from 0, of this price. Prices are in cents.
func (p Population) next(symbol, changes, price int) int {
	seed := output(output(p.Seed, partChanges), uint64(symbol))
	return nextPrice(price, below(output(seed, uint64(changes)), 21))
}

func nextPrice(price, draw int) int {
	switch {
	case price == 1:
		return 600
	case price > 40_000:
		return (price + 1) / 2
	}
	return (price*(90+draw) + 50) / 100
}
