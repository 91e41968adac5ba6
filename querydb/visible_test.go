package querydb_test

import (
	"testing"
	"unsafe"

	"github.com/foldql/foldql/querydb"
)

// TestAPageHoldsNoMemoryOfRowsThatItLeavesOut, however few these are: nobody is charged for rows that are not Visible,
// and a store may read several rows into one piece of memory.
func TestAPageHoldsNoMemoryOfRowsThatItLeavesOut(t *testing.T) {
	f := newFixture(t, openPebble(t))
	const rows = 10
	for i := range rows {
		f.put(sample(i))
	}
	for _, hidden := range []string{"", "o3"} {
		read := map[*byte]bool{}
		page := f.query(querydb.Query{Index: byStatus, PK: "open", Limit: 2 * rows, Visible: func(row *querydb.Row) bool {
			read[unsafe.SliceData(row.Record)] = true
			return row.Key.PK != hidden
		}})
		if want := rows - min(len(hidden), 1); len(page.Rows) != want || len(read) != rows {
			t.Fatalf("%d rows are read and %d shown, want %d and %d", len(read), len(page.Rows), rows, want)
		}
		for i := range page.Rows {
			if shared := read[unsafe.SliceData(page.Rows[i].Record)]; shared != (hidden == "") {
				t.Errorf("where %q is hidden, row %s is shown as it was read: %t", hidden, page.Rows[i].Key.PK, shared)
			}
		}
	}
}

// TestAPageThatEndsAmongHiddenRowsHoldsNoMemoryOfThem, though it says where the rows after them begin.
func TestAPageThatEndsAmongHiddenRowsHoldsNoMemoryOfThem(t *testing.T) {
	f := newFixture(t, openPebble(t))
	for i := range 2 * querydb.MinFilterBatch {
		f.put(sample(i))
	}
	read := map[*byte]bool{}
	page := f.query(querydb.Query{Index: byStatus, PK: "open", Limit: 1, Partial: true,
		Hidden: querydb.NewHiddenRows(0), Visible: func(row *querydb.Row) bool {
			read[unsafe.StringData(row.Key.PK)], read[unsafe.StringData(row.Key.SK)] = true, true
			return false
		}})
	if len(page.Rows) > 0 || page.Next == nil {
		t.Fatalf("the page has %d rows and goes on at %v", len(page.Rows), page.Next)
	}
	for _, text := range []string{page.Next.Key.PK, page.Next.Key.SK} {
		if read[unsafe.StringData(text)] {
			t.Errorf("%q of %+v is in the memory of a hidden row", text, page.Next)
		}
	}
}
