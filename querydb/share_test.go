package querydb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// TestTheRoomOfARowIsDividedEvenlyAmongItsWriters: what one of them may write does not depend on what the others have,
// and what is more is refused before anything of the batch is written.
func TestTheRoomOfARowIsDividedEvenlyAmongItsWriters(t *testing.T) {
	text := func(name string) querydb.Field { return querydb.Field{Name: name, Scalar: "String", Nullable: true} }
	m := &querydb.Model{
		Name: "Device", Table: "Device", Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		Fields: []querydb.Field{{Name: "id", Scalar: "ID"}, text("state"), text("owner")},
		PK: querydb.Half{Layout: keys.Layout{Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}},
			Fields: []int{0}},
		Writers: []querydb.Writer{
			{Name: "telemetry", Part: driver.Part{Fields: []int{1}}},
			{Name: "ownership", Part: driver.Part{Fields: []int{2}}},
		},
	}
	for name, drv := range map[string]driver.Driver{"plain": memstore.New(),
		"shared": memstore.NewMultiWriter(memstore.Options{})} {
		t.Run(name, func(t *testing.T) {
			db, err := querydb.Open(t.Context(), drv, []*querydb.Model{m}, querydb.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			row := func(id string, size int, of int) querydb.Row {
				var b record.Builder
				b.Begin(3)
				b.String(id)
				for f := 1; f < 3; f++ {
					if f == of {
						b.String(strings.Repeat("x", size))
					} else {
						b.Null()
					}
				}
				rec, _, err := b.Finish()
				if err != nil {
					t.Fatal(err)
				}
				return querydb.Row{Key: keys.Key{PK: id}, Record: rec}
			}
			apply := func(writer string, rows ...querydb.Row) error {
				b := querydb.Batch{Writer: writer}
				for _, r := range rows {
					b.Writes = append(b.Writes, querydb.Write{Model: m, Row: r})
				}
				return db.Apply(t.Context(), b)
			}
			const most = querydb.MaxRowSize/2 - 100
			for of, writer := range []string{1: "telemetry", 2: "ownership"} {
				if writer == "" {
					continue
				}
				if err := apply(writer, row("a", most, of)); err != nil {
					t.Errorf("%s writes its share: %v", writer, err)
				}
				err := apply(writer, row("small", 1, of), row("large", most+200, of))
				if !errors.Is(err, querydb.ErrTooLarge) || !strings.Contains(err.Error(), `row "large"`) ||
					!strings.Contains(err.Error(), writer) || !strings.Contains(err.Error(), "204800") {
					t.Errorf("%s writes more than its share: %v, want ErrTooLarge that names row, writer and bound", writer, err)
				}
				if err := db.ForFold(writer).Validate(m, &querydb.Row{Key: keys.Key{PK: "large"}, Record: row("large", most+200,
					of).Record}); !errors.Is(err, querydb.ErrTooLarge) {
					t.Errorf("%s asks whether it may write more than its share: %v", writer, err)
				}
			}
			rows, err := db.Get(t.Context(), m, []keys.Key{{PK: "a"}, {PK: "small"}}, true)
			if err != nil {
				t.Fatal(err)
			}
			if rows[0].Record.JSON(1) == nil || rows[0].Record.JSON(2) == nil || rows[1].Record != nil {
				t.Error("want both shares of one row, and nothing of the other")
			}
		})
	}
}
