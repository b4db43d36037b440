package brokerage

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"klatch/pgx/postgres"
	"klatch/pgx/web"
)

// Login opens a session.
func (d *Database) Login(ctx context.Context, user int64, password string) (account Account, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) error {
		var stored string
		wrong := web.Refuse(http.StatusUnauthorized, "user %d is unknown, or has another password", user)
		err := tx.QueryRow(ctx, "SELECT password FROM profiles WHERE user_id = $1", user).Scan(&stored)
		if err != nil {
			return postgres.OrElse(err, wrong)
		}
		if stored != password {
			return wrong
		}
		account, err = count(ctx, tx, user, "UPDATE accounts SET logins = logins + 1 WHERE user_id = $1")
		return err
	})
	return account, err
}

// Logout ends a session.
func (d *Database) Logout(ctx context.Context, user int64) (account Account, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) (err error) {
		account, err = count(ctx, tx, user, "UPDATE accounts SET logouts = logouts + 1 WHERE user_id = $1")
		return err
	})
	return account, err
}

func count(ctx context.Context, tx pgx.Tx, user int64, update string) (Account, error) {
	if _, err := tx.Exec(ctx, update, user); err != nil {
		return Account{}, err
	}
	return account(ctx, tx, user)
}

// Register makes a new user in session, with this balance in cents.
func (d *Database) Register(ctx context.Context, user int64, password string, balance int64) (Account, error) {
	err := d.pool.Transaction(ctx, func(tx pgx.Tx) error {
		var exists bool
		query := "SELECT EXISTS (SELECT 1 FROM accounts WHERE user_id = $1)"
		if err := tx.QueryRow(ctx, query, user).Scan(&exists); err != nil {
			return err
		}
		if exists {
			return web.Refuse(http.StatusConflict, "user %d exists already", user)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO accounts VALUES ($1, $2, $2, 1, 0)", user, balance); err != nil {
			return err
		}
		profile := firstProfile(user)
		_, err := tx.Exec(ctx, "INSERT INTO profiles VALUES ($1, $2, $3, $4, $5, $6)",
			user, password, profile.Name, profile.Address, profile.Email, profile.Card)
		return err
	})
	return Account{user, balance, balance, 1, 0}, err
}

// Account returns the account of a user.
func (d *Database) Account(ctx context.Context, user int64) (Account, error) {
	return account(ctx, d.pool, user)
}

func account(ctx context.Context, on postgres.Querier, user int64) (Account, error) {
	result := Account{User: user}
	query := "SELECT balance, open_balance, logins, logouts FROM accounts WHERE user_id = $1"
	err := on.QueryRow(ctx, query, user).Scan(&result.Balance, &result.OpenBalance, &result.Logins, &result.Logouts)
	return result, postgres.OrElse(err, unknownUser(user))
}

// Profile returns what is stored about a person.
func (d *Database) Profile(ctx context.Context, user int64) (Profile, error) {
	return profile(ctx, d.pool, user)
}

func profile(ctx context.Context, on postgres.Querier, user int64) (stored Profile, err error) {
	err = on.QueryRow(ctx, "SELECT name, address, email, card FROM profiles WHERE user_id = $1", user).
		Scan(&stored.Name, &stored.Address, &stored.Email, &stored.Card)
	return stored, postgres.OrElse(err, unknownUser(user))
}

// Update replaces all of a profile but its name.
func (d *Database) Update(ctx context.Context, user int64, address, email, card string) (stored Profile, err error) {
	err = d.pool.Transaction(ctx, func(tx pgx.Tx) error {
		update := "UPDATE profiles SET address = $1, email = $2, card = $3 WHERE user_id = $4"
		_, err := tx.Exec(ctx, update, address, email, card, user)
		if err == nil {
			stored, err = profile(ctx, tx, user)
		}
		return err
	})
	return stored, err
}

// Holdings returns the holdings of a user in order of their ids.
func (d *Database) Holdings(ctx context.Context, user int64) ([]Holding, error) {
	read := pgx.RowToStructByPos[Holding]
	query := "SELECT id, symbol, quantity, paid FROM holdings WHERE user_id = $1 ORDER BY id"
	return postgres.List(ctx, d.pool, read, query, user)
}

// LastOrders returns the orders of a user with the highest ids, highest first.
func (d *Database) LastOrders(ctx context.Context, user int64, most int) ([]Order, error) {
	read := pgx.RowToStructByPos[Order]
	query := `SELECT id, CASE WHEN is_sell THEN 'sell' ELSE 'buy' END, 'closed', symbol, quantity, price, changes, fee,
		holding FROM orders WHERE user_id = $1 ORDER BY id DESC LIMIT $2`
	return postgres.List(ctx, d.pool, read, query, user, most)
}
