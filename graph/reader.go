package graph

import (
	"context"
	"log/slog"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// reader reads the rows that queries of a catalog ask for. It is safe for concurrent use.
type reader struct {
	db      *querydb.DB
	catalog *Catalog
	cfg     readConfig
	tokens  pageTokens
	// guarded are the queries of indexes under a rule, by where they read: joins through such an index heed its rule too.
	guarded map[target]*Query
}

// readConfig tunes a reader.
type readConfig struct {
	TokenKey    keys.TokenKey // authenticates page tokens
	AuthOff     bool          // no rule holds
	MaxFanout   int           // distinct rows that one virtual field may lead to
	Parallelism int           // reads in flight of one level of joins, or of several root fields
	Logger      *slog.Logger
}

func newReader(db *querydb.DB, c *Catalog, cfg readConfig) *reader {
	rd := &reader{db: db, catalog: c, cfg: cfg, tokens: pageTokens{cfg.TokenKey.Sealer()}, guarded: map[target]*Query{}}
	for _, q := range c.Queries {
		if q.Rule != nil {
			rd.guarded[target{c.Types[q.Type], q.Index}] = q
		}
	}
	return rd
}

// viewer returns who asks.
func (rd *reader) viewer(ctx context.Context) viewer {
	if rd.cfg.AuthOff || !rd.catalog.Secured {
		return everybody
	}
	return newViewer(ctx)
}

// errors makes the errors of reads.
func (rd *reader) errors() readErrors { return readErrors{rd.cfg.Logger} }

// first reads the row that stands at a join key: of a partition of a table the one with the greatest sort key, of an index
// the first. In a partition it is one of those that keep keeps.
func (rd *reader) first(
	ctx context.Context, g target, at joinKey, fields []int, consistent bool, keep func(*querydb.Row) bool,
) (record.Record, error) {
	if g.batched() {
		got, err := rd.db.Get(ctx, g.typ.Model, []keys.Key{at.Key}, consistent)
		if err != nil {
			return nil, err
		}
		return got[0].Record, nil
	}
	within, err := g.rows(at)
	if err != nil {
		return nil, err
	}
	p, err := rd.db.Query(ctx, g.typ.Model, querydb.Query{
		Index: g.via, PK: at.PK, Range: within, Reverse: g.via == driver.Primary, Limit: 1, Consistent: consistent, Fields: fields,
		Keep: keep,
	})
	if err != nil || len(p.Rows) == 0 {
		return nil, err
	}
	return p.Rows[0].Record, nil
}
