package dynamostore

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/logging"

	"github.com/foldql/foldql/querydb/driver"
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
	// Log is told of requests that are sent again, at the debug level; slog.Default by default.
	Log *slog.Logger
}

const mostRetryFor = 5 * time.Minute

func (c Config) withDefaults() (Config, error) {
	if c.Concurrency == 0 {
		c.Concurrency = 64
	}
	if c.RetryFor == 0 {
		c.RetryFor = 30 * time.Second
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
	return c, nil
}

// Store is a driver that keeps rows in DynamoDB. Its tables must be there: it creates none by itself.
type Store struct {
	cfg     Config
	client  *dynamodb.Client
	flights chan struct{} // as full as there are requests in flight
	shapes  sync.Map      // *driver.Table to *shape
	stats   stats
	breaker breaker
	now     func() time.Time

	calls  sync.RWMutex // held for reading by calls in flight
	closed bool
}

var (
	_ driver.Driver      = (*Store)(nil)
	_ driver.MultiWriter = (*Store)(nil)
	_ driver.TxLimiter   = (*Store)(nil)
	_ driver.GetLimiter  = (*Store)(nil)
	_ driver.Identifier  = (*Store)(nil)
)

// Open prepares a Store. Region, credentials and endpoint are found as AWS's own programs find them: in the
// environment, its files, and what the machine is given. Nothing is sent yet.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	client, err := newClient(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Store{
		cfg: cfg, client: client, flights: make(chan struct{}, cfg.Concurrency), breaker: breaker{log: cfg.Log},
		now: time.Now,
	}, nil
}

// newClient makes a client that keeps a connection for each request in flight, and one to ask whether there is anybody.
// The SDK itself repeats nothing: see send.
func newClient(ctx context.Context, cfg Config) (*dynamodb.Client, error) {
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		most := cfg.Concurrency + 1
		t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = most, most, most
	})
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(transport), config.WithLogger(sdkLog{cfg.Log})}
	if cfg.Region != "" {
		options = append(options, config.WithRegion(cfg.Region))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("dynamostore: %w: read the configuration of AWS: %w", driver.ErrInvalid, err)
	}
	client := dynamodb.NewFromConfig(loaded, func(o *dynamodb.Options) {
		o.Retryer, o.RetryMaxAttempts = aws.NopRetryer{}, 0
		if cfg.Endpoint != "" {
			o.BaseEndpoint = &cfg.Endpoint
		}
		if o.Region == "" && o.BaseEndpoint != nil {
			o.Region = "us-east-1" // an endpoint of one's own has no regions, but a signature names one
		}
	})
	if client.Options().Region == "" {
		return nil, fmt.Errorf("dynamostore: %w: no region is given: set AWS_REGION, or region in the store's address",
			driver.ErrInvalid)
	}
	return client, nil
}

// sdkLog hands what the SDK has to say to our log, at the debug level: what matters of it comes back as an error too.
type sdkLog struct{ log *slog.Logger }

func (l sdkLog) Logf(_ logging.Classification, format string, v ...any) {
	l.log.Debug("dynamostore: " + fmt.Sprintf(format, v...))
}

// Close waits for calls in flight; later ones fail.
func (s *Store) Close() error {
	s.calls.Lock()
	defer s.calls.Unlock()
	s.closed = true
	return nil
}

// Answers returns an ErrUnavailable where DynamoDB does not answer: queries are refused until it does. It asks DynamoDB
// itself where there was no answer of late, which takes less than a second. It says nothing of tables.
func (s *Store) Answers(ctx context.Context) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.breaker.check(ctx, s.ask)
}

// MaxGet is how many keys one Get reads: as many batches as may be in flight.
func (s *Store) MaxGet() int { return mostKeys * s.cfg.Concurrency }

// WrittenByOthers implements driver.MultiWriter.
func (s *Store) WrittenByOthers() {}

// TxLimits returns what one transaction can hold. DynamoDB counts names of attributes too, which the bytes of rows do
// not: some of its limit is left for them.
func (s *Store) TxLimits() (writes, bytes int) { return mostActions, mostTransaction * 7 / 8 }

// shape returns the shape of a table, worked out when it is first seen.
func (s *Store) shape(t *driver.Table) (*shape, error) {
	if known, ok := s.shapes.Load(t); ok {
		return known.(*shape), nil
	}
	made, err := newShape(s.cfg.Prefix, t)
	if err != nil {
		return nil, err
	}
	known, _ := s.shapes.LoadOrStore(t, made)
	return known.(*shape), nil
}
