package brokerage

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
	"klatch/pgx/web"
)

// Buy buys shares at the price of their quote, and then changes that price in a second transaction.
func (d *Database) Buy(ctx context.Context, user int64, symbol, quantity int) (trade Trade, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) error {
		balance, err := lockAccount(ctx, tx, user)
		if err != nil {
			return err
		}
		price, changes, err := price(ctx, tx, symbol, "")
		if err != nil {
			return err
		}
		shares := Holding{Symbol: symbol, Quantity: quantity, Paid: price}
		if shares.ID, err = d.holdingIDs.Take(ctx, tx); err != nil {
			return err
		}
		trade, err = d.trade(ctx, tx, user, balance, buy, shares, price, changes)
		return err
	})
	if err == nil {
		err = d.changePrice(ctx, symbol, quantity)
	}
	return trade, err
}

// Sell sells a holding at the price of its quote, and then changes that price in a second transaction.
func (d *Database) Sell(ctx context.Context, user, holding int64) (trade Trade, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) error {
		balance, err := lockAccount(ctx, tx, user)
		if err != nil {
			return err
		}
		shares := Holding{ID: holding}
		query := "SELECT symbol, quantity, paid FROM holdings WHERE id = $1 AND user_id = $2 FOR UPDATE"
		if err := tx.QueryRow(ctx, query, holding, user).Scan(&shares.Symbol, &shares.Quantity, &shares.Paid); err != nil {
			return postgres.OrElse(err, web.Refuse(http.StatusNotFound, "user %d has no holding %d", user, holding))
		}
		price, changes, err := price(ctx, tx, shares.Symbol, "")
		if err != nil {
			return err
		}
		trade, err = d.trade(ctx, tx, user, balance, sell, shares, price, changes)
		return err
	})
	if err == nil {
		err = d.changePrice(ctx, trade.Order.Symbol, trade.Order.Quantity)
	}
	return trade, err
}

// trade opens an order, exchanges money and shares, and closes it.
func (d *Database) trade(
	ctx context.Context, tx pgx.Tx, user, balance int64, kind string, shares Holding, price, changes int,
) (Trade, error) {
	id, err := d.orderIDs.Take(ctx, tx)
	if err != nil {
		return Trade{}, err
	}
	order := newOrder(id, kind, shares, price, changes)
	after := balance + order.gain()
	exchange := statement{"DELETE FROM holdings WHERE id = $1", []any{shares.ID}}
	if kind == buy {
		values := []any{shares.ID, user, shares.Symbol, shares.Quantity, shares.Paid}
		exchange = statement{"INSERT INTO holdings VALUES ($1, $2, $3, $4, $5)", values}
	}
	opened := []any{id, user, kind == sell, order.Symbol, order.Quantity, price, changes, order.Fee}
	steps := []statement{
		{"INSERT INTO orders VALUES ($1, $2, $3, FALSE, $4, $5, $6, $7, $8, NULL)", opened},
		{"UPDATE accounts SET balance = $1 WHERE user_id = $2", []any{after, user}},
		exchange,
		{"UPDATE orders SET is_closed = TRUE, holding = $1 WHERE id = $2", []any{shares.ID, id}},
	}
	for _, step := range steps {
		if _, err := tx.Exec(ctx, step.sql, step.values...); err != nil {
			return Trade{}, err
		}
	}
	return Trade{order, after}, nil
}

type statement struct {
	sql    string
	values []any
}

func lockAccount(ctx context.Context, tx pgx.Tx, user int64) (balance int64, err error) {
	err = tx.QueryRow(ctx, "SELECT balance FROM accounts WHERE user_id = $1 FOR UPDATE", user).Scan(&balance)
	return balance, postgres.OrElse(err, unknownUser(user))
}

func price(ctx context.Context, tx pgx.Tx, symbol int, suffix string) (cents, changes int, err error) {
	query := "SELECT price, changes FROM quotes WHERE symbol = $1" + suffix
	err = tx.QueryRow(ctx, query, symbol).Scan(&cents, &changes)
	return cents, changes, postgres.OrElse(err, noQuote(symbol))
}

// changePrice is the second transaction of an order: a new price, and the shares as volume.
func (d *Database) changePrice(ctx context.Context, symbol, quantity int) error {
	return d.pool.Transaction(ctx, func(tx pgx.Tx) error {
		cents, changes, err := price(ctx, tx, symbol, " FOR UPDATE")
		if err != nil {
			return err
		}
		update := "UPDATE quotes SET price = $1, changes = $2, volume = volume + $3 WHERE symbol = $4"
		_, err = tx.Exec(ctx, update, d.population.next(symbol, changes, cents), changes+1, quantity, symbol)
		return err
	})
}
