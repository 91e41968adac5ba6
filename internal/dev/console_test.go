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

// TestDeadLettersAreToldOnceWithTheCommandThatListsThem, also where another server tells the next ones.
func TestDeadLettersAreToldOnceWithTheCommandThatListsThem(t *testing.T) {
	var out strings.Builder
	to := &console{to: &out}
	const list = "bin/server deadletters list --url http://127.0.0.1:8080"
	for range 2 {
		told := &told{to: to, hide: "127.0.0.1:1", list: list}
		for range 2 {
			if _, err := told.Write([]byte(`level=WARN msg="projection: event became a dead letter"` + "\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if text := out.String(); strings.Count(text, list) != 1 || strings.Count(text, "WARN") != 4 {
		t.Errorf("it tells\n%s", text)
	}
}
