// Package company is workload orders on PostgreSQL. The definition is docs/reference/orders.md.
package company

import "klatch/pgx/splitmix"

const (
	customersPerRate = 75
	// assembliesStep is what the number of assemblies is a multiple of.
	assembliesStep = 100
	// billLines is the number of components of an assembly, and the number of components for each assembly.
	billLines = 5
	// limitOfMost is the credit limit of nine customers in ten, cents.
	limitOfMost = 1_000_000_000

	partCustomers   = 13
	partAssemblies  = 14
	partComponents  = 15
	partFirstOrders = 16
)

// Population determines the first state of every customer, assembly and component.
type Population struct {
	Seed uint64
	// Rate is the injection rate, 1 to 10,000.
	Rate int
}

// assembly is an assembly as it is loaded.
type assembly struct {
	// price is in cents.
	price int
	bill  []part
}

// part is a component of an assembly.
type part struct {
	component int
	// quantity is the pieces in one assembly.
	quantity int
}

// firstCustomer is a customer as it is loaded, with the lines of its first order. It owes the total of that order.
type firstCustomer struct {
	// discount is in hundredths of a per cent.
	discount int
	// limit and owed are in cents.
	limit, owed int64
	lines       []Line
}

func (p Population) customers() int {
	return customersPerRate * p.Rate
}

func (p Population) assemblies() int {
	return (p.Rate + assembliesStep - 1) / assembliesStep * assembliesStep
}

func (p Population) components() int {
	return billLines * p.assemblies()
}

// assembly returns the assembly with this number.
func (p Population) assembly(number int) assembly {
	draws := splitmix.NewSequence(p.Seed, partAssemblies, number)
	drawn := assembly{price: drawPrice(draws), bill: make([]part, billLines)}
	first := draws.Below(p.components())
	step := 1 + draws.Below(p.components()/billLines-1)
	for i := range drawn.bill {
		drawn.bill[i] = part{(first + i*step) % p.components(), 1 + draws.Below(3)}
	}
	return drawn
}

func (p Population) price(assembly int) int {
	return drawPrice(splitmix.NewSequence(p.Seed, partAssemblies, assembly))
}

// drawPrice draws the price of an assembly, which is the first draw of its sequence.
func drawPrice(draws *splitmix.Sequence) int {
	return 1_000 + draws.Below(9_001)
}

// onHand returns how many pieces of a component are on hand at first.
func (p Population) onHand(component int) int {
	return 1_000 + splitmix.NewSequence(p.Seed, partComponents, component).Below(200)
}

// customer returns the customer with this number.
func (p Population) customer(number int) firstCustomer {
	draws := splitmix.NewSequence(p.Seed, partCustomers, number)
	first := firstCustomer{discount: draws.Below(2_001), limit: limitOfMost, lines: p.firstLines(number)}
	first.owed = total(first.lines, first.discount)
	if kind := draws.Below(10); kind == 0 {
		first.limit = first.owed + int64(draws.Below(200_001))
	}
	return first
}

// firstLines returns the lines of the first order of a customer.
func (p Population) firstLines(customer int) []Line {
	draws := splitmix.NewSequence(p.Seed, partFirstOrders, customer)
	lines := make([]Line, 1+draws.Below(linesMax))
	for i := range lines {
		assembly := draws.Below(p.assemblies())
		lines[i] = Line{assembly, 1 + draws.Below(10), p.price(assembly)}
	}
	return lines
}
