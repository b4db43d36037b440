package brokerage

import (
	"strconv"

	"klatch/pgx/web"
)

func (s site) login(r *web.Request) (any, error) {
	fields, err := web.ParseForm(r.BodyText, "user", "password")
	if err != nil {
		return nil, err
	}
	user, err := web.ParseNumber(fields[0], 0, numberMax)
	if err != nil {
		return nil, err
	}
	password, err := fields.Text(1)
	if err != nil {
		return nil, err
	}
	account, err := s.database.Login(r.Context(), user, password)
	if err == nil {
		r.SetCookie(userCookie, strconv.FormatInt(user, 10))
	}
	return account, err
}

func (s site) logout(r *web.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	account, err := s.database.Logout(r.Context(), user)
	if err == nil {
		r.SetCookie(userCookie, "")
	}
	return account, err
}

func (s site) register(r *web.Request) (any, error) {
	fields, err := web.ParseForm(r.BodyText, "user", "password", "balance")
	if err != nil {
		return nil, err
	}
	user, err := web.ParseNumber(fields[0], 0, numberMax)
	if err != nil {
		return nil, err
	}
	password, err := fields.Text(1)
	if err != nil {
		return nil, err
	}
	balance, err := web.ParseNumber(fields[2], 0, balanceMax)
	if err != nil {
		return nil, err
	}
	account, err := s.database.Register(r.Context(), user, password, balance)
	if err == nil {
		r.SetCookie(userCookie, strconv.FormatInt(user, 10))
	}
	return account, err
}

func (s site) update(r *web.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	fields, err := web.ParseForm(r.BodyText, "address", "email", "card")
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if _, err := fields.Text(i); err != nil {
			return nil, err
		}
	}
	return s.database.Update(r.Context(), user, fields[0], fields[1], fields[2])
}

func (s site) buy(r *web.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	fields, err := web.ParseForm(r.BodyText, "symbol", "quantity")
	if err != nil {
		return nil, err
	}
	symbol, err := s.existing(fields[0])
	if err != nil {
		return nil, err
	}
	quantity, err := web.ParseNumber(fields[1], 1, quantityMax)
	if err != nil {
		return nil, err
	}
	return s.database.Buy(r.Context(), user, symbol, int(quantity))
}

func (s site) sell(r *web.Request) (any, error) {
	user, err := userOf(r)
	if err != nil {
		return nil, err
	}
	fields, err := web.ParseForm(r.BodyText, "holding")
	if err != nil {
		return nil, err
	}
	holding, err := web.ParseNumber(fields[0], 0, numberMax)
	if err != nil {
		return nil, err
	}
	return s.database.Sell(r.Context(), user, holding)
}
