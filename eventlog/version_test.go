package eventlog_test

import (
	"errors"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// TestAnEventSaysOfWhichVersionItsDataAre, by an attribute, and is of the first without it.
func TestAnEventSaysOfWhichVersionItsDataAre(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "12": 12, "2147483647": 2147483647,
		"": 0, "0": 0, "-1": 0, "+1": 0, "01": 0, "1.0": 0, " 1": 0, "v2": 0, "2147483648": 0,
	} {
		e := &eventlog.Event{Extensions: map[string]string{eventlog.VersionAttribute: text}}
		if got, err := e.DataVersion(); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: version %d, error %v; want %d", text, got, err, want)
		}
	}
	if got, err := (&eventlog.Event{}).DataVersion(); got != 1 || err != nil {
		t.Errorf("without the attribute: version %d, error %v", got, err)
	}
}

// TestDataAreCheckedAsWhatTheyAre by their version.
func TestDataAreCheckedAsWhatTheyAre(t *testing.T) {
	checks := func(name string) func([]byte) ([]string, error) {
		return func([]byte) ([]string, error) { return nil, errors.New(name) }
	}
	of := &eventlog.Type{
		Name: "Placed", Check: checks("present"), Former: []func([]byte) ([]string, error){checks("first"), checks("second")},
	}
	for version, want := range map[string]string{
		"1": "first", "2": "second", "3": "present",
		"4": "the data are of version 4, and this program knows Placed up to version 3",
		"x": `attribute dataversion is "x": want a whole number, 1 for the first version`,
	} {
		_, err := of.CheckEvent(&eventlog.Event{Extensions: map[string]string{eventlog.VersionAttribute: version}})
		if err == nil || err.Error() != want {
			t.Errorf("version %s: %v, want %s", version, err, want)
		}
	}
	if _, err := of.CheckEvent(&eventlog.Event{}); err == nil || err.Error() != "first" {
		t.Errorf("without a version: %v", err)
	}
}
