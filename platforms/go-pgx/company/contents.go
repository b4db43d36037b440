package company

import "klatch/pgx/postgres"

// contents returns the first rows of all tables that have any. They are generated while they are copied, since a large
// population has millions.
func (p Population) contents() []postgres.Contents {
	ordered := p.ordered()
	population := func(int) [][]any {
		return [][]any{{int64(p.Seed), p.Rate}}
	}
	customer := func(number int) [][]any {
		first := p.customer(number)
		return [][]any{{number, first.discount, first.limit, first.owed}}
	}
	order := func(customer int) [][]any {
		return [][]any{{int64(customer), customer, false, false, p.customer(customer).owed}}
	}
	lines := func(customer int) (rows [][]any) {
		for i, line := range p.firstLines(customer) {
			rows = append(rows, []any{int64(customer), i, line.Assembly, line.Quantity, line.Price})
		}
		return rows
	}
	assembly := func(number int) [][]any {
		return [][]any{{number, p.price(number), ordered[number], 0}}
	}
	bill := func(assembly int) (rows [][]any) {
		for i, part := range p.assembly(assembly).bill {
			rows = append(rows, []any{assembly, i, part.component, part.quantity})
		}
		return rows
	}
	component := func(number int) [][]any {
		return [][]any{{number, p.onHand(number), 0, 0, 0}}
	}
	return []postgres.Contents{
		postgres.RowGroups(1, population, "order_population", "seed", "rate"),
		postgres.RowGroups(p.customers(), customer, "customers", "customer_id", "discount", "credit_limit", "owed"),
		postgres.RowGroups(p.customers(), order, "orders", "id", "customer_id", "is_cancelled", "is_large", "total"),
		postgres.RowGroups(p.customers(), lines, "order_lines", "order_id", "line", "assembly", "quantity", "price"),
		postgres.RowGroups(p.assemblies(), assembly, "assemblies", "assembly", "price", "ordered", "made"),
		postgres.RowGroups(p.assemblies(), bill, "bills", "assembly", "line", "component", "quantity"),
		postgres.RowGroups(p.components(), component, "components",
			"component", "on_hand", "received", "consumed", "on_order"),
	}
}

// ordered returns the pieces of each assembly in the first orders.
func (p Population) ordered() pieces {
	ordered := pieces{}
	for customer := 0; customer < p.customers(); customer++ {
		ordered.add(p.firstLines(customer), 1)
	}
	return ordered
}
