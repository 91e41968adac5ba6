package dynamostore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/record"
)

// taskAndMember are two models that share a table, and an index whose keys are the same in both.
func taskAndMember() (task, member *driver.Table) {
	of := func(kind string, fields ...driver.Field) *driver.Table {
		return &driver.Table{
			Name: "Team", Sorted: true, Kind: kind, Keys: driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"},
			Fields: append([]driver.Field{{Name: "id", Scalar: "ID"}}, fields...), PK: []int{0},
			Indexes: []driver.Index{{Name: "gsi1", PK: []int{1}, SK: []int{0}, Keys: driver.KeyNames{PK: "gsi1pk",
				SK: "gsi1sk"}}},
		}
	}
	title := driver.Field{Name: "title", Scalar: "String", Nullable: true}
	priority := driver.Field{Name: "priority", Scalar: "Int", Nullable: true}
	return of("task", title, priority), of("member", title)
}

// byHand is an item as other programs write it.
func byHand(kind string, n int) item.Item {
	return item.Item{
		"pk": item.Text(fmt.Sprintf("$app#v1#%s#id_%d", kind, n)), "sk": item.Text("$app#v1#" + kind),
		"__edd_e__": item.Text(kind),
		"gsi1pk":    item.Text("$app#v1#all"), "gsi1sk": item.Text(fmt.Sprintf("$app#v1#%03d#%s", n, kind)),
		"id": item.Text(fmt.Sprint(n)), "title": item.Text(fmt.Sprintf("title %d", n)), "version": item.Number("2"),
	}
}

func putByHand(t *testing.T, s *Store, table *driver.Table, items ...item.Item) {
	t.Helper()
	sh, err := s.applier.Codecs.Of(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if _, err := s.client.API.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &sh.Layout.Table, Item: it}); err !=
			nil {
			t.Fatal(err)
		}
	}
}

func keyOf(it item.Item) (k keys.Key) {
	k.PK, _ = item.StringOf(it["pk"])
	k.SK, _ = item.StringOf(it["sk"])
	return k
}

// TestAPageOfACollectionIsOneRequest, whatever the members in it, and rows that are of none are read past in few.
func TestAPageOfACollectionIsOneRequest(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		task, member := taskAndMember()
		s := openWith(t, e, Config{}, task, member)
		for n := range 8 {
			putByHand(t, s, task, byHand("task", n), byHand("member", n))
		}
		ask := func(limit int, members ...*driver.Table) (page driver.Page, requests uint64) {
			t.Helper()
			before := s.Stats().Requests
			page, err := s.Query(t.Context(), driver.Query{Table: members[0], Index: 0, PK: "$app#v1#all", Limit: limit,
				Members: members})
			if err != nil {
				t.Fatal(err)
			}
			return page, s.Stats().Requests - before
		}
		for _, limit := range []int{1, 2, 3, 7, 16} {
			page, requests := ask(limit, task, member)
			if len(page.Rows) != limit || requests != 1 || page.More != (limit < 16) {
				t.Errorf("a page of %d has %d rows, by %d requests; more: %t", limit, len(page.Rows), requests, page.More)
			}
			for i, row := range page.Rows {
				if want := []string{"member", "task"}[i%2]; row.Kind != want || row.Record == nil {
					t.Errorf("row %d is of kind %q, want %q", i, row.Kind, want)
				}
			}
		}
		page, requests := ask(5, task)
		if len(page.Rows) != 5 || !page.More || requests > 3 {
			t.Errorf("a page of one kind has %d rows, by %d requests; more: %t", len(page.Rows), requests, page.More)
		}
	})
}

// TestItemsPutByHandAreRows that can be read, and written over; those of other kinds cannot.
func TestItemsPutByHandAreRows(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		task, member := taskAndMember()
		s := openWith(t, e, Config{}, task, member)
		known, other, silent := byHand("task", 1), byHand("member", 2), byHand("task", 3)
		delete(silent, "__edd_e__")
		putByHand(t, s, task, known, other, silent)
		ks := []keys.Key{keyOf(known), keyOf(other), keyOf(silent)}
		read := func() []driver.Row {
			t.Helper()
			rows, err := s.Get(t.Context(), driver.Get{Table: task, Keys: ks, Consistent: true})
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		rows := read()
		if rows[0].Record == nil || rows[1].Record != nil || rows[2].Record == nil {
			t.Fatalf("rows are there: %t, %t, %t; want all but that of the other kind", rows[0].Record != nil,
				rows[1].Record != nil, rows[2].Record != nil)
		}
		if one, err := s.Get(t.Context(), driver.Get{Table: task, Keys: ks[1:2]}); err != nil || one[0].Record != nil {
			t.Errorf("the row of the other kind is read as one of this: %v, %v", one, err)
		}
		if title, _ := record.String(rows[0].Record.JSON(1)); title != "title 1" || rows[0].Indexes[0].PK !=
			"$app#v1#all" || rows[0].Revision != 0 {
			t.Errorf("the row is %v", rows[0])
		}
		written := func(k keys.Key, n int, again *driver.Row) driver.Write {
			w := driver.Write{Table: task, Row: dynamotest.RowOf(t, k, func(b *record.Builder) {
				b.String(fmt.Sprint(n))
				b.String("ours")
				b.Int(n)
			}, 3)}
			w.Row.Indexes, w.Row.Position = make([]driver.IndexKey, 1), dynamotest.Position(1)
			if again != nil {
				w.IfRevision, w.Row.Revision = true, again.Revision
			}
			return w
		}
		applyTo(t, s, driver.Batch{Writes: []driver.Write{written(ks[0], 1, &rows[0]), written(ks[2], 3, nil)}})
		for _, atomic := range []bool{false, true} {
			for _, was := range []*driver.Row{nil, {}} {
				err := s.Apply(t.Context(), driver.Batch{Atomic: atomic, Writes: []driver.Write{written(ks[1], 2, was)}})
				if !errors.Is(err, driver.ErrConflict) {
					t.Errorf("a write over a row of another kind: %v, want ErrConflict", err)
				}
			}
		}
		for i, row := range read() {
			if i == 1 {
				continue
			}
			if title, _ := record.String(row.Record.JSON(1)); title != "ours" || row.Revision != 1 || row.Indexes[0].HasPK {
				t.Errorf("row %d is %v after it was written", i, row)
			}
		}
	})
}

// TestARowInPlaceOfADeletedOneIsWrittenThoughTheAnswerIsLost: nobody says that it has changed meanwhile.
func TestARowInPlaceOfADeletedOneIsWrittenThoughTheAnswerIsLost(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		task, member := taskAndMember()
		s := openWith(t, e, Config{Concurrency: 1}, task, member)
		at := keys.Key{PK: "$app#v1#id_1", SK: "$app#v1"}
		w := driver.Write{Table: member, IfRevision: true, Row: dynamotest.RowOf(t, at, func(b *record.Builder) {
			b.String("1")
			b.String("ours")
		}, 2)}
		w.Row.Indexes, w.Row.Position = make([]driver.IndexKey, 1), dynamotest.Position(3)
		applyTo(t, s, driver.Batch{Writes: []driver.Write{{Table: task, Kind: driver.Delete,
			Row: driver.Row{Key: at, Position: dynamotest.Position(2)}}}})
		through(s, losing())
		applyTo(t, s, driver.Batch{Writes: []driver.Write{w}})
		if s.Stats().Retries == 0 {
			t.Error("no answer was lost")
		}
	})
}
