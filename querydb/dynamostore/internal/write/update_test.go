package write

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/record"
)

func TestRequestOfAWrite(t *testing.T) {
	at := func(offset uint64, step uint32) driver.Position {
		return driver.Position{Partition: "events", Offset: offset, Step: step}
	}
	tests := map[string]struct {
		kind         driver.WriteKind
		read         bool
		revision     uint64
		position     driver.Position
		writer       string
		expires      time.Time
		update, when string
	}{
		"a blind put": {
			position: at(7, 0),
			update:   `SET total=5,_pos.events=7,_by="events" REMOVE _own,_expires,_ttl,_deleted,_writers ADD _rev 1`,
			when:     `attribute_not_exists(_pos.events) OR _pos.events < 7`,
		},
		"a put of a writer, retried": {
			position: at(7, 2), writer: "a/b",
			update: `SET total=5,_pos.a%2Fb/events=7.000002,_by="a%2Fb/events" REMOVE ` +
				`_own,_expires,_ttl,_deleted,_writers ADD _rev 1`,
			when: `attribute_not_exists(_pos.a%2Fb/events) OR _pos.a%2Fb/events < 7.000002`,
		},
		"a put of what was read": {
			read: true, revision: 4, position: at(7, 0),
			update: `SET total=5,_pos.events=7,_by="events" REMOVE _own,_expires,_ttl,_deleted,_writers ADD _rev 1`,
			when:   `_rev = 4`,
		},
		"a put where nothing was read": {
			read:   true,
			update: `SET total=5 REMOVE _own,_expires,_ttl,_deleted,_writers,_by ADD _rev 1`,
			when:   `attribute_not_exists(_rev)`,
		},
		"a put that always holds": {
			update: `SET total=5 REMOVE _own,_expires,_ttl,_deleted,_writers,_by ADD _rev 1`,
		},
		"a put that ends after the write": {
			expires: time.Unix(5000, 5e8), position: at(7, 0),
			update: `SET total=5,_expires=5000.5,_ttl=177801,_pos.events=7,_by="events" REMOVE ` +
				`_own,_deleted,_writers ADD _rev 1`,
			when: `attribute_not_exists(_pos.events) OR _pos.events < 7`,
		},
		"a put that has ended before the write": {
			expires: time.Unix(-1, 5e8), position: at(7, 0),
			update: `SET total=5,_expires=-0.5,_ttl=173800,_pos.events=7,_by="events" REMOVE _own,_deleted,_writers ADD _rev 1`,
			when:   `attribute_not_exists(_pos.events) OR _pos.events < 7`,
		},
		"a blind delete leaves a tombstone": {
			kind: driver.Delete, position: at(7, 0),
			update: `SET _ttl=2593000,_deleted=true,_pos.events=7,_by="events" REMOVE total,_own,_expires,_writers ADD _rev 1`,
			when:   `attribute_not_exists(_pos.events) OR _pos.events < 7`,
		},
		"a delete of what was read leaves a tombstone": {
			kind: driver.Delete, position: at(7, 0), read: true, revision: 4,
			update: `SET _ttl=2593000,_deleted=true,_pos.events=7,_by="events" REMOVE total,_own,_expires,_writers ADD _rev 1`,
			when:   `_rev = 4`,
		},
		"a delete for good":                  {kind: driver.Delete},
		"a delete for good of what was read": {kind: driver.Delete, read: true, revision: 4, when: `_rev = 4`},
	}
	s := codecOf(t, dynamotest.Small)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := driver.Write{Table: dynamotest.Small, Kind: test.kind, Row: dynamotest.SmallRow(t, "a", 5),
				IfRevision: test.read}
			w.Row.Revision, w.Row.Position, w.Row.Expires = test.revision, test.position, test.expires
			c, err := changeOf(s, &w, test.writer, time.Unix(1000, 0))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.update, dynamotest.Spell(c.update, c.names, c.values)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.when, dynamotest.Spell(c.condition, c.names, c.values)); diff != "" {
				t.Error(diff)
			}
			everyPlaceholderIsUsed(t, c)
		})
	}
}

// everyPlaceholderIsUsed: DynamoDB refuses a request that defines what it does not use.
func everyPlaceholderIsUsed(t *testing.T, c *change) {
	t.Helper()
	used := func(placeholder string) bool {
		for _, word := range strings.FieldsFunc(c.update+" "+c.condition, func(r rune) bool {
			return strings.ContainsRune(" ,=()<>.", r)
		}) {
			if word == placeholder {
				return true
			}
		}
		return false
	}
	for name := range c.names {
		if !used(name) {
			t.Errorf("%s is not used in %q, %q", name, c.update, c.condition)
		}
	}
	for name := range c.values {
		if !used(name) {
			t.Errorf("%s is not used in %q, %q", name, c.update, c.condition)
		}
	}
}

