package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Population is what an application's tables contain at first.
type Population interface {
	// Table names a table that exists only in a loaded database.
	Table() string
	// Load creates the tables, with their first contents.
	Load(ctx context.Context, tx pgx.Tx) error
	// Check fails if the tables have another population.
	Check(ctx context.Context, on Querier) error
}

// prepare loads the population if there are no tables, and checks that it is the one of the tables.
func (p *Pool) prepare(ctx context.Context, population Population, loads bool) error {
	var exists bool
	err := p.QueryRow(ctx, "SELECT to_regclass($1::text) IS NOT NULL", population.Table()).Scan(&exists)
	if err != nil {
		return fmt.Errorf("%w; check --database, its user, and the password in PGPASSWORD", err)
	}
	if !exists {
		if !loads {
			return errors.New("it has no tables; load them with --load")
		}
		if err := pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error { return population.Load(ctx, tx) }); err != nil {
			return err
		}
	}
	return population.Check(ctx, p)
}

// Execute executes statements without parameters, in their order.
func Execute(ctx context.Context, tx pgx.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
