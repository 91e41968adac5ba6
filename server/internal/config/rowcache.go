package config

import (
	"time"

	"github.com/foldql/foldql/querydb/dynamostore"
)

// RowCache says how rows of DynamoDB are kept in memory for queries.
type RowCache struct {
	RowCacheTTL time.Duration `name:"row-cache-ttl" help:"How long a query may be given a row of DynamoDB from memory, such as 1s: by so much it may be out of date where another server has written it. 0 for not at all." default:"0s" group:"Data"`
}

// Of gives a store what the options say.
func (c *RowCache) Of(s *Store) error {
	switch {
	case c.RowCacheTTL < 0 || c.RowCacheTTL > dynamostore.MaxRowCacheTTL:
		return Wrong("row-cache-ttl", "%v is out of bounds; give 0s for none, or %v at most", c.RowCacheTTL,
			dynamostore.MaxRowCacheTTL)
	case c.RowCacheTTL > 0 && s.Kind != DynamoDB:
		return Wrong("row-cache-ttl", "it is for rows in DynamoDB, and the store is %s, whose rows in memory are never "+
			"out of date; leave it out", s)
	}
	s.Dynamo.RowCacheTTL = c.RowCacheTTL
	return nil
}
