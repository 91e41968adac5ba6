package server

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb/dynamostore"
)

func TestStoreIsNamedByOneText(t *testing.T) {
	for text, want := range map[string]storePlace{
		"embedded:./data":  {kind: embeddedStore, dir: "data"},
		"embedded:/a/b:c/": {kind: embeddedStore, dir: "/a/b:c"},
		"memory:":          {kind: memoryStore},
		"dynamodb:":        {kind: dynamoStore},
		"dynamodb:shop-":   {kind: dynamoStore, dynamo: dynamostore.Config{Prefix: "shop-"}},
		"dynamodb:a.?region=eu-central-1&concurrency=8&endpoint=http://127.0.0.1:8000": {kind: dynamoStore, dynamo: dynamostore.Config{
			Prefix: "a.", Region: "eu-central-1", Concurrency: 8, Endpoint: "http://127.0.0.1:8000",
		}},
	} {
		if got, err := parseStore(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for text, mend := range map[string]string{
		"": "embedded:DIR", "embedded": "embedded:DIR", "embedded:": "names no directory", "memory": "memory:",
		"memory:x": "memory:", "pebble:./data": "embedded:DIR", "./data": "embedded:DIR",
		"dynamodb": "names no tables", "dynamodb:a/b": "letters", "dynamodb:?prefix=a": "the keys are region",
		"dynamodb:?region=": "region has no value", "dynamodb:?region=a&region=b": "region is given 2 times",
		"dynamodb:?concurrency=0": "concurrency=0 is not", "dynamodb:?concurrency=x": "concurrency=x is not",
		"dynamodb:?endpoint=localhost:8000": "is no address", "dynamodb:?a=%zz": "KEY=VALUE",
	} {
		if _, err := parseStore(text); err == nil || !strings.HasPrefix(err.Error(), "store: ") || !strings.Contains(err.Error(), mend) {
			t.Errorf("%q: error %v, want one of store that says %q", text, err, mend)
		}
	}
}

func TestSourceIsNamedByOneText(t *testing.T) {
	for text, want := range map[string]sourcePlace{
		"log:": {logSource, ""}, "log:./a/": {logSource, "a"}, "file:-": {fileSource, "-"}, "file:a:b.jsonl.gz": {fileSource, "a:b.jsonl.gz"},
	} {
		if got, err := parseSource(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for text, mend := range map[string]string{
		"": "file:PATH", "file": "names no file", "file:": "names no file", "log": "log:", "kafka:x": "log:",
	} {
		if _, err := parseSource(text); err == nil || !strings.HasPrefix(err.Error(), "events: ") || !strings.Contains(err.Error(), mend) {
			t.Errorf("%q: error %v, want one of events that says %q", text, err, mend)
		}
	}
}
