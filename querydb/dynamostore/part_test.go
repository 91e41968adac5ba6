package dynamostore

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// deviceRow reads the row as text: the fields, the writers, whether it is in the index under its owner.
func deviceRow(t *testing.T, s *Store) string {
	t.Helper()
	rows, err := s.Get(t.Context(), driver.Get{Table: dynamotest.Device, Keys: []keys.Key{{PK: "d"}}, Consistent: true,
		Writer: "telemetry"})
	if err != nil {
		t.Fatal(err)
	}
	row := rows[0]
	if row.Record == nil {
		return "none"
	}
	var list []string
	for f := range dynamotest.Device.Fields {
		list = append(list, string(row.Record.JSON(f)))
	}
	return strings.Join(list, " ") + fmt.Sprint(" ", row.Writers, row.Indexes[0].PK, "/", row.Indexes[0].SK)
}

// TestPartsKeepWhatNoNumberHolds, each its own, whichever of them is there first, and after the row was deleted.
func TestPartsKeepWhatNoNumberHolds(t *testing.T) {
	long := strings.Repeat("9", 39)
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Device)
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
				applyTo(t, s, dynamotest.DeviceBatch(t, step.writer, step.text, step.digits, uint64(n+1)))
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
		s := openWith(t, e, Config{}, dynamotest.Device)
		direct := s.client.API
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
				log = append(log, dynamotest.DeviceBatch(t, writer, textOf, strings.Repeat("7", int(38+n%2)), n+1))
			}
			log = append(log, dynamotest.DeviceBatch(t, writer, "last", "5", steps+1))
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
		s.client.API = direct
		if got, want := deviceRow(t, s), `"d" "last" "5" "last" "5" [ownership telemetry]last/last`; got != want {
			t.Errorf("the row is %s, want %s", got, want)
		}
		rows, err := s.Get(t.Context(), driver.Get{Table: dynamotest.Device, Keys: []keys.Key{{PK: "d"}}, Consistent: true})
		if err != nil || rows[0].Revision != 2*(steps+1) {
			t.Errorf("the row was written %d times, %v; want %d", rows[0].Revision, err, 2*(steps+1))
		}
	})
}

// TestAPartOfARowThatComesAndGoesMakesTheRow: another writer puts the row and deletes it again between the attempts.
func TestAPartOfARowThatComesAndGoesMakesTheRow(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, dynamotest.Device)
		other, err := Open(t.Context(), Config{Prefix: s.tables.prefix})
		if err != nil {
			t.Fatal(err)
		}
		put, remove := dynamotest.DeviceBatch(t, "ownership", "ann", "1", 3),
			dynamotest.DeviceBatch(t, "ownership", "", "", 4)
		applyTo(t, s, dynamotest.DeviceBatch(t, "ownership", "ann", "1", 1))
		applyTo(t, s, dynamotest.DeviceBatch(t, "ownership", "", "", 2))
		amid := []driver.Batch{{}, put, remove}
		through(s, func(do func() (*http.Response, error)) (*http.Response, error) {
			if len(amid) > 0 {
				applyTo(t, other, amid[0])
				amid = amid[1:]
			}
			return do()
		})
		applyTo(t, s, dynamotest.DeviceBatch(t, "telemetry", "on", "1", 5))
		if len(amid) > 0 {
			t.Error("the part is written before the row has come and gone")
		}
		if got, want := deviceRow(t, s), `"d" "on" "1"   [telemetry]/on`; got != want {
			t.Errorf("the row is %s, want %s", got, want)
		}
	})
}

// TestARowStaysInTheIndexesOfItsKey when one of its writers goes, and leaves them with the last.
func TestARowStaysInTheIndexesOfItsKey(t *testing.T) {
	table := *dynamotest.Device
	table.Name, table.Indexes = "DeviceAlone", []driver.Index{{Name: "all", AlwaysSorted: true, PK: []int{0}}}
	every := func(p driver.Part) *driver.Part {
		p.PK, p.SK = []int{0}, []int{0}
		return &p
	}
	parts := map[string]*driver.Part{"telemetry": every(*dynamotest.Telemetry), "ownership": every(*dynamotest.Ownership)}
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := openWith(t, e, Config{}, &table)
		for n, step := range []struct {
			writer, text string
			rows         int
		}{{"telemetry", "on", 1}, {"ownership", "ann", 1}, {"telemetry", "", 1}, {"ownership", "", 0}} {
			b := dynamotest.DeviceBatch(t, step.writer, step.text, "1", uint64(n+1))
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
