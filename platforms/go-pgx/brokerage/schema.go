package brokerage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const firstPassword = "xxx"

// tables are those of docs/reference/trade.md, which the audit reads.
var tables = []string{
	"CREATE TABLE population (seed BIGINT NOT NULL, users INT NOT NULL, quotes INT NOT NULL)",
	`CREATE TABLE accounts (user_id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, open_balance BIGINT NOT NULL,
		logins INT NOT NULL, logouts INT NOT NULL)`,
	`CREATE TABLE profiles (user_id BIGINT PRIMARY KEY, password VARCHAR(100) NOT NULL, name VARCHAR(100) NOT NULL,
		address VARCHAR(100) NOT NULL, email VARCHAR(100) NOT NULL, card VARCHAR(100) NOT NULL)`,
	`CREATE TABLE quotes (symbol INT PRIMARY KEY, price INT NOT NULL, opened INT NOT NULL, changes INT NOT NULL,
		volume BIGINT NOT NULL)`,
	`CREATE TABLE holdings (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, symbol INT NOT NULL,
		quantity INT NOT NULL, paid INT NOT NULL)`,
	`CREATE TABLE orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, is_sell BOOLEAN NOT NULL,
		is_closed BOOLEAN NOT NULL, symbol INT NOT NULL, quantity INT NOT NULL, price INT NOT NULL,
		changes INT NOT NULL, fee BIGINT NOT NULL, holding BIGINT)`,
}

// indexes are made after the load, which is faster.
var indexes = []string{
	"CREATE INDEX holdings_of_user ON holdings (user_id, id)",
	"CREATE INDEX orders_of_user ON orders (user_id, id)",
	"CREATE INDEX orders_of_holding ON orders (holding)",
}

// prepare loads the population if there are no tables, and checks that it is the one of the options.
func (d *Database) prepare(ctx context.Context, loads bool) error {
	var exists bool
	if err := d.pool.QueryRow(ctx, "SELECT to_regclass('population') IS NOT NULL").Scan(&exists); err != nil {
		return err
	}
	if !exists {
		if !loads {
			return errors.New("it has no tables; load them with --load")
		}
		if err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return load(ctx, tx, d.population) }); err != nil {
			return err
		}
	}
	var seed int64
	var loaded Population
	err := d.pool.QueryRow(ctx, "SELECT seed, users, quotes FROM population").Scan(&seed, &loaded.Users, &loaded.Quotes)
	if loaded.Seed = uint64(seed); err == nil && loaded != d.population {
		return fmt.Errorf("it has another population: seed %d, %d users, %d quotes", loaded.Seed, loaded.Users, loaded.Quotes)
	}
	return err
}

// load makes the tables and their first contents.
func load(ctx context.Context, tx pgx.Tx, population Population) error {
	firstID := population.Users * holdingsMax
	statements := append([]string{}, tables...)
	for _, sequence := range []string{"order_ids", "holding_ids"} {
		statements = append(statements,
			fmt.Sprintf("CREATE SEQUENCE %s START WITH %d INCREMENT BY %d", sequence, firstID, idBlock))
	}
	if err := execute(ctx, tx, statements); err != nil {
		return err
	}
	var accounts, profiles, holdings, orders, quotes [][]any
	volumes := make([]int64, population.Quotes)
	for number := 0; number < population.Users; number++ {
		user, first := int64(number), population.user(number)
		accounts = append(accounts, []any{user, first.balance, first.openBalance, 0, 0})
		profile := firstProfile(user)
		profiles = append(profiles,
			[]any{user, firstPassword, profile.Name, profile.Address, profile.Email, profile.Card})
		for _, one := range first.holdings {
			holdings = append(holdings, []any{one.ID, user, one.Symbol, one.Quantity, one.Paid})
			orders = append(orders,
				[]any{one.ID, user, false, true, one.Symbol, one.Quantity, one.Paid, 0, feeCents, one.ID})
			volumes[one.Symbol] += int64(one.Quantity)
		}
	}
	for symbol, volume := range volumes {
		open := population.open(symbol)
		quotes = append(quotes, []any{symbol, open, open, 0, volume})
	}
	contents := []struct {
		table   string
		columns []string
		rows    [][]any
	}{
		{"population", []string{"seed", "users", "quotes"}, [][]any{{int64(population.Seed), population.Users, population.Quotes}}},
		{"accounts", []string{"user_id", "balance", "open_balance", "logins", "logouts"}, accounts},
		{"profiles", []string{"user_id", "password", "name", "address", "email", "card"}, profiles},
		{"quotes", []string{"symbol", "price", "opened", "changes", "volume"}, quotes},
		{"holdings", []string{"id", "user_id", "symbol", "quantity", "paid"}, holdings},
		{"orders", []string{"id", "user_id", "is_sell", "is_closed", "symbol", "quantity", "price", "changes", "fee", "holding"}, orders},
	}
	for _, one := range contents {
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{one.table}, one.columns, pgx.CopyFromRows(one.rows)); err != nil {
			return err
		}
	}
	return execute(ctx, tx, indexes)
}

func execute(ctx context.Context, tx pgx.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
