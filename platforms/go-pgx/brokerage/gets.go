package brokerage

import (
	"net/http"
	"strings"

	"klatch/pgx/web"
)

func (s site) home(r *web.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	holdings, err := s.database.Holdings(r.Context(), user)
	if err != nil {
		return nil, err
	}
	market, err := s.database.Market(r.Context())
	if err != nil {
		return nil, err
	}
	account, err := s.database.Account(r.Context(), user)
	cost := int64(0)
	for _, holding := range holdings {
		cost += holding.cost()
	}
	return struct {
		Account  Account `json:"account"`
		Holdings int     `json:"holdings"`
		Cost     int64   `json:"cost"`
		Market   Market  `json:"market"`
	}{account, len(holdings), cost, market}, err
}

func (s site) showQuotes(r *web.Request) (any, error) {
	if _, err := userOf(r); err != nil {
		return nil, err
	}
	query, err := web.ParseForm(r.URL.RawQuery, "symbols")
	if err != nil {
		return nil, err
	}
	digits := strings.Split(query[0], ",")
	if len(digits) > quotesMax {
		return nil, web.Refuse(http.StatusBadRequest, "at most %d symbols", quotesMax)
	}
	symbols := make([]int, len(digits))
	for i := range digits {
		if symbols[i], err = s.existing(digits[i]); err != nil {
			return nil, err
		}
	}
	quotes, err := s.database.Quotes(r.Context(), symbols)
	return struct {
		Quotes []Quote `json:"quotes"`
	}{quotes}, err
}

func (s site) account(r *web.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	account, err := s.database.Account(r.Context(), user)
	if err != nil {
		return nil, err
	}
	profile, err := s.database.Profile(r.Context(), user)
	if err != nil {
		return nil, err
	}
	orders, err := s.database.LastOrders(r.Context(), user, ordersShown)
	return struct {
		Account Account `json:"account"`
		Profile Profile `json:"profile"`
		Orders  []Order `json:"orders"`
	}{account, profile, orders}, err
}

// pricedHolding is a holding with its quote's price and changes now.
type pricedHolding struct {
	Holding
	Price   int `json:"price"`
	Changes int `json:"changes"`
}

func (s site) portfolio(r *web.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	holdings, err := s.database.Holdings(r.Context(), user)
	if err != nil {
		return nil, err
	}
	now := make(map[int]Quote, len(holdings))
	var symbols []int
	for _, holding := range holdings {
		if _, known := now[holding.Symbol]; !known {
			now[holding.Symbol] = Quote{}
			symbols = append(symbols, holding.Symbol)
		}
	}
	quotes, err := s.database.Quotes(r.Context(), symbols)
	for _, quote := range quotes {
		now[quote.Symbol] = quote
	}
	shown := make([]pricedHolding, len(holdings))
	for i, holding := range holdings {
		quote := now[holding.Symbol]
		shown[i] = pricedHolding{holding, quote.Price, quote.Changes}
	}
	return struct {
		Holdings []pricedHolding `json:"holdings"`
	}{shown}, err
}
