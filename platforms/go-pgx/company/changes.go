package company

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/web"
)

// Change changes the quantities of an order, unless the customer would then owe more than its limit. The items have the
// assemblies of the order, in its order.
func (d *Database) Change(ctx context.Context, customer int, id int64, items []Item) (change Change, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		change, err = changeOrder(ctx, tx, customer, id, items)
		return err
	})
	return change, err
}

func changeOrder(ctx context.Context, tx pgx.Tx, customer int, id int64, items []Item) (Change, error) {
	credit, old, err := lockOrder(ctx, tx, customer, id)
	if err != nil {
		return Change{}, err
	}
	lines, err := old.withQuantities(items)
	if err != nil {
		return Change{}, err
	}
	change := Change{id, open, total(lines, credit.discount), 0}
	change.Owed = credit.owed - old.Total + change.Total
	if change.Owed > credit.limit {
		return Change{id, refused, old.Total, credit.owed}, nil
	}
	var updates pgx.Batch
	for i, line := range lines {
		updates.Queue("UPDATE order_lines SET quantity = $1 WHERE order_id = $2 AND line = $3", line.Quantity, id, i)
	}
	if err := send(ctx, tx, &updates); err != nil {
		return Change{}, err
	}
	more := pieces{}
	more.add(lines, 1)
	more.add(old.Lines, -1)
	if err := addOrdered(ctx, tx, more); err != nil {
		return Change{}, err
	}
	if _, err := tx.Exec(ctx, "UPDATE orders SET total = $1 WHERE id = $2", change.Total, id); err != nil {
		return Change{}, err
	}
	return change, setOwed(ctx, tx, customer, change.Owed)
}

// Cancel cancels an order that is not large.
func (d *Database) Cancel(ctx context.Context, customer int, id int64) (change Change, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		change, err = cancelOrder(ctx, tx, customer, id)
		return err
	})
	return change, err
}

func cancelOrder(ctx context.Context, tx pgx.Tx, customer int, id int64) (Change, error) {
	credit, old, err := lockOrder(ctx, tx, customer, id)
	if err != nil {
		return Change{}, err
	}
	less := pieces{}
	less.add(old.Lines, -1)
	if err := addOrdered(ctx, tx, less); err != nil {
		return Change{}, err
	}
	if _, err := tx.Exec(ctx, "UPDATE orders SET is_cancelled = TRUE WHERE id = $1", id); err != nil {
		return Change{}, err
	}
	change := Change{id, cancelled, old.Total, credit.owed - old.Total}
	return change, setOwed(ctx, tx, customer, change.Owed)
}

// lockOrder locks a customer and returns an order of it that can be changed.
func lockOrder(ctx context.Context, tx pgx.Tx, customer int, id int64) (credit, Order, error) {
	locked, err := lockCustomer(ctx, tx, customer)
	if err != nil {
		return credit{}, Order{}, err
	}
	entry, err := order(ctx, tx, customer, id)
	if err == nil {
		err = entry.checkChangeable()
	}
	return locked, entry, err
}

// checkChangeable refuses to change or cancel an order that is large or cancelled.
func (o Order) checkChangeable() error {
	switch {
	case o.Large:
		return web.Refuse(http.StatusConflict, "order %d is large", o.ID)
	case o.Status == cancelled:
		return web.Refuse(http.StatusConflict, "order %d is cancelled", o.ID)
	}
	return nil
}

// withQuantities returns the lines of the order with the quantities of items.
func (o Order) withQuantities(items []Item) ([]Line, error) {
	matches := len(items) == len(o.Lines)
	lines := make([]Line, len(o.Lines))
	for i := 0; matches && i < len(lines); i++ {
		matches = items[i].Assembly == o.Lines[i].Assembly
		lines[i] = Line{items[i].Assembly, items[i].Quantity, o.Lines[i].Price}
	}
	switch {
	case !matches:
		return nil, web.Refuse(http.StatusBadRequest, "order %d has other assemblies", o.ID)
	case areLarge(lines):
		return nil, web.Refuse(http.StatusBadRequest, "a change cannot make an order large")
	}
	return lines, nil
}
