package read

import (
	"testing"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// TestAnEventThatAnotherProgramMarkedAsItsRowIsOneOfTheHistory, but to the fold, which finds it
// among the rows; and a row that this store wrote is none.
func TestAnEventThatAnotherProgramMarkedAsItsRowIsOneOfTheHistory(t *testing.T) {
	history := &driver.Table{
		Name: "Fleet", Sorted: true, Kind: "ReadingEvent", RowKind: "Reading",
		Keys:   driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"},
		Fields: []driver.Field{{Name: "level", Scalar: "Int"}},
	}
	plain := *history
	plain.RowKind = ""
	for name, tt := range map[string]struct {
		table    *driver.Table
		says     string
		revision string
		forFold  bool
		want     bool
	}{
		"an event":                  {history, "ReadingEvent", "1", false, true},
		"one of another program":    {history, "Reading", "", false, true},
		"one of it, for the fold":   {history, "Reading", "", true, false},
		"a row":                     {history, "Reading", "1", false, false},
		"a row of a third kind":     {history, "Alert", "", false, false},
		"where no rows have events": {&plain, "Reading", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			it := item.Item{"level": item.Number("1"), "pk": item.Text("reading#c1"), "sk": item.Text("reading#e#2026"),
				"__edd_e__": item.Text(tt.says)}
			if tt.revision != "" {
				it["_rev"] = item.Number(tt.revision)
			}
			p, err := NewReader(nil, item.NewCodecs("")).pager(codecOf(t, tt.table), &driver.Query{Table: tt.table,
				Index: driver.Primary, Limit: 1, WithDeleted: tt.forFold})
			if err != nil {
				t.Fatal(err)
			}
			if row, there, err := p.row(it); err != nil || there != tt.want || there && row.Kind != "ReadingEvent" {
				t.Errorf("the item is an event: %t, of kind %q, %v", there, row.Kind, err)
			}
		})
	}
}
