package company

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
	"klatch/pgx/web"
)

const (
	ordersShown    = 10
	purchasesShown = 20
)

// Each query is one statement, so it reads one state of the database.

// Order returns an order of a customer.
func (d *Database) Order(ctx context.Context, customer int, id int64) (Order, error) {
	return order(ctx, d.pool, customer, id)
}

func order(ctx context.Context, on postgres.Querier, customer int, id int64) (Order, error) {
	entry := Order{ID: id, Customer: customer}
	read := func(row pgx.CollectableRow) (line Line, err error) {
		var isCancelled bool
		err = row.Scan(&isCancelled, &entry.Large, &entry.Total, &line.Assembly, &line.Quantity, &line.Price)
		entry.Status = orderStatus(isCancelled)
		return line, err
	}
	query := `SELECT o.is_cancelled, o.is_large, o.total, l.assembly, l.quantity, l.price
		FROM orders o JOIN order_lines l ON l.order_id = o.id WHERE o.id = $1 AND o.customer_id = $2 ORDER BY l.line`
	lines, err := postgres.List(ctx, on, read, query, id, customer)
	if err == nil && len(lines) == 0 {
		err = web.Refuse(http.StatusNotFound, "customer %d has no order %d", customer, id)
	}
	entry.Lines = lines
	return entry, err
}

// Customer returns a customer with its last orders. Every customer has at least its first one.
func (d *Database) Customer(ctx context.Context, id int) (Customer, error) {
	account := Customer{ID: id}
	read := func(row pgx.CollectableRow) (one Summary, err error) {
		var isCancelled bool
		err = row.Scan(&account.Discount, &account.Limit, &account.Owed, &one.Order, &isCancelled, &one.Total)
		one.Status = orderStatus(isCancelled)
		return one, err
	}
	query := `SELECT c.discount, c.credit_limit, c.owed, o.id, o.is_cancelled, o.total
		FROM customers c JOIN orders o ON o.customer_id = c.customer_id
		WHERE c.customer_id = $1 ORDER BY o.id DESC FETCH FIRST $2 ROWS ONLY`
	orders, err := postgres.List(ctx, d.pool, read, query, id, ordersShown)
	if err == nil && len(orders) == 0 {
		err = noCustomer(id)
	}
	account.Orders = orders
	return account, err
}

// Purchases returns the purchases of a supplier that are not delivered, lowest ids first. supplier is a
// number from 0, and suppliers is how many suppliers there are.
func (d *Database) Purchases(ctx context.Context, supplier, suppliers int) ([]Purchase, error) {
	read := pgx.RowToStructByPos[Purchase]
	query := `SELECT id, component, quantity FROM purchases WHERE is_delivered = FALSE AND MOD(component, $1) = $2
		ORDER BY id FETCH FIRST $3 ROWS ONLY`
	return postgres.List(ctx, d.pool, read, query, suppliers, supplier, purchasesShown)
}
