package dynamostore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/record"
)

// TestAMarkIsNoRow of any table: no read finds it, by its key or by a range, and a second mark does not replace it.
func TestAMarkIsNoRow(t *testing.T) {
	member := func(kind string) *driver.Table {
		m := dynamotest.Prioritised()
		m.Kind = kind
		return m
	}
	for name, table := range map[string]*driver.Table{
		"of one model": dynamotest.Account, "sorted": dynamotest.Orders(0), "of a generation": dynamotest.Orders(3),
		"shared": member("task"),
	} {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, s *Store) {
				wantMarks(t, s, map[*driver.Table]string{table: ""})
				if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{table}}, false, func(string) {}); err != nil {
					t.Fatal(err)
				}
				for _, mark := range []string{"first", "second"} {
					if got, err := s.SetMark(t.Context(), table, mark); got != "first" || err != nil {
						t.Fatalf("marked %q, it has %q, %v", mark, got, err)
					}
				}
				wantMarks(t, s, map[*driver.Table]string{table: "first"})
				if folded, err := s.HoldsRows(t.Context(), table); folded || err != nil {
					t.Errorf("a table with nothing but its mark holds rows: %t, %v", folded, err)
				}
				sees := s.reads(t, table)
				if diff := cmp.Diff([]driver.Row{{Key: sees.key}, {Key: sees.key}}, sees.got); diff != "" {
					t.Errorf("got by its key (-want +got):\n%s", diff)
				}
				if len(sees.found) > 0 {
					t.Errorf("found in a range: %v", sees.found)
				}
			})
		})
	}
}

// TestMarksOfManyTablesAreReadTogether, also where some of the tables are not there, or have no mark.
func TestMarksOfManyTablesAreReadTogether(t *testing.T) {
	marked, unmarked, missing := dynamotest.Account, dynamotest.Orders(0), dynamotest.Orders(3)
	onEngines(t, func(t *testing.T, s *Store) {
		there := Tables{Needed: []*driver.Table{marked, unmarked}}
		if err := s.ApplyTables(t.Context(), there, false, func(string) {}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.SetMark(t.Context(), marked, "its own"); err != nil {
			t.Fatal(err)
		}
		before := s.Stats().Requests
		wantMarks(t, s, map[*driver.Table]string{marked: "its own", unmarked: ""})
		if n := s.Stats().Requests - before; n != 1 {
			t.Errorf("%d requests for tables that are all there; want 1", n)
		}
		wantMarks(t, s, map[*driver.Table]string{marked: "its own", unmarked: "", missing: ""})
	})
}

// busy leaves the keys of every request unprocessed.
type busy struct{}

func (busy) Do(r *http.Request) (*http.Response, error) {
	var asked struct {
		RequestItems map[string]json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	none := map[string][]int{}
	for table := range asked.RequestItems {
		none[table] = []int{}
	}
	body, err := json.Marshal(map[string]any{"Responses": none, "UnprocessedKeys": asked.RequestItems})
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

// TestMarksAreNotAskedForForEver where DynamoDB answers with none of them.
func TestMarksAreNotAskedForForEver(t *testing.T) {
	s := open(t, dynamolocal.Local, Config{RetryFor: time.Nanosecond})
	s.client.API = dynamodb.New(s.client.API.Options(), func(o *dynamodb.Options) { o.HTTPClient = busy{} })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tables := []*driver.Table{dynamotest.Account, dynamotest.Orders(0)}
	if _, err := s.Marks(ctx, tables); !errors.Is(err, driver.ErrThrottled) {
		t.Errorf("%v, want ErrThrottled", err)
	}
}

func wantMarks(t *testing.T, s *Store, want map[*driver.Table]string) {
	t.Helper()
	tables := slices.Collect(maps.Keys(want))
	list, err := s.Marks(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	got := map[*driver.Table]string{}
	for i, table := range tables {
		got[table] = list[i]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks of tables (-want +got):\n%s", diff)
	}
}

// seen is what reads meet under the key of the mark.
type seen struct {
	key   keys.Key
	got   []driver.Row // alone, and among others
	found []driver.Row
}

func (s *Store) reads(t *testing.T, table *driver.Table) seen {
	t.Helper()
	all := seen{key: keys.Key{PK: driver.MarkPK}}
	if table.Sorted {
		all.key.SK = "\x00"
	}
	other := keys.Key{PK: "other", SK: all.key.SK}
	for _, list := range [][]keys.Key{{all.key}, {all.key, other}} {
		rows, err := s.Get(t.Context(), driver.Get{Table: table, Keys: list, Consistent: true})
		if err != nil {
			t.Fatal(err)
		}
		all.got = append(all.got, rows[0])
	}
	for index := driver.Primary; index < len(table.Indexes); index++ {
		if index == driver.Primary && !table.Sorted {
			continue
		}
		for _, members := range [][]*driver.Table{nil, {table}} {
			page, err := s.Query(t.Context(), driver.Query{
				Table: table, Index: index, PK: driver.MarkPK, Limit: 10, WithDeleted: index == driver.Primary, Members: members,
			})
			if err != nil {
				t.Fatal(err)
			}
			all.found = append(all.found, page.Rows...)
		}
	}
	return all
}

// TestFoldedTellsRowsOfAFoldFromThoseOfOtherPrograms: a fold may begin beside the latter.
func TestFoldedTellsRowsOfAFoldFromThoseOfOtherPrograms(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{dynamotest.Account}}, false,
			func(string) {}); err != nil {
			t.Fatal(err)
		}
		names := func(want ...string) {
			t.Helper()
			got, err := s.FoldedTables(t.Context(), []*driver.Table{dynamotest.Account, dynamotest.Orders(0)})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("tables of folds, %v (-want +got):\n%s", err, diff)
			}
		}
		table := s.tables.prefix + "Account"
		_, err := s.client.API.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table,
			Item: item.Item{"id": item.Text("foreign"),
				"email": item.Text("f@x")}})
		if err != nil {
			t.Fatal(err)
		}
		if folded, err := s.HoldsRows(t.Context(), dynamotest.Account); folded || err != nil {
			t.Errorf("items of another program are rows of a fold: %t, %v", folded, err)
		}
		names()
		row := dynamotest.RowOf(t, keys.Key{PK: "a"}, func(b *record.Builder) { b.String("a"); b.Null() }, 2)
		row.Indexes, row.Position = make([]driver.IndexKey, 1), dynamotest.Position(1)
		if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{{Table: dynamotest.Account, Row: row}}}); err !=
			nil {
			t.Fatal(err)
		}
		if folded, err := s.HoldsRows(t.Context(), dynamotest.Account); !folded || err != nil {
			t.Errorf("rows of a fold are found: %t, %v", folded, err)
		}
		names(table)
	})
}

