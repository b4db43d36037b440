package brokerage

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
)

const (
	mostMoved    = 5
	marketAgeMax = 20 * time.Second
	selectQuote  = "SELECT symbol, price, opened, changes, volume FROM quotes"
)

// Quotes returns quotes in the order of their symbols in the request, on one connection.
func (d *Database) Quotes(ctx context.Context, symbols []int) ([]Quote, error) {
	connection, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Release()
	quotes := make([]Quote, len(symbols))
	for i, symbol := range symbols {
		quote := &quotes[i]
		row := connection.QueryRow(ctx, selectQuote+" WHERE symbol = $1", symbol)
		if err := row.Scan(&quote.Symbol, &quote.Price, &quote.Open, &quote.Changes, &quote.Volume); err != nil {
			return nil, postgres.OrElse(err, noQuote(symbol))
		}
	}
	return quotes, nil
}

// marketCache is the market as it was read last. One request reads it again, and the others use the old one meanwhile.
type marketCache struct {
	lock    sync.Mutex
	market  *Market // nil before the first
	readAt  time.Time
	reading bool
}

// Market returns the quotes that moved most, at most 20 s old.
func (d *Database) Market(ctx context.Context) (Market, error) {
	cache := &d.market
	cache.lock.Lock()
	if cache.market != nil && (cache.reading || time.Since(cache.readAt) < marketAgeMax) {
		defer cache.lock.Unlock()
		return *cache.market, nil
	}
	cache.reading = true
	cache.lock.Unlock()
	readAt := time.Now()
	gainers, err := d.moved(ctx, "DESC")
	var losers []Quote
	if err == nil {
		losers, err = d.moved(ctx, "ASC")
	}
	market := Market{gainers, losers}
	cache.lock.Lock()
	defer cache.lock.Unlock()
	cache.reading = false
	if err == nil {
		cache.market, cache.readAt = &market, readAt
	}
	return market, err
}

func (d *Database) moved(ctx context.Context, direction string) ([]Quote, error) {
	query := selectQuote + " ORDER BY price - opened " + direction + " LIMIT $1"
	return postgres.List(ctx, d.pool, pgx.RowToStructByPos[Quote], query, mostMoved)
}
