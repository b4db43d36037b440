package company

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
)

const (
	orderSequence     = "order_ids"
	workOrderSequence = "work_order_ids"
	purchaseSequence  = "purchase_ids"
)

// tables are those of docs/reference/orders.md, which the audit reads.
var tables = []string{
	"CREATE TABLE order_population (seed BIGINT NOT NULL, rate INT NOT NULL)",
	`CREATE TABLE customers (customer_id INT PRIMARY KEY, discount INT NOT NULL, credit_limit BIGINT NOT NULL,
		owed BIGINT NOT NULL)`,
	`CREATE TABLE orders (id BIGINT PRIMARY KEY, customer_id INT NOT NULL, is_cancelled BOOLEAN NOT NULL,
		is_large BOOLEAN NOT NULL, total BIGINT NOT NULL)`,
	`CREATE TABLE order_lines (order_id BIGINT NOT NULL, line INT NOT NULL, assembly INT NOT NULL,
		quantity INT NOT NULL, price INT NOT NULL, PRIMARY KEY (order_id, line))`,
	`CREATE TABLE assemblies (assembly INT PRIMARY KEY, price INT NOT NULL, ordered BIGINT NOT NULL,
		made BIGINT NOT NULL)`,
	`CREATE TABLE bills (assembly INT NOT NULL, line INT NOT NULL, component INT NOT NULL, quantity INT NOT NULL,
		PRIMARY KEY (assembly, line))`,
	`CREATE TABLE components (component INT PRIMARY KEY, on_hand BIGINT NOT NULL, received BIGINT NOT NULL,
		consumed BIGINT NOT NULL, on_order BIGINT NOT NULL)`,
	`CREATE TABLE work_orders (id BIGINT PRIMARY KEY, order_id BIGINT, line INT, assembly INT NOT NULL,
		quantity INT NOT NULL, state INT NOT NULL)`,
	`CREATE TABLE purchases (id BIGINT PRIMARY KEY, component INT NOT NULL, quantity INT NOT NULL,
		is_delivered BOOLEAN NOT NULL)`,
}

// indexes are made after the load, which is faster.
var indexes = []string{
	"CREATE INDEX orders_of_customer ON orders (customer_id, id)",
	"CREATE INDEX open_purchases ON purchases (component) WHERE NOT is_delivered",
}

// Table implements postgres.Population.
func (p Population) Table() string {
	return "order_population"
}

// Check implements postgres.Population.
func (p Population) Check(ctx context.Context, on postgres.Querier) error {
	var seed int64
	var loaded Population
	err := on.QueryRow(ctx, "SELECT seed, rate FROM order_population").Scan(&seed, &loaded.Rate)
	if loaded.Seed = uint64(seed); err == nil && loaded != p {
		return fmt.Errorf("it has another population; use its --seed %d --rate %d, or another database",
			loaded.Seed, loaded.Rate)
	}
	return err
}

// Load implements postgres.Population.
func (p Population) Load(ctx context.Context, tx pgx.Tx) error {
	if err := postgres.Execute(ctx, tx, tables...); err != nil {
		return err
	}
	sequences := []string{
		postgres.CreateSequence(orderSequence, p.customers()),
		postgres.CreateSequence(workOrderSequence, 0),
		postgres.CreateSequence(purchaseSequence, 0),
	}
	if err := postgres.Execute(ctx, tx, sequences...); err != nil {
		return err
	}
	if err := postgres.Fill(ctx, tx, p.contents()...); err != nil {
		return err
	}
	return postgres.Execute(ctx, tx, indexes...)
}
