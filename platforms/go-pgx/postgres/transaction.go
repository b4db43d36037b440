package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// repeatsMax is how often a transaction is repeated that the database ended because of others.
const repeatsMax = 5

// lockNotAvailable is an SQLSTATE; deadlocks and serialization failures are class 40.
const lockNotAvailable = "55P03"

// Transaction makes work a transaction. One that fails leaves nothing behind. Work may be called several times.
func (p *Pool) Transaction(ctx context.Context, work func(pgx.Tx) error) error {
	for repeats := 0; ; repeats++ {
		err := pgx.BeginFunc(ctx, p.Pool, work)
		switch {
		case err == nil:
			p.transactions.Add(1)
			return nil
		case repeats == repeatsMax || !endedForOthers(err):
			return err
		}
		p.repeats.Add(1)
	}
}

func endedForOthers(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && (strings.HasPrefix(failure.Code, "40") || failure.Code == lockNotAvailable)
}
