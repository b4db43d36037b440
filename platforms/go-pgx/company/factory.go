package company

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
	"klatch/pgx/web"
)

// Plan creates a work order that has its components.
func (d *Database) Plan(ctx context.Context, assembly, quantity int) (planned WorkOrder, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) error {
		if err := d.takeComponents(ctx, tx, assembly, quantity); err != nil {
			return err
		}
		id, err := d.workOrderIDs.Take(ctx, tx)
		if err != nil {
			return err
		}
		planned = WorkOrder{id, 1, assembly, quantity}
		insert := "INSERT INTO work_orders VALUES ($1, NULL, NULL, $2, $3, $4)"
		_, err = tx.Exec(ctx, insert, id, assembly, quantity, planned.State)
		return err
	})
	return planned, err
}

// Schedule takes the components of a work order of a large order.
func (d *Database) Schedule(ctx context.Context, id int64) (scheduled WorkOrder, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		if scheduled, err = lockWorkOrder(ctx, tx, id, 0); err != nil {
			return err
		}
		if err := d.takeComponents(ctx, tx, scheduled.Assembly, scheduled.Quantity); err != nil {
			return err
		}
		return scheduled.setState(ctx, tx, 1)
	})
	return scheduled, err
}

// Advance takes a work order to its next state, which is 2 to 4.
func (d *Database) Advance(ctx context.Context, id int64, state int) (advanced WorkOrder, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		if advanced, err = lockWorkOrder(ctx, tx, id, state-1); err != nil {
			return err
		}
		if err := advanced.setState(ctx, tx, state); err != nil || state != stateComplete {
			return err
		}
		update := "UPDATE assemblies SET made = made + $1 WHERE assembly = $2"
		_, err = tx.Exec(ctx, update, advanced.Quantity, advanced.Assembly)
		return err
	})
	return advanced, err
}

// lockWorkOrder locks a work order, which must be in this state.
func lockWorkOrder(ctx context.Context, tx pgx.Tx, id int64, state int) (WorkOrder, error) {
	locked := WorkOrder{ID: id}
	query := "SELECT state, assembly, quantity FROM work_orders WHERE id = $1 FOR UPDATE"
	err := tx.QueryRow(ctx, query, id).Scan(&locked.State, &locked.Assembly, &locked.Quantity)
	if err != nil {
		return locked, postgres.OrElse(err, web.Refuse(http.StatusNotFound, "there is no work order %d", id))
	}
	if locked.State != state {
		return locked, web.Refuse(http.StatusConflict,
			"work order %d is in state %d instead of %d", id, locked.State, state)
	}
	return locked, nil
}

func (w *WorkOrder) setState(ctx context.Context, tx pgx.Tx, state int) error {
	w.State = state
	_, err := tx.Exec(ctx, "UPDATE work_orders SET state = $1 WHERE id = $2", state, w.ID)
	return err
}
