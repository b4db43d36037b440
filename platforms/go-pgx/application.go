package main

import (
	"net/http"

	"klatch/pgx/brokerage"
	"klatch/pgx/company"
	"klatch/pgx/postgres"
)

// population returns the population of the workload.
func (o *options) population() postgres.Population {
	if o.workload == orders {
		return o.company
	}
	return o.brokerage
}

// site returns the handler of the workload on a database that has its population.
func (o *options) site(pool *postgres.Pool) http.Handler {
	if o.workload == orders {
		return company.NewSite(company.NewDatabase(pool))
	}
	return brokerage.NewSite(brokerage.NewDatabase(pool, o.brokerage), o.brokerage.Quotes)
}
