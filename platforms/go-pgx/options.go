package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"

	"klatch/pgx/brokerage"
	"klatch/pgx/company"
	"klatch/pgx/postgres"
)

const usage = `Klatch's applications in Go, on PostgreSQL: workloads trade and orders.

Usage: go-pgx --database URL [OPTIONS]

Options:
      --workload NAME       Workload to serve: trade or orders [default: trade]
      --database URL        The database: [jdbc:]postgresql://HOST:PORT/NAME?user=USER
      --load                Load the population if the database has no tables
      --users N             trade: users of the population [default: 5000]
      --quotes N            trade: quotes of the population [default: 1000]
      --rate N              orders: injection rate of the population [default: 100]
      --seed SEED           Seed of the population [default: 1]
      --connections N       Connections of the pool to the database [default: 16]
      --statements on|off   Keep prepared statements [default: on]
      --listen HOST:PORT    Address to listen on; port 0 takes a free one [default: 127.0.0.1:8080]
      --json                Print the ready line as JSON
      --help                Print this help
`

const (
	trade  = "trade"
	orders = "orders"
)

// workloadOf has the options that only one workload has.
var workloadOf = map[string]string{"users": trade, "quotes": trade, "rate": orders}

type options struct {
	workload  string
	database  postgres.Options
	brokerage brokerage.Population
	company   company.Population
	listen    string
	json      bool
}

// parseOptions parses the command line. The error is flag.ErrHelp for --help.
func parseOptions(args []string) (*options, error) {
	parsed := options{
		workload:  trade,
		database:  postgres.Options{Connections: 16, KeepsStatements: true},
		brokerage: brokerage.Population{Users: 5000, Quotes: 1000},
		company:   company.Population{Rate: 100},
	}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Func("workload", "", func(value string) error {
		parsed.workload = value
		if value != trade && value != orders {
			return errors.New("must be trade or orders")
		}
		return nil
	})
	flags.StringVar(&parsed.database.URL, "database", "", "")
	flags.BoolVar(&parsed.database.Loads, "load", false, "")
	flags.Var(&number{&parsed.brokerage.Users, 1_000_000}, "users", "")
	flags.Var(&number{&parsed.brokerage.Quotes, 100_000}, "quotes", "")
	flags.Var(&number{&parsed.company.Rate, 10_000}, "rate", "")
	seed := flags.Uint64("seed", 1, "")
	flags.Var(&number{&parsed.database.Connections, 10_000}, "connections", "")
	flags.Func("statements", "", func(value string) error {
		parsed.database.KeepsStatements = value == "on"
		if value != "on" && value != "off" {
			return errors.New("must be on or off")
		}
		return nil
	})
	flags.StringVar(&parsed.listen, "listen", "127.0.0.1:8080", "")
	flags.BoolVar(&parsed.json, "json", false, "")
	err := flags.Parse(args)
	parsed.brokerage.Seed, parsed.company.Seed = *seed, *seed
	if err == nil {
		err = parsed.check(flags)
	}
	return &parsed, err
}

// check checks what single flags do not.
func (o *options) check(flags *flag.FlagSet) (err error) {
	flags.Visit(func(given *flag.Flag) {
		if only, exists := workloadOf[given.Name]; exists && only != o.workload && err == nil {
			err = fmt.Errorf("--%s belongs to --workload %s", given.Name, only)
		}
	})
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.database.URL == "":
		return errors.New("--database is needed")
	}
	return nil
}

// number is an integer flag from 1.
type number struct {
	value *int
	most  int
}

func (n *number) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > n.most {
		return fmt.Errorf("must be 1 to %d", n.most)
	}
	*n.value = value
	return nil
}

func (n *number) String() string {
	return "" // the flag package then prints no default
}
