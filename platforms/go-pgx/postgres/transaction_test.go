package postgres

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestOnlyTransactionsThatEndedBecauseOfOthersAreRepeated(t *testing.T) {
	for code, want := range map[string]bool{
		"40P01": true, // deadlock
		"40001": true, // serialization failure
		"55P03": true, // lock not available
		"23505": false,
		"57014": false,
	} {
		if got := endedForOthers(fmt.Errorf("a step: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s: %t", code, got)
		}
	}
	if endedForOthers(errors.New("40001")) {
		t.Error("an error that is not the database's")
	}
}
