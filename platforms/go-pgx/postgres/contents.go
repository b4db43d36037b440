package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Contents are the first rows of a table.
type Contents struct {
	table   string
	columns []string
	rows    pgx.CopyFromSource
}

// Rows returns the contents of a table whose rows are in memory.
func Rows(rows [][]any, table string, columns ...string) Contents {
	return Contents{table, columns, pgx.CopyFromRows(rows)}
}

// RowGroups returns the contents of a table whose rows are generated in groups, which are numbered from 0. Only one group
// is in memory.
func RowGroups(groups int, group func(int) [][]any, table string, columns ...string) Contents {
	var rows [][]any
	next := 0
	return Contents{table, columns, pgx.CopyFromFunc(func() ([]any, error) {
		for ; len(rows) == 0; next++ {
			if next == groups {
				return nil, nil // the end
			}
			rows = group(next)
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	})}
}

// Fill copies contents to their tables.
func Fill(ctx context.Context, tx pgx.Tx, contents ...Contents) error {
	for _, one := range contents {
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{one.table}, one.columns, one.rows); err != nil {
			return err
		}
	}
	return nil
}
