package brokerage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
)

const (
	firstPassword   = "xxx"
	orderSequence   = "order_ids"
	holdingSequence = "holding_ids"
)

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

// Table implements postgres.Population.
func (p Population) Table() string {
	return "population"
}

// Check implements postgres.Population.
func (p Population) Check(ctx context.Context, on postgres.Querier) error {
	var seed int64
	var loaded Population
	err := on.QueryRow(ctx, "SELECT seed, users, quotes FROM population").Scan(&seed, &loaded.Users, &loaded.Quotes)
	if loaded.Seed = uint64(seed); err == nil && loaded != p {
		return fmt.Errorf("it has another population; use its --seed %d --users %d --quotes %d, or another database",
			loaded.Seed, loaded.Users, loaded.Quotes)
	}
	return err
}

// Load implements postgres.Population.
func (p Population) Load(ctx context.Context, tx pgx.Tx) error {
	if err := postgres.Execute(ctx, tx, tables...); err != nil {
		return err
	}
	firstID := p.Users * holdingsMax
	sequences := []string{
		postgres.CreateSequence(orderSequence, firstID),
		postgres.CreateSequence(holdingSequence, firstID),
	}
	if err := postgres.Execute(ctx, tx, sequences...); err != nil {
		return err
	}
	var accounts, profiles, holdings, orders, quotes [][]any
	volumes := make([]int64, p.Quotes)
	for number := 0; number < p.Users; number++ {
		user, first := int64(number), p.user(number)
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
		open := p.open(symbol)
		quotes = append(quotes, []any{symbol, open, open, 0, volume})
	}
	population := [][]any{{int64(p.Seed), p.Users, p.Quotes}}
	contents := []postgres.Contents{
		postgres.Rows(population, "population", "seed", "users", "quotes"),
		postgres.Rows(accounts, "accounts", "user_id", "balance", "open_balance", "logins", "logouts"),
		postgres.Rows(profiles, "profiles", "user_id", "password", "name", "address", "email", "card"),
		postgres.Rows(quotes, "quotes", "symbol", "price", "opened", "changes", "volume"),
		postgres.Rows(holdings, "holdings", "id", "user_id", "symbol", "quantity", "paid"),
		postgres.Rows(orders, "orders",
			"id", "user_id", "is_sell", "is_closed", "symbol", "quantity", "price", "changes", "fee", "holding"),
	}
	if err := postgres.Fill(ctx, tx, contents...); err != nil {
		return err
	}
	return postgres.Execute(ctx, tx, indexes...)
}
