package schema

import (
	"errors"
	"testing"
)

// TestDiagnosticsNamePositionTypeFieldAndFix in one line each.
func TestDiagnosticsNamePositionTypeFieldAndFix(t *testing.T) {
	pos := Pos{File: "schema.graphqls", Line: 12, Column: 3}
	ds := Diagnostics{
		{Pos: pos, Type: "Order", Field: "total", Message: "is wrong", Fix: "right it"},
		{Pos: pos, Type: "Order", Message: "is slow", Fix: "hurry", Warning: true},
		{Pos: pos, Message: "is missing", Fix: "find it"},
	}
	want := "schema.graphqls:12:3: type Order, field total: is wrong (fix: right it)\n" +
		"schema.graphqls:12:3: warning: type Order: is slow (fix: hurry)\n" +
		"schema.graphqls:12:3: is missing (fix: find it)"
	if got := ds.Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	var errs Diagnostics
	if !errors.As(ds.Err(), &errs) || len(errs) != 2 {
		t.Errorf("Err() = %v, want the two that are no warnings", errs)
	}
	if err := ds[1:2].Err(); err != nil {
		t.Errorf("a warning is an error: %v", err)
	}
}
