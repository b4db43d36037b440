package company

import (
	"net/http"

	"klatch/pgx/web"
)

func (s site) order(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.URL.RawQuery, customerField, orderField)
	if err != nil {
		return nil, err
	}
	return s.database.Order(r.Context(), int(numbers[0]), numbers[1])
}

func (s site) customer(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.URL.RawQuery, customerField)
	if err != nil {
		return nil, err
	}
	return s.database.Customer(r.Context(), int(numbers[0]))
}

func (s site) purchases(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.URL.RawQuery, supplierField, suppliersField)
	if err != nil {
		return nil, err
	}
	supplier, suppliers := int(numbers[0]), int(numbers[1])
	if supplier >= suppliers {
		return nil, web.Refuse(http.StatusBadRequest, "supplier must be below of")
	}
	purchases, err := s.database.Purchases(r.Context(), supplier, suppliers)
	return struct {
		Purchases []Purchase `json:"purchases"`
	}{purchases}, err
}
