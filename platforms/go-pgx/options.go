package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"

	"klatch/pgx/brokerage"
)

const usage = `Klatch's brokerage in Go, on PostgreSQL: workload trade.

Usage: go-pgx --database URL [OPTIONS]

Options:
      --database URL        The database: [jdbc:]postgresql://HOST:PORT/NAME?user=USER
      --load                Load the population if the database has no tables
      --users N             Users of the population [default: 5000]
      --quotes N            Quotes of the population [default: 1000]
      --seed SEED           Seed of the population [default: 1]
      --connections N       Connections of the pool to the database [default: 16]
      --statements on|off   Keep prepared statements [default: on]
      --listen HOST:PORT    Address to listen on; port 0 takes a free one [default: 127.0.0.1:8080]
      --json                Print the ready line as JSON
      --help                Print this help
`

type options struct {
	brokerage brokerage.Options
	listen    string
	json      bool
}

// parseOptions parses the command line. The error is flag.ErrHelp for --help.
func parseOptions(args []string) (*options, error) {
	parsed := options{brokerage: brokerage.Options{Connections: 16, KeepsStatements: true}}
	population := &parsed.brokerage.Population
	population.Users, population.Quotes = 5000, 1000
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.StringVar(&parsed.brokerage.URL, "database", "", "")
	flags.BoolVar(&parsed.brokerage.Loads, "load", false, "")
	flags.Var(&number{&population.Users, 1_000_000}, "users", "")
	flags.Var(&number{&population.Quotes, 100_000}, "quotes", "")
	flags.Uint64Var(&population.Seed, "seed", 1, "")
	flags.Var(&number{&parsed.brokerage.Connections, 10_000}, "connections", "")
	flags.Func("statements", "", func(value string) error {
		parsed.brokerage.KeepsStatements = value == "on"
		if value != "on" && value != "off" {
			return errors.New("must be on or off")
		}
		return nil
	})
	flags.StringVar(&parsed.listen, "listen", "127.0.0.1:8080", "")
	flags.BoolVar(&parsed.json, "json", false, "")
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err == nil && parsed.brokerage.URL == "" {
		err = errors.New("--database is needed")
	}
	return &parsed, err
}

// number is an integer flag from 1.
type number struct {
	value *int
	most  int
}

func (n *number) Set(text string) error {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > n.most {
		return fmt.Errorf("must be 1..=%d", n.most)
	}
	*n.value = value
	return nil
}

func (n *number) String() string {
	return "" // the flag package then prints no default
}
