package harness

import (
	"bytes"
	stdcmp "cmp"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// SortKeys lists the sort keys of rows, short to compare.
func SortKeys(rows []driver.Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.Key.SK
	}
	return out
}

// Difference compares rows, their index keys and positions with a driver's answer; "" where they are equal. What a
// MultiWriter store knows beside is left out.
func Difference(want, got []driver.Row) string {
	got = slices.Clone(got)
	for i := range got {
		if got[i].Applied, got[i].Revision = nil, 0; got[i].Record == nil {
			got[i] = driver.Row{Key: got[i].Key}
		}
	}
	return WholeDifference(want, got)
}

// WholeDifference compares all that there is of rows.
func WholeDifference(want, got []driver.Row) string {
	return cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
		cmp.Comparer(func(a, b record.Record) bool { return bytes.Equal(a, b) }),
		cmp.Comparer(func(a, b []driver.IndexKey) bool { return slices.Equal(a, b) }),
		cmp.Comparer(func(a, b []driver.Position) bool { return slices.Equal(byPartition(a), byPartition(b)) }))
}

func byPartition(list []driver.Position) []driver.Position {
	return slices.SortedFunc(slices.Values(list), func(a, b driver.Position) int {
		return stdcmp.Compare(a.Partition, b.Partition)
	})
}

// WantProjected compares what an index shows of a row with the row.
func WantProjected(t T, x *driver.Index, row, got *driver.Row) {
	t.Helper()
	if got.Key != row.Key || !got.Expires.Equal(row.Expires) || got.Record.Len() != row.Record.Len() {
		t.Errorf("index %s: row %q of %d fields that expires at %v, want %q, %d, %v",
			x.Name, got.Key, got.Record.Len(), got.Expires, row.Key, row.Record.Len(), row.Expires)
		return
	}
	for f := range row.Record.Len() {
		if want := row.Record.JSON(f); x.Covers([]int{f}) && string(got.Record.JSON(f)) != string(want) {
			t.Errorf("index %s, row %q: field %d is %s, want %s", x.Name, row.Key, f, got.Record.JSON(f), want)
		}
	}
}
