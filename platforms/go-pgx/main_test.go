package main

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"klatch/pgx/brokerage"
	"klatch/pgx/company"
	"klatch/pgx/postgres"
)

func TestOptionsDescribeDatabaseAndPopulation(t *testing.T) {
	parsed, err := parseOptions(strings.Fields(
		"--database postgresql://h:1/d --users 80 --quotes 40 --seed 18446744073709551615 --connections 4 --statements off --load"))
	database := postgres.Options{URL: "postgresql://h:1/d", Loads: true, Connections: 4}
	if err != nil || parsed.database != database {
		t.Errorf("%+v, %v", parsed.database, err)
	}
	population := brokerage.Population{Seed: 18446744073709551615, Users: 80, Quotes: 40}
	if parsed.population() != population {
		t.Errorf("%+v", parsed.population())
	}
}

func TestEachWorkloadHasItsOwnPopulation(t *testing.T) {
	for arguments, want := range map[string]postgres.Population{
		"":                                  brokerage.Population{Seed: 1, Users: 5000, Quotes: 1000},
		"--workload trade --seed 7":         brokerage.Population{Seed: 7, Users: 5000, Quotes: 1000},
		"--workload orders":                 company.Population{Seed: 1, Rate: 100},
		"--rate 20 --workload orders":       company.Population{Seed: 1, Rate: 20},
		"--workload=orders --rate=10000":    company.Population{Seed: 1, Rate: 10_000},
		"--workload orders --rate 1 --json": company.Population{Seed: 1, Rate: 1},
	} {
		parsed, err := parseOptions(strings.Fields("--database x " + arguments))
		if err != nil || parsed.population() != want {
			t.Errorf("%s: %+v, %v", arguments, parsed.population(), err)
		}
	}
}

func TestBadOptionsAndADatabaseThatCannotBeUsedAreErrors(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	for arguments, reason := range map[string]string{
		"":                                "--database is needed",
		"--database x y":                  `unexpected argument "y"`,
		"--database x --users 0":          "must be 1 to 1000000",
		"--database x --statements maybe": "must be on or off",
		"--database x --workload chat":    "must be trade or orders",
		"--database x --rate 20":          "--rate belongs to --workload orders",
		"--database x --workload orders --quotes 20":                         "--quotes belongs to --workload trade",
		"--database x --workload orders --rate 10001":                        "must be 1 to 10000",
		"--database jdbc:h2:file:x":                                          "it must be postgresql:",
		"--database postgresql://" + address + "/d?user=u":                   "check --database, its user, and the password in PGPASSWORD",
		"--workload orders --database postgresql://" + address + "/d?user=u": "check --database, its user, and the password in PGPASSWORD",
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(arguments), &stdout, &stderr)
		if status != 2 || !strings.Contains(stderr.String(), reason) || stdout.Len() > 0 {
			t.Errorf("%s: %d, %s%s", arguments, status, &stdout, &stderr)
		}
	}
}

func TestTheReadyLineNamesAddressAndProcess(t *testing.T) {
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7000}
	line := readyLine(true, address, 12)
	if !strings.HasPrefix(line, `{"event":"ready","host":"127.0.0.1","port":7000,"pid":12,"model":"goroutines","version":"0.1.0","runtime":"go`) {
		t.Error(line)
	}
	if line := readyLine(false, address, 12); line != "ready: goroutines on 127.0.0.1:7000, pid 12" {
		t.Error(line)
	}
}
