package config

import (
	"cmp"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/foldql/foldql/querydb/dynamostore"
)

// Store says where rows are kept.
type Store struct {
	Kind   string             // embedded, dynamodb or memory
	Dir    string             // the data directory of an embedded store
	Dynamo dynamostore.Config // of a store in DynamoDB
}

// The kinds of stores and sources.
const (
	Embedded = "embedded"
	DynamoDB = "dynamodb"
	Memory   = "memory"
	Log      = "log"
	File     = "file"
	Remote   = "http" // the log of another server
	Stream   = "nats" // a stream of NATS JetStream
)

// usualDir has the log, and the copy of a source, of a store that has no directory.
const usualDir = "data"

// ParseStore reads "embedded:DIR", "dynamodb:PREFIX?KEY=VALUE&…" or "memory:".
func ParseStore(text string) (Store, error) {
	kind, rest, ok := strings.Cut(text, ":")
	switch {
	case ok && kind == Embedded && rest != "":
		return Store{Kind: Embedded, Dir: filepath.Clean(rest)}, nil
	case ok && kind == DynamoDB:
		c, err := parseDynamo(rest)
		return Store{Kind: DynamoDB, Dynamo: c}, err
	case ok && kind == Memory && rest == "":
		return Store{Kind: Memory}, nil
	case kind == Embedded:
		return Store{}, Wrong("store", "%q names no directory; write embedded:DIR, for example embedded:./data", text)
	case kind == DynamoDB:
		return Store{}, Wrong("store", "%q names no tables; write dynamodb:PREFIX, for example dynamodb:shop-", text)
	}
	return Store{}, Wrong("store", "%q is no store; write embedded:DIR, dynamodb:PREFIX, or memory: to try things out",
		text)
}

var tablePrefix = regexp.MustCompile(`^[A-Za-z0-9_.-]{0,100}$`)

// parseDynamo reads "PREFIX?region=NAME&endpoint=URL&concurrency=N".
func parseDynamo(text string) (c dynamostore.Config, err error) {
	prefix, options, _ := strings.Cut(text, "?")
	if c.Prefix = prefix; !tablePrefix.MatchString(prefix) {
		return c, Wrong("store", "%.200q cannot begin names of tables; use up to 100 of letters, digits, and _ . -", prefix)
	}
	values, err := url.ParseQuery(options)
	if err != nil {
		return c, Wrong("store", "what follows the ? is not written as KEY=VALUE&KEY=VALUE: %w", err)
	}
	for key, list := range values {
		if len(list) > 1 {
			return c, Wrong("store", "%s is given %d times; give it once", key, len(list))
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
			return Wrong("store", "region has no value; name a region, such as eu-central-1, or leave it out")
		}
	case "endpoint":
		c.Endpoint = value
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return Wrong("store", "endpoint=%s is no address; write one such as http://127.0.0.1:8000, or leave it out", value)
		}
	case "concurrency":
		const most = 10_000
		if c.Concurrency, err = strconv.Atoi(value); err != nil || c.Concurrency < 1 || c.Concurrency > most {
			return Wrong("store", "concurrency=%s is not a number from 1 to %d", value, most)
		}
	default:
		return Wrong("store", "there is no key %.50q; the keys are region, endpoint and concurrency", key)
	}
	return nil
}

func (p Store) String() string {
	if p.Kind == DynamoDB {
		return p.Kind + ":" + p.Dynamo.Prefix
	}
	return p.Kind + ":" + p.Dir
}

// Rows is the directory of the rows of an embedded store.
func (p Store) Rows() string { return filepath.Join(p.Dir, "rows") }

// Log is the directory of the log that belongs to the store.
func (p Store) Log() string { return LogIn(cmp.Or(p.Dir, usualDir)) }

// Mirror is the directory of the copy of a source that belongs to the store.
func (p Store) Mirror() string { return MirrorIn(cmp.Or(p.Dir, usualDir)) }

// MirrorIn is where a data directory has the copy of a source.
func MirrorIn(dir string) string { return filepath.Join(dir, "mirror") }

// LogIn is where a data directory has the log.
func LogIn(dir string) string { return filepath.Join(dir, "log") }
