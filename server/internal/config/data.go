package config

import (
	"strings"

	"github.com/foldql/foldql/server/internal/memory"
)

// Data are the options of every command that opens a store.
type Data struct {
	Store  string `help:"Where rows are kept: embedded:DIR, dynamodb:PREFIX?region=NAME&endpoint=URL&concurrency=N, or memory: to try things out." default:"embedded:./data" group:"Data"`
	Events string `help:"Where events come from: log: is the log beside the rows (./data where they are in DynamoDB), log:DIR another one, file:PATH a file (.jsonl, .jsonl.gz; - is standard input) or a directory of files, https://HOST:PORT the log of another server, nats://HOST:PORT/STREAM a stream of NATS JetStream (tls:// where it must be encrypted)." default:"log:" group:"Data"`
	SourceAccess
	Mirror    bool  `help:"Keep a durable copy of the events beside the rows (./data where they are in DynamoDB), and fold that: for events from https:, nats: or file:." group:"Data"`
	CacheMB   int64 `help:"Memory for the cache of an embedded store, or for rows of DynamoDB (serve --row-cache-ttl), in MiB." default:"256" group:"Data"`
	ReserveMB int64 `help:"Free disk space to keep, in MiB: with less, the server refuses events and folds nothing until there is more." default:"128" group:"Data"`
	MemoryMB  int64 `help:"Size of Go's memory near which the garbage collector runs more often, in MiB; 0 for twice the cache in all, and no less than 576." default:"0" group:"Data"`
}

// largestCacheMB is a tebibyte: whoever asks for more has written something else than mebibytes.
const largestCacheMB = 1 << 20

// Parse reads where rows are kept and where events come from, and checks the other options. It opens nothing; what is
// wrong is an Error.
func (p *Data) Parse() (Store, Source, error) {
	store, err := ParseStore(p.Store)
	if err != nil {
		return Store{}, Source{}, err
	}
	if err := p.checkSizes(); err != nil {
		return Store{}, Source{}, err
	}
	source, err := parseSource(p.Events)
	if err == nil {
		err = p.SourceAccess.of(&source)
	}
	if err == nil && p.Mirror {
		err = source.mirror(store)
	}
	return store, source, err
}

// largestReserveMB is an exbibyte, which no file system has.
const largestReserveMB = 1 << 40

func (p *Data) checkSizes() error {
	if err := checkBounds("cache-mb", p.CacheMB, 1, largestCacheMB); err != nil {
		return err
	}
	if p.MemoryMB != 0 && p.MemoryMB <= p.CacheMB {
		return Wrong("memory-mb", "%d is not more than the cache alone may take (%d); give more, or a smaller cache-mb",
			p.MemoryMB, p.CacheMB)
	}
	return checkBounds("reserve-mb", p.ReserveMB, 1, largestReserveMB)
}

// Reserve is the free space that is left alone, in bytes.
func (p *Data) Reserve() uint64 { return uint64(p.ReserveMB) << 20 }

// TuneMemory sets up Go's collector for the cache and the memory that are asked for, until stop is called.
func (p *Data) TuneMemory(env func(string) (string, bool)) (stop func()) {
	return memory.TuneMemory(env, memory.MemoryLimit(p.MemoryMB, p.CacheMB, strings.HasPrefix(p.Store, Embedded+":")))
}
