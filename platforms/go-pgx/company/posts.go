package company

import "klatch/pgx/web"

func (s site) enter(r *web.Request) (any, error) {
	form, err := web.ParseForm(r.BodyText, "customer", "lines")
	if err != nil {
		return nil, err
	}
	customer, err := customerField.parse(form[0])
	if err != nil {
		return nil, err
	}
	items, err := parseItems(form[1])
	if err != nil {
		return nil, err
	}
	return s.database.Enter(r.Context(), int(customer), items)
}

func (s site) change(r *web.Request) (any, error) {
	form, err := web.ParseForm(r.BodyText, "customer", "order", "lines")
	if err != nil {
		return nil, err
	}
	customer, err := customerField.parse(form[0])
	if err != nil {
		return nil, err
	}
	order, err := orderField.parse(form[1])
	if err != nil {
		return nil, err
	}
	items, err := parseItems(form[2])
	if err != nil {
		return nil, err
	}
	return s.database.Change(r.Context(), int(customer), order, items)
}

func (s site) cancel(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.BodyText, customerField, orderField)
	if err != nil {
		return nil, err
	}
	return s.database.Cancel(r.Context(), int(numbers[0]), numbers[1])
}

func (s site) plan(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.BodyText, assemblyField, quantityField)
	if err != nil {
		return nil, err
	}
	return s.database.Plan(r.Context(), int(numbers[0]), int(numbers[1]))
}

func (s site) schedule(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.BodyText, workOrderField)
	if err != nil {
		return nil, err
	}
	return s.database.Schedule(r.Context(), numbers[0])
}

func (s site) advance(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.BodyText, workOrderField, stateField)
	if err != nil {
		return nil, err
	}
	return s.database.Advance(r.Context(), numbers[0], int(numbers[1]))
}

func (s site) deliver(r *web.Request) (any, error) {
	numbers, err := parseNumbers(r.BodyText, purchaseField)
	if err != nil {
		return nil, err
	}
	return s.database.Deliver(r.Context(), numbers[0])
}
