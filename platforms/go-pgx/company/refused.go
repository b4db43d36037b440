package company

import (
	"net/http"

	"klatch/pgx/web"
)

func noCustomer(customer int) error {
	return web.Refuse(http.StatusNotFound, "there is no customer %d", customer)
}

func noAssembly(assembly int) error {
	return web.Refuse(http.StatusNotFound, "there is no assembly %d", assembly)
}
