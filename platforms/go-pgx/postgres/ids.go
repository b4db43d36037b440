package postgres

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// idBlock is the number of ids that are taken at once, and the increment of the sequences.
const idBlock = 1000

// IDs are from a sequence of the database, taken in blocks.
type IDs struct {
	sequence  string
	lock      sync.Mutex
	next, end int64
}

// CreateSequence returns the statement that creates a sequence for IDs.
func CreateSequence(name string, firstID int) string {
	return fmt.Sprintf("CREATE SEQUENCE %s START WITH %d INCREMENT BY %d MINVALUE 0", name, firstID, idBlock)
}

// NewIDs returns the ids of a sequence made by CreateSequence.
func NewIDs(sequence string) *IDs {
	return &IDs{sequence: sequence}
}

// Take returns the next id. The id is lost if the transaction fails, which does no harm.
func (i *IDs) Take(ctx context.Context, tx pgx.Tx) (int64, error) {
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
