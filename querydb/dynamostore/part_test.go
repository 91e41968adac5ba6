package dynamostore

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// device is a table whose rows two writers have, each a number that DynamoDB may have no room for.
var device = &driver.Table{
	Name: "Device", PK: []int{0},
	Fields: []driver.Field{
		{Name: "deviceId", Scalar: "ID"}, {Name: "status", Scalar: "String", Nullable: true},
		{Name: "load", Scalar: "Decimal", Nullable: true}, {Name: "owner", Scalar: "String", Nullable: true},
		{Name: "price", Scalar: "Decimal", Nullable: true},
	},
	Indexes: []driver.Index{{Name: "byOwner", PK: []int{3}, SK: []int{1}}},
}

var (
	telemetry = &driver.Part{Fields: []int{1, 2}, SK: []int{0}}
	ownership = &driver.Part{Fields: []int{3, 4}, PK: []int{0}, Expires: true}
	deviceOf  = map[string]*driver.Part{"telemetry": telemetry, "ownership": ownership}
)

// partly is a batch of a writer that sets its text and its number, or takes them away where the text is empty.
func partly(t *testing.T, writer, textOf, digits string, offset uint64) driver.Batch {
	w := driver.Write{Table: device, Part: deviceOf[writer], Kind: driver.Delete, Row: driver.Row{Key: keys.Key{PK: "d"}}}
	if textOf != "" {
		w.Kind = driver.Put
		w.Row = rowOf(t, w.Row.Key, func(b *record.Builder) {
			b.String("d")
			for range 2 {
				b.String(textOf)
				b.String(digits)
			}
		}, 5)
		k := driver.IndexKey{Key: keys.Key{PK: textOf, SK: textOf}, HasPK: true, HasSK: true}
		w.Row.Indexes = []driver.IndexKey{k}
	}
	w.Row.Position = position(offset)
	return driver.Batch{Writer: writer, Writes: []driver.Write{w}}
}

func TestRequestOfAPart(t *testing.T) {
	const slot = "_pos.telemetry/events"
	first := `(attribute_not_exists(` + slot + `) OR ` + slot + ` < 7)`
	tests := map[string]struct {
		text, digits string
		state        state
		update, when string
	}{
		"of a row that may be": {"on", "1", state{},
			`SET status="on",deviceId="d",load=1,` + slot + `=7,_by="telemetry/events" ADD _writers {telemetry},_rev 1`,
			`(` + first + ` AND (attribute_not_exists(_deleted))) AND (attribute_not_exists(_own))`},
		"of a row that was deleted": {"on", "1", state{deleted: true},
			`SET status="on",deviceId="d",load=1,` + slot + `=7,_by="telemetry/events" REMOVE _ttl,_deleted ADD _writers ` +
				`{telemetry},_rev 1`,
			`(` + first + ` AND (attribute_exists(_deleted))) AND (attribute_not_exists(_own))`},
		"of a row with values apart": {"on", "1", state{own: true},
			`SET status="on",deviceId="d",load=1,` + slot + `=7,_by="telemetry/events" REMOVE _own.status,_own.load ADD ` +
				`_writers {telemetry},_rev 1`,
			`(` + first + ` AND (attribute_not_exists(_deleted))) AND (attribute_exists(_own))`},
		"the last, that goes": {"", "", state{},
			`SET _ttl=2593000,_deleted=true,` + slot + `=7,_by="telemetry/events" REMOVE ` +
				`owner,status,deviceId,load,price,_own,_expires,_writers ADD _rev 1`,
			first + ` AND (attribute_not_exists(_writers) OR _writers = {telemetry})`},
		"one of several, that goes": {"", "", state{others: true},
			`SET ` + slot + `=7,_by="telemetry/events" REMOVE status,load DELETE _writers {telemetry} ADD _rev 1`,
			`((` + first + ` AND (attribute_exists(_writers))) AND (_writers <> {telemetry})) AND (attribute_not_exists(_own))`},
	}
	s := shapeOf(t, device)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := partly(t, "telemetry", test.text, test.digits, 7)
			c, err := s.changeOf(&b.Writes[0], b.Writer, time.Unix(1000, 0))
			if err == nil {
				c, err = c.inState(test.state)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.update, spell(c.update, c.names, c.values)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.when, spell(c.condition, c.names, c.values)); diff != "" {
				t.Error(diff)
			}
			everyPlaceholderIsUsed(t, c)
		})
	}
}

// TestDynamoDBRemovesNoRowOfSeveralWriters: the end is one writer's, and the parts of the others do not end with it.
func TestDynamoDBRemovesNoRowOfSeveralWriters(t *testing.T) {
	b := partly(t, "ownership", "on", "1", 7)
	b.Writes[0].Row.Expires = time.Unix(5000, 0)
	c, err := shapeOf(t, device).changeOf(&b.Writes[0], b.Writer, time.Unix(1000, 0))
	if err != nil {
		t.Fatal(err)
	}
	got := spell(c.update, c.names, c.values)
	if !strings.Contains(got, "_expires=5000") || strings.Contains(got, "_ttl=") {
		t.Errorf("the request is %s: want the end, and nothing by which DynamoDB removes the row", got)
	}
}

