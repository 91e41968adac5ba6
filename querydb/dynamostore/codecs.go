package dynamostore

import (
	"sync"

	"github.com/foldql/foldql/querydb/driver"
)

// codecs are the shapes of tables, each worked out when it is first seen.
type codecs struct {
	prefix string
	known  sync.Map // *driver.Table to *shape
}

func newCodecs(prefix string) *codecs { return &codecs{prefix: prefix} }

// of returns the shape of a table.
func (c *codecs) of(t *driver.Table) (*shape, error) {
	if known, ok := c.known.Load(t); ok {
		return known.(*shape), nil
	}
	made, err := newShape(c.prefix, t)
	if err != nil {
		return nil, err
	}
	known, _ := c.known.LoadOrStore(t, made)
	return known.(*shape), nil
}
