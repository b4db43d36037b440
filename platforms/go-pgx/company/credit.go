package company

import (
	"context"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
)

// credit is what a customer pays and may owe.
type credit struct {
	// discount is in hundredths of a per cent.
	discount int
	// limit and owed are in cents.
	limit, owed int64
}

func lockCustomer(ctx context.Context, tx pgx.Tx, customer int) (locked credit, err error) {
	query := "SELECT discount, credit_limit, owed FROM customers WHERE customer_id = $1 FOR UPDATE"
	err = tx.QueryRow(ctx, query, customer).Scan(&locked.discount, &locked.limit, &locked.owed)
	return locked, postgres.OrElse(err, noCustomer(customer))
}

func setOwed(ctx context.Context, tx pgx.Tx, customer int, owed int64) error {
	_, err := tx.Exec(ctx, "UPDATE customers SET owed = $1 WHERE customer_id = $2", owed, customer)
	return err
}
