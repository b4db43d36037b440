package brokerage

import "strconv"

// Account is an account as replies show it. Amounts are in cents.
type Account struct {
	User        int64 `json:"user"`
	Balance     int64 `json:"balance"`
	OpenBalance int64 `json:"open_balance"`
	Logins      int   `json:"logins"`
	Logouts     int   `json:"logouts"`
}

// Profile is what is stored about a person.
type Profile struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Email   string `json:"email"`
	Card    string `json:"card"`
}

// firstProfile returns the profile of a user without updates.
func firstProfile(user int64) Profile {
	number := strconv.FormatInt(user, 10)
	return Profile{"User " + number, "0 Street " + number, number + ".0@klatch", "card-" + number + "-0"}
}

// Quote is a quote now. Prices are in cents.
type Quote struct {
	Symbol  int   `json:"symbol"`
	Price   int   `json:"price"`
	Open    int   `json:"open"`
	Changes int   `json:"changes"`
	Volume  int64 `json:"volume"`
}

// Holding is a holding as it is stored. The price paid for a share is in cents.
type Holding struct {
	ID       int64 `json:"holding"`
	Symbol   int   `json:"symbol"`
	Quantity int   `json:"quantity"`
	Paid     int   `json:"paid"`
}

// cost returns what was paid for all its shares, cents.
func (h Holding) cost() int64 {
	return int64(h.Quantity) * int64(h.Paid)
}

// Order is an order as replies show it. Price and fee are in cents.
type Order struct {
	ID       int64  `json:"order"`
	Type     string `json:"type"`
	Status   string `json:"status"`
	Symbol   int    `json:"symbol"`
	Quantity int    `json:"quantity"`
	Price    int    `json:"price"`
	Changes  int    `json:"changes"`
	Fee      int64  `json:"fee"`
	Holding  int64  `json:"holding"`
}

const (
	buy  = "buy"
	sell = "sell"
)

// newOrder returns an order at the price and changes of a quote.
func newOrder(id int64, kind string, shares Holding, price, changes int) Order {
	return Order{id, kind, "closed", shares.Symbol, shares.Quantity, price, changes, feeCents, shares.ID}
}

// gain returns the change of the balance, cents.
func (o Order) gain() int64 {
	amount := int64(o.Quantity) * int64(o.Price)
	if o.Type == buy {
		amount = -amount
	}
	return amount - o.Fee
}

// Trade is an order with the balance after it, cents.
type Trade struct {
	Order   Order `json:"order"`
	Balance int64 `json:"balance"`
}

// Market is the quotes that rose most and fell most since they opened.
type Market struct {
	Gainers []Quote `json:"gainers"`
	Losers  []Quote `json:"losers"`
}
