// Package client sends requests to DynamoDB: a bounded number at a time, with retries, and not at all while DynamoDB
// does not answer. It counts what they cost, and maps errors to those of package driver.
package client

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"

	"github.com/foldql/foldql/querydb/driver"
)

// Options say which DynamoDB a Client sends to, and how.
type Options struct {
	Region   string // "" for that of the environment
	Endpoint string // address of the service; "" for that of the environment
	// Concurrency is how many requests may be in flight.
	Concurrency int
	// RetryFor is how long a request is retried.
	RetryFor time.Duration
	Log      *slog.Logger
	// ProbeTable is the table that a probe asks for an item: whether it exists does not matter.
	ProbeTable string
}

// Client sends requests to one DynamoDB.
type Client struct {
	API      *dynamodb.Client // for use within Send
	Options  Options
	Counters Counters

	inFlight inFlight
	breaker  breaker
}

// New makes a Client that keeps a connection for each request in flight, and one for the probe. The SDK itself retries
// nothing: see Send. Nothing is sent yet.
func New(ctx context.Context, o Options) (*Client, error) {
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		most := o.Concurrency + 1
		t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = most, most, most
	})
	options := []func(*config.LoadOptions) error{config.WithHTTPClient(transport), config.WithLogger(sdkLog{o.Log})}
	if o.Region != "" {
		options = append(options, config.WithRegion(o.Region))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("dynamostore: %w: read the configuration of AWS: %w", driver.ErrInvalid, err)
	}
	api := dynamodb.NewFromConfig(loaded, func(d *dynamodb.Options) {
		d.Retryer, d.RetryMaxAttempts = aws.NopRetryer{}, 0
		if o.Endpoint != "" {
			d.BaseEndpoint = &o.Endpoint
		}
		if d.Region == "" && d.BaseEndpoint != nil {
			d.Region = "us-east-1" // an endpoint of one's own has no regions, but a signature names one
		}
	})
	if api.Options().Region == "" {
		return nil, fmt.Errorf("dynamostore: %w: no region is given: set AWS_REGION, or region in the store's address",
			driver.ErrInvalid)
	}
	return &Client{
		API: api, Options: o, inFlight: newInFlight(o.Concurrency), breaker: breaker{log: o.Log},
	}, nil
}

// sdkLog writes what the SDK logs to our log, at the debug level: what matters of it is returned as an error too.
type sdkLog struct{ log *slog.Logger }

func (l sdkLog) Logf(_ logging.Classification, format string, v ...any) {
	l.log.Debug("dynamostore: " + fmt.Sprintf(format, v...))
}

// CheckAnswers returns an ErrUnavailable where DynamoDB does not answer. It asks DynamoDB itself where there was no
// answer recently.
func (c *Client) CheckAnswers(ctx context.Context) error { return c.breaker.check(ctx, c.probe) }

// Suspended reports whether reads with a budget are refused because DynamoDB does not answer, and how often that began.
func (c *Client) Suspended() (suspended bool, times uint64) {
	return c.breaker.isOpen(), c.breaker.opened.Load()
}

// probe asks whether DynamoDB answers at all: a refusal is an answer too. It does not wait for room in flight.
func (c *Client) probe(ctx context.Context) error {
	c.Counters.Requests.Add(1)
	table, none := c.Options.ProbeTable, &types.AttributeValueMemberS{Value: "probe"}
	key := map[string]types.AttributeValue{"id": none, "_subId": none}
	_, err := c.API.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key})
	return err
}
