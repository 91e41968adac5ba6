package dev

import (
	"strings"
	"testing"
)

// TestALastLineIsToldAlsoWhereItDoesNotEnd, as that of a generator that has ended amid it.
func TestALastLineIsToldAlsoWhereItDoesNotEnd(t *testing.T) {
	for told, want := range map[string]string{"one\ntwo": "one\ntwo\n", "one\n": "one\n", "": ""} {
		var out strings.Builder
		lines := &wholeLines{to: &out}
		if _, err := lines.Write([]byte(told)); err != nil {
			t.Fatal(err)
		}
		lines.end()
		if got := out.String(); got != want {
			t.Errorf("of %q it tells %q, want %q", told, got, want)
		}
	}
}