// deviceRow reads the row as text: the fields, the writers, whether it is in the index under its owner.
func deviceRow(t *testing.T, s *Store) string {
	t.Helper()
	rows, err := s.Get(t.Context(), driver.Get{Table: device, Keys: []keys.Key{{PK: "d"}}, Consistent: true,
		Writer: "telemetry"})
	if err != nil {
		t.Fatal(err)
	}
	row := rows[0]
	if row.Record == nil {
		return "none"
	}
	var list []string
	for f := range device.Fields {
		list = append(list, string(row.Record.JSON(f)))
	}
	return strings.Join(list, " ") + fmt.Sprint(" ", row.Writers, row.Indexes[0].PK, "/", row.Indexes[0].SK)
}

// TestPartsKeepWhatNoNumberHolds, each its own, whichever of them is there first, and after the row was deleted.
func TestPartsKeepWhatNoNumberHolds(t *testing.T) {
	long := strings.Repeat("9", 39)
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, device)
		for n, step := range []struct{ writer, text, digits, want string }{
			{"telemetry", "on", "1", `"d" "on" "1"   [telemetry]/on`},
			{"ownership", "ann", long, `"d" "on" "1" "ann" "` + long + `" [ownership telemetry]ann/on`},
			{"telemetry", "off", long, `"d" "off" "` + long + `" "ann" "` + long + `" [ownership telemetry]ann/off`},
			{"ownership", "bob", "2", `"d" "off" "` + long + `" "bob" "2" [ownership telemetry]bob/off`},
			{"telemetry", "", "", `"d"   "bob" "2" [ownership]bob/`},
			{"ownership", "", "", `none`},
			{"telemetry", "on", "3", `"d" "on" "3"   [telemetry]/on`},
			{"ownership", "ann", "4", `"d" "on" "3" "ann" "4" [ownership telemetry]ann/on`},
		} {
			for range 2 {
				applyTo(t, s, partly(t, step.writer, step.text, step.digits, uint64(n+1)))
				if got := deviceRow(t, s); got != step.want {
					t.Errorf("step %d: the row is %s, want %s", n, got, step.want)
				}
			}
		}
	})
}

// TestPartsOfWritersAtOnce, of whom each loses answers, are each what their writer wrote last.
func TestPartsOfWritersAtOnce(t *testing.T) {
	const steps = 30
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, device)
		direct := s.client
		through(s, losing())
		var racing sync.WaitGroup
		failed := make(chan error, 2)
		for _, writer := range []string{"telemetry", "ownership"} {
			var log []driver.Batch
			for n := range uint64(steps) {
				textOf := fmt.Sprint("text ", n)
				if n%3 == 2 {
					textOf = ""
				}
				log = append(log, partly(t, writer, textOf, strings.Repeat("7", int(38+n%2)), n+1))
			}
			log = append(log, partly(t, writer, "last", "5", steps+1))
			racing.Go(func() {
				for _, b := range log {
					if err := s.Apply(t.Context(), b); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		racing.Wait()
		close(failed)
		for err := range failed {
			t.Error(err)
		}
		s.client = direct
		if got, want := deviceRow(t, s), `"d" "last" "5" "last" "5" [ownership telemetry]last/last`; got != want {
			t.Errorf("the row is %s, want %s", got, want)
		}
		rows, err := s.Get(t.Context(), driver.Get{Table: device, Keys: []keys.Key{{PK: "d"}}, Consistent: true})
		if err != nil || rows[0].Revision != 2*(steps+1) {
			t.Errorf("the row was written %d times, %v; want %d", rows[0].Revision, err, 2*(steps+1))
		}
	})
}

// TestARowStaysInTheIndexesOfItsKey when one of its writers goes, and leaves them with the last.
func TestARowStaysInTheIndexesOfItsKey(t *testing.T) {
	table := *device
	table.Name, table.Indexes = "DeviceAlone", []driver.Index{{Name: "all", AlwaysSorted: true, PK: []int{0}}}
	every := func(p driver.Part) *driver.Part {
		p.PK, p.SK = []int{0}, []int{0}
		return &p
	}
	parts := map[string]*driver.Part{"telemetry": every(*telemetry), "ownership": every(*ownership)}
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, &table)
		for n, step := range []struct {
			writer, text string
			rows         int
		}{{"telemetry", "on", 1}, {"ownership", "ann", 1}, {"telemetry", "", 1}, {"ownership", "", 0}} {
			b := partly(t, step.writer, step.text, "1", uint64(n+1))
			w := &b.Writes[0]
			w.Table, w.Part = &table, parts[step.writer]
			if w.Row.Record != nil {
				w.Row.Indexes = []driver.IndexKey{{Key: keys.Key{PK: "d", SK: "device"}, HasPK: true, HasSK: true}}
			}
			applyTo(t, s, b)
			page, err := s.Query(t.Context(), driver.Query{Table: &table, Index: 0, PK: "d", Limit: 9})
			if err != nil || len(page.Rows) != step.rows {
				t.Errorf("step %d: the index has %d rows, %v; want %d", n, len(page.Rows), err, step.rows)
			}
		}
	})
}
