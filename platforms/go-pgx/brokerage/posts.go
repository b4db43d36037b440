package brokerage

import "strconv"

func (s site) login(r *request) (any, error) {
	fields, err := parseForm(r.body, "user", "password")
	if err != nil {
		return nil, err
	}
	user, err := number(fields[0], 0, numberMax)
	if err != nil {
		return nil, err
	}
	password, err := fields.text(1)
	if err != nil {
		return nil, err
	}
	account, err := s.database.Login(r.Context(), user, password)
	if err == nil {
		r.setCookie(strconv.FormatInt(user, 10))
	}
	return account, err
}

func (s site) logout(r *request) (any, error) {
	user, err := r.user()
	if err != nil {
		return nil, err
	}
	account, err := s.database.Logout(r.Context(), user)
	if err == nil {
		r.setCookie("")
	}
	return account, err
}

func (s site) register(r *request) (any, error) {
	fields, err := parseForm(r.body, "user", "password", "balance")
	if err != nil {
		return nil, err
	}
	user, err := number(fields[0], 0, numberMax)
	if err != nil {
		return nil, err
	}
	password, err := fields.text(1)
	if err != nil {
		return nil, err
	}
	balance, err := number(fields[2], 0, balanceMax)
	if err != nil {
		return nil, err
	}
	account, err := s.database.Register(r.Context(), user, password, balance)
	if err == nil {
		r.setCookie(strconv.FormatInt(user, 10))
	}
	return account, err
}

func (s site) update(r *request) (any, error) {
	user, err := r.user()
	if err != nil {
		return nil, err
	}
	fields, err := parseForm(r.body, "address", "email", "card")
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if _, err := fields.text(i); err != nil {
			return nil, err
		}
	}
	return s.database.Update(r.Context(), user, fields[0], fields[1], fields[2])
}

func (s site) buy(r *request) (any, error) {
	user, err := r.user()
	if err != nil {
		return nil, err
	}
	fields, err := parseForm(r.body, "symbol", "quantity")
	if err != nil {
		return nil, err
	}
	symbol, err := s.existing(fields[0])
	if err != nil {
		return nil, err
	}
	quantity, err := number(fields[1], 1, quantityMax)
	if err != nil {
		return nil, err
	}
	return s.database.Buy(r.Context(), user, symbol, int(quantity))
}

func (s site) sell(r *request) (any, error) {
	user, err := r.user()
	if err != nil {
		return nil, err
	}
	fields, err := parseForm(r.body, "holding")
	if err != nil {
		return nil, err
	}
	holding, err := number(fields[0], 0, numberMax)
	if err != nil {
		return nil, err
	}
	return s.database.Sell(r.Context(), user, holding)
}
