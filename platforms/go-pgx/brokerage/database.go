package brokerage

import "klatch/pgx/postgres"

// Database is the brokerage on a pool of connections.
type Database struct {
	pool                 *postgres.Pool
	population           Population
	orderIDs, holdingIDs *postgres.IDs
	market               marketCache
}

// NewDatabase returns the brokerage of a pool whose database has this population.
func NewDatabase(pool *postgres.Pool, population Population) *Database {
	return &Database{
		pool:       pool,
		population: population,
		orderIDs:   postgres.NewIDs(orderSequence),
		holdingIDs: postgres.NewIDs(holdingSequence),
	}
}

// Statistics returns what was counted so far.
func (d *Database) Statistics() postgres.Statistics {
	return d.pool.Statistics()
}
