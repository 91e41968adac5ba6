package dynamostore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest"
)

// engines are the addresses of the emulators that the tests run on, by name.
func engines() map[string]string {
	list := map[string]string{}
	for _, e := range strings.Fields(cmp.Or(os.Getenv("DYNAMO"), "local=http://127.0.0.1:18100 dynoxide=http://127.0.0.1:18101")) {
		name, at, _ := strings.Cut(e, "=")
		list[name] = at
	}
	return list
}

func TestDriver(t *testing.T) {
	for name, endpoint := range engines() {
		t.Run(name, func(t *testing.T) {
			drivertest.Run(t, func(t *testing.T) driver.Driver { return openCreating(t, endpoint) })
		})
	}
}

var prefixes struct {
	sync.Mutex
	n int
}

func openTest(t testing.TB, endpoint string) *Store {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	prefixes.Lock()
	prefixes.n++
	n := prefixes.n
	prefixes.Unlock()
	s, err := Open(t.Context(), Config{Prefix: fmt.Sprintf("t%d.%d.", os.Getpid(), n), Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openCreating(t testing.TB, endpoint string) *creating {
	return &creating{Store: openTest(t, endpoint)}
}

// creating is a Store that creates tables when it first sees them.
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
	if err := createTable(ctx, c.client, layoutOf(c.cfg.Prefix, t)); err != nil {
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

func createTable(ctx context.Context, client *dynamodb.Client, l layout) error {
	_, err := client.CreateTable(ctx, createInput(&l))
	var there *types.ResourceInUseException
	if errors.As(err, &there) {
		return nil
	}
	return err
}