func TestAReadChangeKnowsItsOwnTraces(t *testing.T) {
	s := codecOf(t, dynamotest.Small)
	w := driver.Write{Table: dynamotest.Small, Row: dynamotest.SmallRow(t, "a", 5), IfRevision: true}
	w.Row.Revision, w.Row.Position = 4, driver.Position{Partition: "events", Offset: 7, Step: 10}
	c, err := changeOf(s, &w, "w", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	w.Kind, w.Row.Position = driver.Delete, driver.Position{}
	forGood, err := changeOf(s, &w, "w", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		c    *change
		old  item.Item
		ours bool
	}{
		"revision, slot and position": {c, item.Item{"_rev": item.Number("5"), "_by": item.Text("w/events"),
			"_pos.w/events": item.Number("7.00001")}, true},
		"another revision": {c, item.Item{"_rev": item.Number("6"), "_by": item.Text("w/events"),
			"_pos.w/events": item.Number("7.00001")}, false},
		"another writer": {c, item.Item{"_rev": item.Number("5"), "_by": item.Text("v/events"),
			"_pos.w/events": item.Number("7.00001")}, false},
		"another position": {c, item.Item{"_rev": item.Number("5"), "_by": item.Text("w/events"),
			"_pos.w/events": item.Number("8")}, false},
		"nothing":                         {c, nil, false},
		"a delete that finds nothing":     {forGood, nil, true},
		"a delete that finds another row": {forGood, item.Item{"_rev": item.Number("5")}, false},
	}
	for name, test := range tests {
		if got := test.c.ours(test.old); got != test.ours {
			t.Errorf("%s: ours is %t", name, got)
		}
	}
}

func TestARowThatIsTooLargeIsRefused(t *testing.T) {
	s := codecOf(t, dynamotest.Tracking())
	row := dynamotest.Order(t)
	fill := func(n int) *change {
		row.Record = dynamotest.RowOf(t, row.Key, func(b *record.Builder) {
			b.String("o1")
			b.DateTime(time.Date(2024, 1, 15, 10, 30, 0, 123456000, time.UTC))
			b.String("c1")
			b.String("placed")
			b.Float(12.5)
			b.String(strings.Repeat("x", n))
		}, 6).Record
		c, err := makeChange(s, &driver.Write{Table: s.Table, Row: row}, "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	row.Indexes[2] = driver.IndexKey{}
	// The note is in _own: its attribute is a key of an index, in which this row is not.
	rest := item.MostRow - fill(0).size
	if got := fill(rest).size; got != item.MostRow {
		t.Fatalf("%d bytes, want %d", got, item.MostRow)
	}
	if _, err := changeOf(s, &driver.Write{Table: s.Table, Row: row}, "", time.Time{}); err != nil {
		t.Errorf("a row of %d bytes: %v", item.MostRow, err)
	}
	fill(rest + 1)
	_, err := changeOf(s, &driver.Write{Table: s.Table, Row: row}, "", time.Time{})
	if !errors.Is(err, driver.ErrTooLarge) || !strings.Contains(err.Error(), `row "o1"`) {
		t.Errorf("a row of %d bytes: %v", item.MostRow+1, err)
	}
}

func TestWhatIsLeftOfACancelledTransaction(t *testing.T) {
	reasons := func(codes ...string) error {
		err := &types.TransactionCanceledException{}
		for _, code := range codes {
			err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: &code})
		}
		return err
	}
	sh := codecOf(t, dynamotest.Small)
	blind, other, read := &change{shape: sh, row: "blind"}, &change{shape: sh, row: "other"}, &change{shape: sh,
		row: "read", read: true}
	tests := map[string]struct {
		err    error
		rest   []*change
		failed int
		stale  bool
	}{
		"applied before":  {reasons("ConditionalCheckFailed", "None", "None"), []*change{other, read}, 1, false},
		"all but one":     {reasons("ConditionalCheckFailed", "ConditionalCheckFailed", "None"), []*change{read}, 2, false},
		"stale":           {reasons("None", "None", "ConditionalCheckFailed"), nil, 1, true},
		"both":            {reasons("ConditionalCheckFailed", "None", "ConditionalCheckFailed"), nil, 2, true},
		"a conflict":      {reasons("None", "TransactionConflict", "None"), []*change{blind, other, read}, 0, false},
		"something else":  {errors.New("x"), []*change{blind, other, read}, 0, false},
		"reasons missing": {reasons("ConditionalCheckFailed"), []*change{blind, other, read}, 0, false},
	}
	for name, test := range tests {
		rest, failed, wrong := remaining([]*change{blind, other, read}, test.err)
		if !slices.Equal(rest, test.rest) || failed != test.failed || errors.Is(wrong, driver.ErrStale) != test.stale {
			t.Errorf("%s: %v, %d, %v", name, rest, failed, wrong)
		}
	}
}

func codecOf(t testing.TB, table *driver.Table) *item.Codec {
	t.Helper()
	c, err := item.NewCodec("", table)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
