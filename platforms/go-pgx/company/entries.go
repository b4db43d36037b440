package company

import (
	"context"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
)

// The transactions of dealers lock the customer first, so no other changes its orders meanwhile.

// Enter enters an order, unless the customer would then owe more than its limit.
func (d *Database) Enter(ctx context.Context, customer int, items []Item) (entry Entry, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		entry, err = d.enter(ctx, tx, customer, items)
		return err
	})
	return entry, err
}

func (d *Database) enter(ctx context.Context, tx pgx.Tx, customer int, items []Item) (Entry, error) {
	credit, err := lockCustomer(ctx, tx, customer)
	if err != nil {
		return Entry{}, err
	}
	lines, err := priced(ctx, tx, items)
	if err != nil {
		return Entry{}, err
	}
	entry := Entry{Status: open, Total: total(lines, credit.discount), WorkOrders: []int64{}}
	entry.Owed = credit.owed + entry.Total
	if entry.Owed > credit.limit {
		entry.Status, entry.Owed = refused, credit.owed
		return entry, nil
	}
	id, err := d.orderIDs.Take(ctx, tx)
	if err != nil {
		return Entry{}, err
	}
	entry.Order = &id
	isLarge := areLarge(lines)
	if err := insertOrder(ctx, tx, id, customer, isLarge, entry.Total, lines); err != nil {
		return Entry{}, err
	}
	more := pieces{}
	more.add(lines, 1)
	if err := addOrdered(ctx, tx, more); err != nil {
		return Entry{}, err
	}
	if isLarge {
		if entry.WorkOrders, err = d.insertWorkOrders(ctx, tx, id, lines); err != nil {
			return Entry{}, err
		}
	}
	return entry, setOwed(ctx, tx, customer, entry.Owed)
}

// priced returns lines with the prices of the assemblies.
func priced(ctx context.Context, tx pgx.Tx, items []Item) ([]Line, error) {
	lines := make([]Line, len(items))
	for i, item := range items {
		lines[i] = Line{Assembly: item.Assembly, Quantity: item.Quantity}
		row := tx.QueryRow(ctx, "SELECT price FROM assemblies WHERE assembly = $1", item.Assembly)
		if err := row.Scan(&lines[i].Price); err != nil {
			return nil, postgres.OrElse(err, noAssembly(item.Assembly))
		}
	}
	return lines, nil
}

func insertOrder(
	ctx context.Context, tx pgx.Tx, id int64, customer int, isLarge bool, total int64, lines []Line,
) error {
	insert := "INSERT INTO orders VALUES ($1, $2, FALSE, $3, $4)"
	if _, err := tx.Exec(ctx, insert, id, customer, isLarge, total); err != nil {
		return err
	}
	var inserts pgx.Batch
	for i, line := range lines {
		inserts.Queue("INSERT INTO order_lines VALUES ($1, $2, $3, $4, $5)",
			id, i, line.Assembly, line.Quantity, line.Price)
	}
	return send(ctx, tx, &inserts)
}

// insertWorkOrders creates a work order for each line of a large order, and returns their ids.
func (d *Database) insertWorkOrders(ctx context.Context, tx pgx.Tx, order int64, lines []Line) ([]int64, error) {
	ids := make([]int64, len(lines))
	for i, line := range lines {
		id, err := d.workOrderIDs.Take(ctx, tx)
		if err != nil {
			return nil, err
		}
		insert := "INSERT INTO work_orders VALUES ($1, $2, $3, $4, $5, 0)"
		if _, err := tx.Exec(ctx, insert, id, order, i, line.Assembly, line.Quantity); err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}
