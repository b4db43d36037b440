package company

import (
	"context"
	"sort"

	"github.com/jackc/pgx/v5"
)

const (
	// piecesOfSmallMax is the most pieces of an order that is not large.
	piecesOfSmallMax = 50
	// whole is 100 per cent, in hundredths of a per cent.
	whole = 10_000
)

// total returns the total of an order with these lines, in cents. The discount is in hundredths of a per cent.
func total(lines []Line, discount int) int64 {
	value := int64(0)
	for _, line := range lines {
		value += int64(line.Price) * int64(line.Quantity)
	}
	return (value*int64(whole-discount) + whole/2) / whole
}

// areLarge returns whether an order with these lines is large.
func areLarge(lines []Line) bool {
	pieces := 0
	for _, line := range lines {
		pieces += line.Quantity
	}
	return pieces > piecesOfSmallMax
}

// pieces are what is ordered of assemblies, by their numbers.
type pieces map[int]int

// add adds the quantities of lines, times a sign.
func (p pieces) add(lines []Line, sign int) {
	for _, line := range lines {
		p[line.Assembly] += sign * line.Quantity
	}
}

// addOrdered adds to what is ordered of assemblies. The ascending order prevents deadlocks.
func addOrdered(ctx context.Context, tx pgx.Tx, more pieces) error {
	var assemblies []int
	for assembly, quantity := range more {
		if quantity != 0 {
			assemblies = append(assemblies, assembly)
		}
	}
	sort.Ints(assemblies)
	var updates pgx.Batch
	for _, assembly := range assemblies {
		updates.Queue("UPDATE assemblies SET ordered = ordered + $1 WHERE assembly = $2", more[assembly], assembly)
	}
	return send(ctx, tx, &updates)
}

// send executes the statements of a batch in one round trip.
func send(ctx context.Context, tx pgx.Tx, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, batch).Close()
}
