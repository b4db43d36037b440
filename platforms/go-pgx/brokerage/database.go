package brokerage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// repeatsMax is how often a transaction is made again that the database ended for the sake of others.
const repeatsMax = 5

// lockNotAvailable is an SQLSTATE; deadlocks and serialization failures are class 40.
const lockNotAvailable = "55P03"

// Options describe the database.
type Options struct {
	// URL is [jdbc:]postgresql://HOST:PORT/NAME?user=USER.
	URL        string
	Population Population
	// Loads is whether the population is loaded if there are no tables.
	Loads           bool
	Connections     int
	KeepsStatements bool
}

// Database is the brokerage on a pool of connections.
type Database struct {
	pool       *pgxpool.Pool
	population Population
	orderIDs   ids
	holdingIDs ids
	market     marketCache

	transactions, repeats atomic.Int64
}

// Open connects to the database. The error says what to check.
func Open(ctx context.Context, options Options) (*Database, error) {
	url := strings.TrimPrefix(options.URL, "jdbc:")
	if !strings.HasPrefix(url, "postgresql:") {
		return nil, fmt.Errorf("cannot use the database %s: it must be postgresql:…", options.URL)
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	config.MaxConns = int32(options.Connections)
	config.MinConns = config.MaxConns
	// A run opens and closes no connection.
	config.MaxConnLifetime, config.MaxConnIdleTime = 24*time.Hour, 24*time.Hour
	if !options.KeepsStatements {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	d := &Database{pool: pool, population: options.Population}
	d.orderIDs.sequence, d.holdingIDs.sequence = "order_ids", "holding_ids"
	if err := d.prepare(ctx, options.Loads); err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot use the database: %w; check --database, its user and its password", err)
	}
	return d, nil
}

// Close closes all connections.
func (d *Database) Close() {
	d.pool.Close()
}

// Statistics returns what was counted so far.
func (d *Database) Statistics() Statistics {
	return Statistics{d.transactions.Load(), d.repeats.Load(), d.pool.Stat().AcquireDuration().Microseconds()}
}

// transaction makes work a transaction. One that fails leaves nothing behind.
func (d *Database) transaction(ctx context.Context, work func(pgx.Tx) error) error {
	for repeats := 0; ; repeats++ {
		err := pgx.BeginFunc(ctx, d.pool, work)
		switch {
		case err == nil:
			d.transactions.Add(1)
			return nil
		case repeats == repeatsMax || !endedForOthers(err):
			return err
		}
		d.repeats.Add(1)
	}
}

func endedForOthers(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && (strings.HasPrefix(failure.Code, "40") || failure.Code == lockNotAvailable)
}

// querier is a transaction, or the pool for a single statement.
type querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// list reads all rows of a query.
func list[T any](ctx context.Context, on querier, read pgx.RowToFunc[T], sql string, arguments ...any) ([]T, error) {
	rows, err := on.Query(ctx, sql, arguments...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, read)
}

// orElse returns the refusal instead of the error of a query without a row.
func orElse(err, refusal error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return refusal
	}
	return err
}
