package dynamostore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/dynamolocal"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest"
)

func TestDriver(t *testing.T) {
	onEngines(t, func(t *testing.T, e dynamolocal.Engine) {
		drivertest.Run(t, func(t *testing.T) driver.Driver { return &creating{Store: open(t, e, Config{})} })
	})
}

func onEngines(t *testing.T, prove func(t *testing.T, e dynamolocal.Engine)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) { prove(t, e) })
	}
}

// open returns a store in a place of its own at the engine.
func open(t testing.TB, e dynamolocal.Engine, cfg Config) *Store {
	t.Helper()
	place := dynamolocal.Start(t, e)
	place.Setenv(t)
	cfg.Prefix = place.Prefix
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openWith returns a store whose tables are there.
func openWith(t testing.TB, e dynamolocal.Engine, cfg Config, tables ...*driver.Table) *Store {
	t.Helper()
	s := open(t, e, cfg)
	if err := s.ApplyTables(t.Context(), Tables{Needed: tables}, false, func(string) {}); err != nil {
		t.Fatal(err)
	}
	s.stats = stats{}
	return s
}

// creating is a Store that creates tables when it first sees them, as the suite's cases do not.
type creating struct {
	*Store
	mu   sync.Mutex
	seen map[*driver.Table]bool
}

func (c *creating) create(ctx context.Context, t *driver.Table) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[t] {
		return nil
	}
	if c.seen == nil {
		c.seen = map[*driver.Table]bool{}
	}
	l := layoutOf(c.cfg.Prefix, t)
	_, err := c.client.CreateTable(ctx, createInput(&l))
	var there *types.ResourceInUseException
	if err != nil && !errors.As(err, &there) {
		return err
	}
	c.seen[t] = true
	return nil
}

func (c *creating) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if err := c.create(ctx, g.Table); err != nil {
		return nil, err
	}
	return c.Store.Get(ctx, g)
}

func (c *creating) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if err := c.create(ctx, q.Table); err != nil {
		return driver.Page{}, err
	}
	return c.Store.Query(ctx, q)
}

func (c *creating) Apply(ctx context.Context, b driver.Batch) error {
	for _, w := range slices.Concat(b.Writes, b.Last) {
		if err := c.create(ctx, w.Table); err != nil {
			return err
		}
	}
	return c.Store.Apply(ctx, b)
}
