package company

import (
	"net/http"

	"klatch/pgx/web"
)

// site serves the requests of workload orders.
type site struct {
	database *Database
}

// NewSite returns the handler of a company.
func NewSite(database *Database) http.Handler {
	s := site{database}
	return web.Site{
		Root: "/orders/",
		Gets: map[string]web.Handler{
			"order":      s.order,
			"customer":   s.customer,
			"purchases":  s.purchases,
			"statistics": func(*web.Request) (any, error) { return s.database.Statistics(), nil },
		},
		Posts: map[string]web.Handler{
			"new":      s.enter,
			"change":   s.change,
			"cancel":   s.cancel,
			"plan":     s.plan,
			"schedule": s.schedule,
			"advance":  s.advance,
			"deliver":  s.deliver,
		},
	}
}
