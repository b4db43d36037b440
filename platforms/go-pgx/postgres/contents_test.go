package postgres

import (
	"reflect"
	"testing"
)

func TestRowsOfAllGroupsAreCopiedInTheirOrder(t *testing.T) {
	sizes := []int{0, 2, 0, 1, 3, 0}
	group := func(number int) (rows [][]any) {
		for i := 0; i < sizes[number]; i++ {
			rows = append(rows, []any{number, i})
		}
		return rows
	}
	source := RowGroups(len(sizes), group, "things", "number", "i").rows
	var copied [][]any
	for source.Next() {
		row, err := source.Values()
		if err != nil {
			t.Fatal(err)
		}
		copied = append(copied, row)
	}
	want := [][]any{{1, 0}, {1, 1}, {3, 0}, {4, 0}, {4, 1}, {4, 2}}
	if source.Err() != nil || !reflect.DeepEqual(copied, want) {
		t.Errorf("%v, %v", copied, source.Err())
	}
}
