package dynamobench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// inFlight is how many requests either side may have in flight: the default of the server.
const inFlight = 64

// account is where tables are: DynamoDB Local keeps those of each access key apart, so that the same requests can be
// made in several accounts.
type account struct{ url, key string }

// enter has AWS's libraries find the account from now on.
func (p account) enter() error {
	for _, v := range (dynamolocal.Endpoint{URL: p.url, AccessKey: p.key}).Env() {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// open makes the tables of the shop where they are missing, and opens them.
func (p account) open(ctx context.Context) (*querydb.DB, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	store, err := dynamostore.Open(ctx, dynamostore.Config{Concurrency: inFlight, Log: quiet})
	if err != nil {
		return nil, err
	}
	needed := []*driver.Table{querydb.NotesTable()}
	for _, m := range model.All {
		needed = append(needed, m.DriverTable(0))
	}
	if err := store.ApplyTables(ctx, dynamostore.Tables{Needed: needed}, false, func(string) {}); err != nil {
		return nil, errors.Join(fmt.Errorf("make the tables: %w", err), store.Close())
	}
	db, err := querydb.Open(ctx, store, model.All, querydb.Config{Logger: quiet})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return db, nil
}

// client is the SDK's own, with as many connections as requests may be in flight; it sends each request once.
func (p account) client(ctx context.Context) (*dynamodb.Client, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	connections := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConns, t.MaxIdleConnsPerHost, t.MaxConnsPerHost = inFlight, inFlight, inFlight
	})
	cfg, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(connections))
	if err != nil {
		return nil, err
	}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer, o.RetryMaxAttempts = aws.NopRetryer{}, 0
	}), nil
}
