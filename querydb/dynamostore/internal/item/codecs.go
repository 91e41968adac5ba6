package item

import (
	"sync"

	"github.com/foldql/foldql/querydb/driver"
)

// Codecs are the shapes of tables, each worked out when it is first seen.
type Codecs struct {
	prefix string
	known  sync.Map // *driver.Table to *shape
}

// NewCodecs makes the codecs of a store whose tables have names that begin with the prefix.
func NewCodecs(prefix string) *Codecs { return &Codecs{prefix: prefix} }

// Of returns the shape of a table.
func (c *Codecs) Of(t *driver.Table) (*Codec, error) {
	if known, ok := c.known.Load(t); ok {
		return known.(*Codec), nil
	}
	codec, err := NewCodec(c.prefix, t)
	if err != nil {
		return nil, err
	}
	known, _ := c.known.LoadOrStore(t, codec)
	return known.(*Codec), nil
}
