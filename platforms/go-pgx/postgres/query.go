package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Querier is a transaction, or the pool for a single statement.
type Querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// List reads all rows of a query.
func List[T any](ctx context.Context, on Querier, read pgx.RowToFunc[T], sql string, arguments ...any) ([]T, error) {
	rows, err := on.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, read)
}

// OrElse returns the refusal instead of the error of a query without a row.
func OrElse(err, refusal error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return refusal
	}
	return err
}
