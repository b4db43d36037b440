package company

// The statuses of replies to dealers.
const (
	open      = "open"
	cancelled = "cancelled"
	refused   = "refused"
)

func orderStatus(isCancelled bool) string {
	if isCancelled {
		return cancelled
	}
	return open
}

// Item is a line of an order as a dealer enters it.
type Item struct {
	Assembly, Quantity int
}

// Line is a line of a stored order. The price of a piece is in cents.
type Line struct {
	Assembly int `json:"assembly"`
	Quantity int `json:"quantity"`
	Price    int `json:"price"`
}

// Order is an order of a customer. The total is in cents, after the discount.
type Order struct {
	ID       int64  `json:"order"`
	Customer int    `json:"customer"`
	Status   string `json:"status"`
	Large    bool   `json:"large"`
	Total    int64  `json:"total"`
	Lines    []Line `json:"lines"`
}

// Entry is the result of an order entry. Amounts are in cents.
type Entry struct {
	// Order is nil if the entry is refused.
	Order  *int64 `json:"order"`
	Status string `json:"status"`
	Total  int64  `json:"total"`
	// Owed is what the customer owes afterwards.
	Owed int64 `json:"owed"`
	// WorkOrders has one for each line of a large order, in the order of the lines; never nil.
	WorkOrders []int64 `json:"work_orders"`
}

// Change is the result of a change or a cancellation: the order and what the customer owes afterwards. Amounts are in cents.
type Change struct {
	Order  int64  `json:"order"`
	Status string `json:"status"`
	Total  int64  `json:"total"`
	Owed   int64  `json:"owed"`
}

// Customer is a customer with its last orders, highest ids first. Amounts are in cents.
type Customer struct {
	ID int `json:"customer"`
	// Discount is in hundredths of a per cent.
	Discount int       `json:"discount"`
	Limit    int64     `json:"limit"`
	Owed     int64     `json:"owed"`
	Orders   []Summary `json:"orders"`
}

// Summary is an order of a Customer. The total is in cents.
type Summary struct {
	Order  int64  `json:"order"`
	Status string `json:"status"`
	Total  int64  `json:"total"`
}

// WorkOrder is the making of an assembly in four steps.
type WorkOrder struct {
	ID int64 `json:"work_order"`
	// State is 0 before it is scheduled, 1 when it has its components, and stateComplete at the end.
	State    int `json:"state"`
	Assembly int `json:"assembly"`
	Quantity int `json:"quantity"`
}

const stateComplete = 4

// Purchase is components that a supplier has to deliver.
type Purchase struct {
	ID        int64 `json:"purchase"`
	Component int   `json:"component"`
	Quantity  int   `json:"quantity"`
}
