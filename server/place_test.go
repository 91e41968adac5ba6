package server

import (
	"strings"
	"testing"
)

func TestStoreIsNamedByOneText(t *testing.T) {
	for text, want := range map[string]storePlace{
		"embedded:./data":  {embeddedStore, "data"},
		"embedded:/a/b:c/": {embeddedStore, "/a/b:c"},
		"memory:":          {memoryStore, ""},
	} {
		if got, err := parseStore(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for text, mend := range map[string]string{
		"": "embedded:DIR", "embedded": "embedded:DIR", "embedded:": "names no directory", "memory": "memory:",
		"memory:x": "memory:", "pebble:./data": "embedded:DIR", "./data": "embedded:DIR",
	} {
		if _, err := parseStore(text); err == nil || !strings.HasPrefix(err.Error(), "store: ") || !strings.Contains(err.Error(), mend) {
			t.Errorf("%q: error %v, want one of store that says %q", text, err, mend)
		}
	}
}

func TestSourceIsNamedByOneText(t *testing.T) {
	for text, want := range map[string]sourcePlace{
		"log:": {logSource, ""}, "file:-": {fileSource, "-"}, "file:a:b.jsonl.gz": {fileSource, "a:b.jsonl.gz"},
	} {
		if got, err := parseSource(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for text, mend := range map[string]string{
		"": "file:PATH", "file": "names no file", "file:": "names no file", "log": "log:", "log:x": "log:", "kafka:x": "log:",
	} {
		if _, err := parseSource(text); err == nil || !strings.HasPrefix(err.Error(), "events: ") || !strings.Contains(err.Error(), mend) {
			t.Errorf("%q: error %v, want one of events that says %q", text, err, mend)
		}
	}
}
