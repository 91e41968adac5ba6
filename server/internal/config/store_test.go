package config

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb/dynamostore"
)

func TestStoreIsNamedByOneText(t *testing.T) {
	for text, want := range map[string]Store{
		"embedded:./data":  {Kind: Embedded, Dir: "data"},
		"embedded:/a/b:c/": {Kind: Embedded, Dir: "/a/b:c"},
		"memory:":          {Kind: Memory},
		"dynamodb:":        {Kind: DynamoDB},
		"dynamodb:shop-":   {Kind: DynamoDB, Dynamo: dynamostore.Config{Prefix: "shop-"}},
		"dynamodb:a.?region=eu-central-1&concurrency=8&endpoint=http://127.0.0.1:8000": {Kind: DynamoDB,
			Dynamo: dynamostore.Config{
				Prefix: "a.", Region: "eu-central-1", Concurrency: 8, Endpoint: "http://127.0.0.1:8000",
			}},
	} {
		if got, err := ParseStore(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "embedded:DIR", "embedded": "embedded:DIR", "embedded:": "names no directory", "memory": "memory:",
		"memory:x": "memory:", "pebble:./data": "embedded:DIR", "./data": "embedded:DIR",
		"dynamodb": "names no tables", "dynamodb:a/b": "letters", "dynamodb:?prefix=a": "the keys are region",
		"dynamodb:?region=": "region has no value", "dynamodb:?region=a&region=b": "region is given 2 times",
		"dynamodb:?concurrency=0": "concurrency=0 is not", "dynamodb:?concurrency=x": "concurrency=x is not",
		"dynamodb:?endpoint=localhost:8000": "is no address", "dynamodb:?a=%zz": "KEY=VALUE",
	} {
		if _, err := ParseStore(text); err == nil || !strings.HasPrefix(err.Error(), "store: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one of store that says %q", text, err, want)
		}
	}
}

func TestSourceIsNamedByOneText(t *testing.T) {
	for text, want := range map[string]Source{
		"log:": {Kind: Log}, "log:./a/": {Kind: Log, Path: "a"}, "file:-": {Kind: File, Path: "-"},
		"file:a:b.jsonl.gz":         {Kind: File, Path: "a:b.jsonl.gz"},
		"http://localhost:8080":     {Kind: Remote, Path: "http://localhost:8080"},
		"https://events.example/of": {Kind: Remote, Path: "https://events.example/of"},
		"nats://a:4222,b:4222/SHOP": {Kind: Stream, Path: "nats://a:4222,b:4222/SHOP"},
		"tls://nats.example/SHOP":   {Kind: Stream, Path: "tls://nats.example/SHOP"},
		"HTTPS://events.example":    {Kind: Remote, Path: "https://events.example"},
	} {
		if got, err := parseSource(text); err != nil || got != want {
			t.Errorf("%q is %+v (%v), want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "file:PATH", "file": "names no file", "file:": "names no file", "log": "log:", "kafka:x": `"kafka"`,
		"http:": "https://HOST:PORT", "https://h?x=1": "https://HOST:PORT", "https://u:p@h": "FOLDQL_EVENTS_TOKEN",
		"nats://host": "nats://HOST:PORT/STREAM", "nats:///S": "nats://HOST:PORT/STREAM", "tls://u:p@h/S": "events-user",
		"https://h?": "with no query", "https://h#": "with no query", "nats://h/S?": "nats://HOST:PORT/STREAM",
		"nats://h/S#": "nats://HOST:PORT/STREAM",
	} {
		if _, err := parseSource(text); err == nil || !strings.HasPrefix(err.Error(), "events: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one of events that says %q", text, err, want)
		}
	}
}

// TestNoSecretOfASourceIsRepeated where its address is refused.
func TestNoSecretOfASourceIsRepeated(t *testing.T) {
	for _, text := range []string{"https://h?token=secret", "https://h#secret", "https://u:secret@", "https://u:secret@h",
		"nats://u:secret@h", "nats://h/S?token=secret", "wss://u:secret@h/S", "secret:@h", "HTTPS://h?token=secret",
		"https//u:secret@h", "https//secret", "log:?token=secret", "kafka:secret", "Nats://u:secret@h/S"} {
		if _, err := parseSource(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v, want one without the secret", text, err)
		}
	}
}
