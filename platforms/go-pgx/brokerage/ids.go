package brokerage

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// idBlock is the increment of the sequences: so many ids are taken at once.
const idBlock = 1000

// ids are from a sequence of the database, taken in blocks.
type ids struct {
	sequence  string
	lock      sync.Mutex
	next, end int64
}

// take returns the next id. A block is lost if the transaction fails, which does no harm.
func (i *ids) take(ctx context.Context, tx pgx.Tx) (int64, error) {
	i.lock.Lock()
	defer i.lock.Unlock()
	if i.next == i.end {
		if err := tx.QueryRow(ctx, "SELECT nextval($1::text::regclass)", i.sequence).Scan(&i.next); err != nil {
			i.end = i.next
			return 0, err
		}
		i.end = i.next + idBlock
	}
	i.next++
	return i.next - 1, nil
}
