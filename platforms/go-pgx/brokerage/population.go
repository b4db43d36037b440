// Package brokerage is workload trade on PostgreSQL. The definition is docs/reference/trade.md.
package brokerage

import "klatch/pgx/splitmix"

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

// open returns the first price of a quote, cents.
func (p Population) open(symbol int) int {
	return 100 + splitmix.NewSequence(p.Seed, partQuotes, symbol).Below(19_901)
}

// user returns the user with this number.
func (p Population) user(user int) firstUser {
	draws := splitmix.NewSequence(p.Seed, partUsers, user)
	first := firstUser{openBalance: 20_000_000 + int64(draws.Below(10_000_001))}
	if user == 0 {
		first.openBalance = userZeroCents
	}
	first.balance = first.openBalance
	count := draws.Below(holdingsMax + 1)
	for i := 0; i < count; i++ {
		symbol := draws.Below(p.Quotes)
		holding := Holding{int64(user*holdingsMax + i), symbol, 1 + draws.Below(200), p.open(symbol)}
		first.balance -= holding.cost() + feeCents
		first.holdings = append(first.holdings, holding)
	}
	return first
}

// next returns the price of a quote after its change number changes, from 0, of this price. Prices are in cents.
func (p Population) next(symbol, changes, price int) int {
	return nextPrice(price, splitmix.NewSequence(p.Seed, partChanges, symbol).BelowAt(uint64(changes), 21))
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
