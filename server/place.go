package server

import (
	"cmp"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/foldql/foldql/querydb/dynamostore"
)

// storePlace says where rows are kept.
type storePlace struct {
	kind   string             // embedded, dynamodb or memory
	dir    string             // the data directory of an embedded store
	dynamo dynamostore.Config // of a store in DynamoDB
}

// The kinds of stores and sources.
const (
	embeddedStore = "embedded"
	dynamoStore   = "dynamodb"
	memoryStore   = "memory"
	logSource     = "log"
	fileSource    = "file"
)

// usualDir is where the log is kept, unless told otherwise, of a store that has no directory.
const usualDir = "data"

// parseStore reads "embedded:DIR", "dynamodb:PREFIX?KEY=VALUE&…" or "memory:".
func parseStore(text string) (storePlace, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && kind == embeddedStore && rest != "":
		return storePlace{kind: embeddedStore, dir: filepath.Clean(rest)}, nil
	case ok && kind == dynamoStore:
		c, err := parseDynamo(rest)
		return storePlace{kind: dynamoStore, dynamo: c}, err
	case ok && kind == memoryStore && rest == "":
		return storePlace{kind: memoryStore}, nil
	case kind == embeddedStore:
		return storePlace{}, wrongConfig("store", "%q names no directory; write embedded:DIR, for example embedded:./data", text)
	case kind == dynamoStore:
		return storePlace{}, wrongConfig("store", "%q names no tables; write dynamodb:PREFIX, for example dynamodb:shop-", text)
	}
	return storePlace{}, wrongConfig("store", "%q is no store; write embedded:DIR, dynamodb:PREFIX, or memory: to try things out", text)
}

var tablePrefix = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,100}$`)

// parseDynamo reads "PREFIX?region=NAME&endpoint=URL&concurrency=N".
func parseDynamo(text string) (c dynamostore.Config, err error) {
	prefix, options, _ := strings.Cut(text, "?")
	if c.Prefix = prefix; !tablePrefix.MatchString(prefix) {
		return c, wrongConfig("store", "%.200q cannot begin names of tables; use up to 100 of letters, digits, and _ . -", prefix)
	}
	values, err := url.ParseQuery(options)
	if err != nil {
		return c, wrongConfig("store", "what follows the ? is not written as KEY=VALUE&KEY=VALUE: %w", err)
	}
	for key, list := range values {
		if len(list) > 1 {
			return c, wrongConfig("store", "%s is given %d times; give it once", key, len(list))
		}
		if err := setDynamo(&c, key, list[0]); err != nil {
			return c, err
		}
	}
	return c, nil
}

func setDynamo(c *dynamostore.Config, key, value string) (err error) {
	switch key {
	case "region":
		if c.Region = value; value == "" {
			return wrongConfig("store", "region has no value; name a region, such as eu-central-1, or leave it out")
		}
	case "endpoint":
		c.Endpoint = value
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return wrongConfig("store", "endpoint=%s is no address; write one such as http://127.0.0.1:8000, or leave it out", value)
		}
	case "concurrency":
		const most = 10_000
		if c.Concurrency, err = strconv.Atoi(value); err != nil || c.Concurrency < 1 || c.Concurrency > most {
			return wrongConfig("store", "concurrency=%s is not a number from 1 to %d", value, most)
		}
	default:
		return wrongConfig("store", "there is no key %.50q; the keys are region, endpoint and concurrency", key)
	}
	return nil
}

func (p storePlace) String() string {
	if p.kind == dynamoStore {
		return p.kind + ":" + p.dynamo.Prefix
	}
	return p.kind + ":" + p.dir
}

func (p storePlace) rows() string { return filepath.Join(p.dir, "rows") }

// log is the directory of the log that belongs to the store.
func (p storePlace) log() string { return logIn(cmp.Or(p.dir, usualDir)) }

func logIn(dir string) string { return filepath.Join(dir, "log") }

// sourcePlace says where events come from.
type sourcePlace struct {
	kind string // log or file
	path string // of a file, "-" for standard input; of a log its data directory, "" for the one that belongs to the store
}

// parseSource reads "log:", "log:DIR" or "file:PATH".
func parseSource(text string) (sourcePlace, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && kind == logSource && rest == "":
		return sourcePlace{kind: logSource}, nil
	case ok && kind == logSource && strings.HasPrefix(rest, "?"):
		return sourcePlace{}, wrongConfig("events", "%q has options, and a log has none; write log: or log:DIR", text)
	case ok && kind == logSource:
		return sourcePlace{kind: logSource, path: filepath.Clean(rest)}, nil
	case ok && kind == fileSource && rest != "":
		return sourcePlace{kind: fileSource, path: rest}, nil
	case kind == fileSource:
		return sourcePlace{}, wrongConfig("events", "%q names no file; write file:PATH, or file:- for standard input", text)
	}
	return sourcePlace{}, wrongConfig("events", "%q is no source of events; write log: for the log of the store, log:DIR, or file:PATH", text)
}
