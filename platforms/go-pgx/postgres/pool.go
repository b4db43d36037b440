// Package postgres has what the applications share of PostgreSQL: a pool of connections, transactions that are repeated, and
// ids.
package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options describe the database.
type Options struct {
	// URL is [jdbc:]postgresql://HOST:PORT/NAME?user=USER.
	URL string
	// Loads is whether the population is loaded if there are no tables.
	Loads           bool
	Connections     int
	KeepsStatements bool
}

// Pool is a pool of connections that counts its transactions.
type Pool struct {
	*pgxpool.Pool

	transactions, repeats atomic.Int64
}

// Open connects to a database that has this population, or loads it. The error says what to check.
func Open(ctx context.Context, options Options, population Population) (*Pool, error) {
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
	connections, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	pool := &Pool{Pool: connections}
	if err := pool.prepare(ctx, population, options.Loads); err != nil {
		pool.Close()
		return nil, fmt.Errorf("cannot use the database: %w", err)
	}
	return pool, nil
}

// Statistics are counts since the start.
type Statistics struct {
	Transactions int64 `json:"transactions"`
	Repeats      int64 `json:"repeats"`
	PoolWaitUs   int64 `json:"pool_wait_us"`
}

// Statistics returns what was counted so far.
func (p *Pool) Statistics() Statistics {
	return Statistics{p.transactions.Load(), p.repeats.Load(), p.Stat().AcquireDuration().Microseconds()}
}
