package company

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
	"klatch/pgx/web"
)

// purchaseQuantity is the pieces of every purchase. A component with less on hand is purchased.
const purchaseQuantity = 1_000

// component is a component that is locked. Its amounts are in pieces.
type component struct {
	number          int
	onHand, onOrder int64
}

// takeComponents takes all components of some pieces of an assembly, or none.
func (d *Database) takeComponents(ctx context.Context, tx pgx.Tx, assembly, quantity int) error {
	bill, err := billOf(ctx, tx, assembly)
	if err != nil {
		return err
	}
	components := make([]component, len(bill))
	for i, part := range bill {
		if components[i], err = lockComponent(ctx, tx, part.component, part.quantity*quantity); err != nil {
			return err
		}
	}
	for i, part := range bill {
		if err := d.take(ctx, tx, components[i], part.quantity*quantity); err != nil {
			return err
		}
	}
	return nil
}

// billOf returns the components of an assembly. The ascending order in which they are then locked prevents deadlocks.
func billOf(ctx context.Context, tx pgx.Tx, assembly int) ([]part, error) {
	read := func(row pgx.CollectableRow) (one part, err error) {
		err = row.Scan(&one.component, &one.quantity)
		return one, err
	}
	query := "SELECT component, quantity FROM bills WHERE assembly = $1 ORDER BY component"
	bill, err := postgres.List(ctx, tx, read, query, assembly)
	if err == nil && len(bill) == 0 {
		err = noAssembly(assembly)
	}
	return bill, err
}

// lockComponent locks a component. It refuses one of which fewer pieces are on hand than needed.
func lockComponent(ctx context.Context, tx pgx.Tx, number, needed int) (component, error) {
	locked := component{number: number}
	query := "SELECT on_hand, on_order FROM components WHERE component = $1 FOR UPDATE"
	err := tx.QueryRow(ctx, query, number).Scan(&locked.onHand, &locked.onOrder)
	if err == nil && locked.onHand < int64(needed) {
		err = web.Refuse(http.StatusConflict,
			"component %d is short: %d on hand, %d needed", number, locked.onHand, needed)
	}
	return locked, err
}

// take takes pieces of a component that are on hand, and purchases others if few remain.
func (d *Database) take(ctx context.Context, tx pgx.Tx, one component, quantity int) error {
	isLow := one.onHand-int64(quantity) < purchaseQuantity && one.onOrder == 0
	more := 0
	if isLow {
		more = purchaseQuantity
	}
	update := `UPDATE components SET on_hand = on_hand - $1, consumed = consumed + $1, on_order = on_order + $2
		WHERE component = $3`
	if _, err := tx.Exec(ctx, update, quantity, more, one.number); err != nil || !isLow {
		return err
	}
	id, err := d.purchaseIDs.Take(ctx, tx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO purchases VALUES ($1, $2, $3, FALSE)", id, one.number, more)
	return err
}

// Deliver delivers a purchase.
func (d *Database) Deliver(ctx context.Context, id int64) (delivered Purchase, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		if delivered, err = lockPurchase(ctx, tx, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE purchases SET is_delivered = TRUE WHERE id = $1", id); err != nil {
			return err
		}
		update := `UPDATE components SET on_hand = on_hand + $1, received = received + $1, on_order = 0
			WHERE component = $2`
		_, err = tx.Exec(ctx, update, delivered.Quantity, delivered.Component)
		return err
	})
	return delivered, err
}

// lockPurchase locks a purchase, which must not be delivered.
func lockPurchase(ctx context.Context, tx pgx.Tx, id int64) (Purchase, error) {
	locked := Purchase{ID: id}
	var isDelivered bool
	query := "SELECT component, quantity, is_delivered FROM purchases WHERE id = $1 FOR UPDATE"
	err := tx.QueryRow(ctx, query, id).Scan(&locked.Component, &locked.Quantity, &isDelivered)
	if err != nil {
		return locked, postgres.OrElse(err, web.Refuse(http.StatusNotFound, "there is no purchase %d", id))
	}
	if isDelivered {
		return locked, web.Refuse(http.StatusConflict, "purchase %d is delivered already", id)
	}
	return locked, nil
}
