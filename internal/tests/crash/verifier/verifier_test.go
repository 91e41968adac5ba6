package verifier_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

var project = verifier.Project{Models: model.All, Projections: ledger.Projections()}

// group is the projection of all models that references connect.
const group = "Branch+Card+Home+Owner+Plan+Tariff+keepers+passes+readings+uses"

const events = `{"specversion":"1.0","id":"1","source":"/l","type":"Opened","subject":"a","time":"2024-01-01T00:00:00Z","data":{"account":"a","owner":"Ada","currency":"EUR"}}
{"specversion":"1.0","id":"2","source":"/l","type":"Opened","subject":"b","time":"2024-01-01T00:00:01Z","data":{"account":"b","owner":"Bo","currency":"EUR"}}
{"specversion":"1.0","id":"3","source":"/l","type":"Deposited","subject":"a","time":"2024-01-01T00:00:02Z","data":{"account":"a","amount":5,"currency":"EUR"}}
{"specversion":"1.0","id":"4","source":"/l","type":"Deposited","subject":"x","time":"2024-01-01T00:00:03Z","data":{"account":"x","amount":5,"currency":"none"}}
{"specversion":"1.0","id":"5","source":"/l","type":"Closed","subject":"b","time":"2024-01-01T00:00:04Z","data":{"account":"b"}}
`

// TestAStoreIsJudgedByItsEvents: as they were folded it is as it must be, and what is changed then is found.
func TestAStoreIsJudgedByItsEvents(t *testing.T) {
	for _, c := range []struct {
		name string
		// spoil changes what was folded.
		spoil func(ctx context.Context, db *querydb.DB) error
		want  []string // what the differences are about, in order
	}{
		{"as it was folded", func(context.Context, *querydb.DB) error { return nil }, nil},
		{"a row is gone", remove(model.BalanceModel, "a"), []string{
			"Balance lacks a row", "Balance/byOwner lacks an entry", "Balance/currency lacks an entry",
		}},
		{"a deleted row is back", put(model.Balance{Account: "b", Owner: "Bo", Currency: "EUR"}), []string{
			"Balance has a row", "Balance/byOwner has an entry", "Balance/currency has an entry",
		}},
		{"a value is wrong", put(model.Balance{Account: "a", Owner: "Ada", Currency: "EUR", Amount: 10}), []string{
			"Balance: the row differs", "Balance/byOwner: an entry differs", "Balance/currency: an entry differs",
		}},
		{"an event is no dead letter", note("deadletter:Currency.g0:Currency", "0@00000000000000000004", nil),
			[]string{"Currency has no dead letter 0@00000000000000000004"}},
		{"an event is a dead letter", note("deadletter:Hold.g0:Hold", "0@00000000000000000003", []byte(`{"reason":"none"}`)),
			[]string{"Hold has the dead letter"}},
		{"a checkpoint is behind", note("checkpoint:Hold.g0:Hold", "0", []byte(`{"offset":4}`)),
			[]string{"the checkpoint of Hold"}},
		{"a row is on record that holds no copy", note("link:Branch.g0:"+group, "made up", []byte(`{}`)),
			[]string{group + ` has a link that the events do not have: "made up"`}},
		{"copies have not followed", note("cascade:Branch.g0:"+group, "a row", []byte(`{}`)),
			[]string{group + " has a cascade that has not ended: a row"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "events.jsonl")
			if err := os.WriteFile(file, []byte(events), 0o600); err != nil {
				t.Fatal(err)
			}
			store := memstore.New()
			db, err := querydb.Open(t.Context(), store, model.All, querydb.Config{})
			if err != nil {
				t.Fatal(err)
			}
			fold(t, file, db)
			if err := c.spoil(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			verdict, err := project.Verify(t.Context(), file, store, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(verdict.Differences) != len(c.want) {
				t.Fatalf("differences:\n%s\nwant %q", strings.Join(verdict.Differences, "\n"), c.want)
			}
			for i, about := range c.want {
				if !strings.HasPrefix(verdict.Differences[i], about) {
					t.Errorf("difference %q, want one of %q", verdict.Differences[i], about)
				}
			}
			counts := map[string]int{"Balance": 1, "Balance/byOwner": 1, "Balance/currency": 1}
			for name := range counts {
				if got := verdict.Counts[name]; got != counts[name] {
					t.Errorf("%s: %d counted, want %d", name, got, counts[name])
				}
			}
			if diff := cmp.Diff(2, verdict.DeadLetters); diff != "" {
				t.Errorf("dead letters (-want +got):\n%s", diff)
			}
		})
	}
}

func fold(t *testing.T, file string, db *querydb.DB) {
	t.Helper()
	source, err := filesource.Open(filesource.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range projection.Group(ledger.Projections()) {
		runner, err := projection.NewRunner(p, source, db, projection.RunnerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if err := runner.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
}

func remove(m *querydb.Model, id string) func(context.Context, *querydb.DB) error {
	return func(ctx context.Context, db *querydb.DB) error {
		return db.Apply(ctx, querydb.Batch{Writes: []querydb.Write{{Model: m, Row: querydb.Row{Key: keys.Key{PK: id}}}}})
	}
}

func put(b model.Balance) func(context.Context, *querydb.DB) error {
	return func(ctx context.Context, db *querydb.DB) error {
		row, err := querydb.Encode(model.BalanceCodec, &record.Builder{}, &b)
		if err != nil {
			return err
		}
		row.Position = driver.Position{Partition: "0", Offset: 3}
		return db.Apply(ctx, querydb.Batch{Writes: []querydb.Write{{Model: model.BalanceModel, Row: row}}})
	}
}

func note(kind, id string, value []byte) func(context.Context, *querydb.DB) error {
	return func(ctx context.Context, db *querydb.DB) error {
		err := db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{{Kind: kind, ID: id, Value: value}}})
		if err != nil {
			return fmt.Errorf("write the note: %w", err)
		}
		return nil
	}
}
