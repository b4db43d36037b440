package company

import (
	"reflect"
	"testing"
)

func TestATotalIsRoundedHalfUpOnce(t *testing.T) {
	two := []Line{{1, 1, 1_001}, {2, 1, 1_002}}
	for _, one := range []struct {
		lines    []Line
		discount int
		total    int64
	}{
		{two, 0, 2_003},
		{two, 4, 2_002}, // 2002.1988
		{two, 2, 2_003}, // 2002.5994
		{[]Line{{1, 1, 1_000}}, 5_000, 500},
		{[]Line{{1, 1, 1_001}}, 5_000, 501}, // 500.5
		{[]Line{{1, 1_000, 10_000}, {1, 1_000, 10_000}}, 0, 20_000_000},
	} {
		if got := total(one.lines, one.discount); got != one.total {
			t.Errorf("%+v: %d", one, got)
		}
	}
}

func TestAnOrderIsLargeFrom51Pieces(t *testing.T) {
	if areLarge([]Line{{1, 10, 1}, {1, 40, 1}}) {
		t.Error("50 pieces")
	}
	if !areLarge([]Line{{1, 10, 1}, {1, 41, 1}}) {
		t.Error("51 pieces")
	}
}

func TestPiecesOfTheSameAssemblyAdd(t *testing.T) {
	more := pieces{}
	more.add([]Line{{4, 3, 1}, {2, 5, 1}, {4, 1, 1}}, 1)
	more.add([]Line{{4, 10, 1}, {2, 5, 1}}, -1)
	if want := (pieces{4: -6, 2: 0}); !reflect.DeepEqual(more, want) {
		t.Errorf("%v", more)
	}
}
