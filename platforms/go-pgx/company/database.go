package company

import "klatch/pgx/postgres"

// Database is the company on a pool of connections. Each of its methods is one transaction.
type Database struct {
	pool                                *postgres.Pool
	orderIDs, workOrderIDs, purchaseIDs *postgres.IDs
}

// NewDatabase returns the company of a pool whose database is loaded.
func NewDatabase(pool *postgres.Pool) *Database {
	return &Database{
		pool:         pool,
		orderIDs:     postgres.NewIDs(orderSequence),
		workOrderIDs: postgres.NewIDs(workOrderSequence),
		purchaseIDs:  postgres.NewIDs(purchaseSequence),
	}
}

// Statistics returns what was counted so far.
func (d *Database) Statistics() postgres.Statistics {
	return d.pool.Statistics()
}