// TestAMarkIsFoundUnderWhicheverKeyItsTableHas, also by a program whose models have another one: the rows that serve
// may be of an earlier or a later version of it.
func TestAMarkIsFoundUnderWhicheverKeyItsTableHas(t *testing.T) {
	task := func(pk, sk string, sorted bool) *driver.Table {
		return &driver.Table{
			Name: "Task", Keys: driver.KeyNames{PK: pk, SK: sk}, Sorted: sorted, PK: []int{0},
			Fields: []driver.Field{{Name: "taskId", Scalar: "ID"}},
		}
	}
	shapes := map[string]*driver.Table{
		"no sort key": task("", "", false), "a sort key": task("", "", true), "a renamed one": task("", "at", true),
		"a renamed partition key": task("taskId", "", false),
	}
	for name, is := range shapes {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, s *Store) {
				needed := Tables{Needed: []*driver.Table{is, dynamotest.Account}}
				if err := s.ApplyTables(t.Context(), needed, false, func(string) {}); err != nil {
					t.Fatal(err)
				}
				for _, table := range needed.Needed {
					if _, err := s.SetMark(t.Context(), table, "of "+table.Name); err != nil {
						t.Fatal(err)
					}
				}
				for _, other := range shapes {
					wantMarks(t, s, map[*driver.Table]string{other: "of Task"})
					wantMarks(t, s, map[*driver.Table]string{other: "of Task", dynamotest.Account: "of Account"})
					_, err := s.SetMark(t.Context(), other, "another")
					if other != is && !errors.Is(err, driver.ErrTablesNotReady) {
						t.Errorf("a mark for a table of another key: %v, want ErrTablesNotReady", err)
					}
				}
			})
		})
	}
}
