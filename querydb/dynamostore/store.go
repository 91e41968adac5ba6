package dynamostore

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/read"
	"github.com/foldql/foldql/querydb/dynamostore/internal/rowcache"
	"github.com/foldql/foldql/querydb/dynamostore/internal/write"
)

// Config says which tables of which DynamoDB a Store uses, and how.
type Config struct {
	Prefix   string // of the names of all tables
	Region   string // what the environment says by default
	Endpoint string // address of the service, as that of an emulator; what the environment says by default
	// Concurrency is how many requests may be in flight, 64 by default.
	Concurrency int
	// RetryFor is how long a request is sent again that DynamoDB throttles or does not answer: 30 seconds by default, 5
	// minutes at most, because DynamoDB knows a repeated transaction for no more than 10. The end of a call's context
	// ends it at once.
	RetryFor time.Duration
	// RowCacheTTL is for how long a row that was read for a client may be given to others who do not ask for consistent
	// reads: 0, the default, is not at all. It is how much older than DynamoDB's own answer one may be where another
	// process has written the row. What this process writes is not given out any more.
	RowCacheTTL time.Duration
	// RowCacheBytes bounds about what those rows take; 64 MB by default.
	RowCacheBytes int64
	// Log is told of requests that are sent again, at the debug level; slog.Default by default.
	Log *slog.Logger
}

const (
	mostRetryFor = 5 * time.Minute
	// MaxRowCacheTTL bounds Config.RowCacheTTL.
	MaxRowCacheTTL = 24 * time.Hour
)

func (c Config) withDefaults() (Config, error) {
	if c.Concurrency == 0 {
		c.Concurrency = 64
	}
	if c.RetryFor == 0 {
		c.RetryFor = 30 * time.Second
	}
	if c.RowCacheBytes == 0 {
		c.RowCacheBytes = 64 << 20
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Concurrency < 0 {
		return c, fmt.Errorf("dynamostore: %w: Concurrency is %d, and must be at least 1", driver.ErrInvalid, c.Concurrency)
	}
	if c.RetryFor < 0 || c.RetryFor > mostRetryFor {
		return c, fmt.Errorf("dynamostore: %w: RetryFor is %v, and may be %v at most", driver.ErrInvalid, c.RetryFor,
			mostRetryFor)
	}
	if c.RowCacheTTL < 0 || c.RowCacheTTL > MaxRowCacheTTL {
		return c, fmt.Errorf("dynamostore: %w: RowCacheTTL is %v, and may be %v at most", driver.ErrInvalid, c.RowCacheTTL,
			MaxRowCacheTTL)
	}
	if c.RowCacheBytes < 0 {
		return c, fmt.Errorf("dynamostore: %w: RowCacheBytes is %d, and must be at least 1", driver.ErrInvalid,
			c.RowCacheBytes)
	}
	return c, nil
}

// Store is a driver that keeps rows in DynamoDB. Its tables must exist: it creates none by itself.
//
// It is the face of what the internal packages do: each of its methods hands the call to one of them.
type Store struct {
	client *client.Client
	reader *read.Reader
	memory
	applier *write.Applier
	tables  *manager
	marks   *marks

	calls  sync.RWMutex // held for reading by calls in flight
	closed bool
}

var (
	_ driver.Driver      = (*Store)(nil)
	_ driver.MultiWriter = (*Store)(nil)
	_ driver.TxLimiter   = (*Store)(nil)
	_ driver.GetLimiter  = (*Store)(nil)
	_ driver.Identifier  = (*Store)(nil)
	_ driver.Remembering = (*Store)(nil)
)

// Open prepares a Store. Region, credentials and endpoint are found as AWS's own programs find them: in the
// environment, its files, and what the machine is given. Nothing is sent yet.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := client.New(ctx, client.Options{
		Region: cfg.Region, Endpoint: cfg.Endpoint, Concurrency: cfg.Concurrency, RetryFor: cfg.RetryFor, Log: cfg.Log,
		ProbeTable: cfg.Prefix + "foldql",
	})
	if err != nil {
		return nil, err
	}
	s := newStore(c, cfg.Prefix)
	if cfg.RowCacheTTL > 0 {
		s.rows, err = rowcache.New(rowcache.Options{Bytes: cfg.RowCacheBytes, TTL: cfg.RowCacheTTL})
	}
	return s, err
}

func newStore(c *client.Client, prefix string) *Store {
	codecs := item.NewCodecs(prefix)
	r := read.NewReader(c, codecs)
	return &Store{
		client: c, reader: r, applier: write.NewApplier(c, codecs, r),
		tables: newManager(c, prefix), marks: newMarks(c, prefix),
	}
}

// Close waits for calls in flight; later ones fail.
func (s *Store) Close() error {
	s.calls.Lock()
	defer s.calls.Unlock()
	s.closed = true
	return nil
}

// CheckAvailable returns an ErrUnavailable where DynamoDB does not answer: queries are refused until it does. It asks
// DynamoDB itself where there was no answer of late, which takes less than a second. It says nothing of tables.
func (s *Store) CheckAvailable(ctx context.Context) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.client.CheckAnswers(ctx)
}

// MaxGet is how many keys one Get reads: as many batches as may be in flight.
func (s *Store) MaxGet() int { return item.MostKeys * s.client.Options.Concurrency }

// WrittenByOthers implements driver.MultiWriter.
func (s *Store) WrittenByOthers() {}

// TxLimits returns what one transaction can hold. DynamoDB counts names of attributes too, which the bytes of rows do
// not: some of its limit is left for them.
func (s *Store) TxLimits() (writes, bytes int) { return item.MostActions, item.MostTransaction * 7 / 8 }

// enter begins a call, which Close waits for; leave ends it.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	s.calls.RLock()
	err = ctx.Err()
	if s.closed {
		err = fmt.Errorf("dynamostore: %w: the store is closed", driver.ErrUnavailable)
	}
	if err != nil {
		s.calls.RUnlock()
		return nil, err
	}
	return s.calls.RUnlock, nil
}
