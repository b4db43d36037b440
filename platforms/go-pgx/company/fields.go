package company

import (
	"math"
	"net/http"
	"strings"

	"klatch/pgx/web"
)

const (
	linesMax    = 5
	quantityMax = 1_000
)

// numberField is a field of a request whose value is a number from least to most.
type numberField struct {
	name        string
	least, most int64
}

var (
	customerField  = numberField{"customer", 0, math.MaxInt32}
	orderField     = numberField{"order", 0, math.MaxInt64}
	assemblyField  = numberField{"assembly", 0, math.MaxInt32}
	quantityField  = numberField{"quantity", 1, quantityMax}
	workOrderField = numberField{"work_order", 0, math.MaxInt64}
	stateField     = numberField{"state", 2, stateComplete}
	supplierField  = numberField{"supplier", 0, math.MaxInt32}
	suppliersField = numberField{"of", 1, math.MaxInt32}
	purchaseField  = numberField{"purchase", 0, math.MaxInt64}
)

func (f numberField) parse(digits string) (int64, error) {
	return web.ParseNumber(digits, f.least, f.most)
}

// parseNumbers parses a body or query that has exactly these fields.
func parseNumbers(text string, fields ...numberField) ([]int64, error) {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.name
	}
	form, err := web.ParseForm(text, names...)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, len(fields))
	for i, field := range fields {
		if numbers[i], err = field.parse(form[i]); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// parseItems parses the lines of an order: pairs of an assembly and a quantity.
func parseItems(lines string) ([]Item, error) {
	pairs := strings.Split(lines, ",")
	if len(pairs) > linesMax {
		return nil, web.Refuse(http.StatusBadRequest, "at most %d lines", linesMax)
	}
	items := make([]Item, len(pairs))
	for i, pair := range pairs {
		left, right, isPair := strings.Cut(pair, ":")
		if !isPair {
			return nil, web.Refuse(http.StatusBadRequest, "a line is ASSEMBLY:QUANTITY")
		}
		assembly, err := assemblyField.parse(left)
		if err != nil {
			return nil, err
		}
		quantity, err := quantityField.parse(right)
		if err != nil {
			return nil, err
		}
		items[i] = Item{int(assembly), int(quantity)}
	}
	return items, nil
}
