package read

import (
	"context"
	"crypto/sha256"
	"log/slog"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/allowance"
	"github.com/foldql/foldql/graph/internal/filter"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Reader reads the rows that queries of a catalog ask for. It is safe for concurrent use.
type Reader struct {
	db      *querydb.DB
	Catalog *catalog.Catalog
	Config  Config
	tokens  pageTokens
	served  served
	// guarded are the queries of indexes under a rule, by where they read: joins through such an index heed its rule too.
	guarded map[Target]*catalog.Query
	filters bool // whether there are queries that filter
	judges  bool // whether there are rules that admit owners
}

// Config tunes a reader.
type Config struct {
	TokenKey    keys.TokenKey // encrypts and authenticates page tokens
	AuthOff     bool          // no rule holds
	Allowance   allowance.Most
	MaxFanout   int // distinct rows that one virtual field may lead to
	Parallelism int // reads in flight of one level of joins, or of several root fields
	Logger      *slog.Logger
}

// New makes a Reader of the rows of a DB, which answers the queries of the catalog.
func New(db *querydb.DB, c *catalog.Catalog, cfg Config) *Reader {
	rd := &Reader{db: db, Catalog: c, Config: cfg, served: served{db, Errors{cfg.Logger}},
		guarded: map[Target]*catalog.Query{}}
	rd.tokens = pageTokens{cfg.TokenKey.Sealer(), rd.served, c}
	for _, t := range c.Types {
		rd.judges = rd.judges || t.Rule != nil && t.Rule.Owner
	}
	for _, q := range c.Queries {
		rd.filters = rd.filters || q.Filtered
		if q.Rule != nil {
			rd.judges = true
			rd.guarded[Target{Type: c.Types[q.Type], Index: q.Index}] = q
		}
	}
	return rd
}

// Viewer returns who asks.
func (rd *Reader) Viewer(ctx context.Context) access.Viewer {
	if rd.Config.AuthOff || !rd.Catalog.Secured {
		return access.Everybody
	}
	return access.NewViewer(ctx)
}

// Errors makes the errors of reads.
func (rd *Reader) Errors() Errors { return Errors{rd.Config.Logger} }

// first reads the row that stands at a join key: of a partition of a table the one with the greatest sort key, of an
// index the first. In a partition it is one of those that keep keeps.
func (rd *Reader) first(
	ctx context.Context, g Target, at JoinKey, fields []int, consistent bool, keep func(*querydb.Row) bool,
) (record.Record, error) {
	key, err := rd.served.key(ctx, g.Type.Model, g.Index)
	if err != nil {
		return nil, err
	}
	if g.batched() {
		got, err := rd.db.Get(ctx, g.Type.Model, []keys.Key{at.Key}, consistent)
		if err != nil {
			return nil, err
		}
		return got[0].Record, nil
	}
	if at.SK == "" && !key.InOrder && !g.single() {
		return nil, rd.db.Rebuilds().NotRebuilt(g.Type.Model, "which row comes first")
	}
	within, err := g.rows(key, at)
	if err != nil {
		return nil, err
	}
	q := querydb.Query{
		Index: g.Index, PK: at.PK, Range: within, Reverse: g.Index == driver.Primary, Limit: 1, Consistent: consistent,
		Fields: fields, NoNext: true,
	}
	if keep != nil {
		q.Visible, q.Hidden = keep, rd.Config.Allowance.Left(ctx).Hidden
	}
	p, err := rd.db.Query(ctx, g.Type.Model, q)
	if err != nil || len(p.Rows) == 0 {
		return nil, err
	}
	return p.Rows[0].Record, nil
}

// Request is a query with its arguments as values.
type Request struct {
	PK, SK []keys.Value
	held   bool // PK is what a row holds, and no argument
	// IDs are those of a query of kind QueryMany, QueryNode or QueryNodes; where it takes keys of several fields, the
	// values of each in the order of the catalog, one key after the other.
	IDs         []keys.Value
	inline      [2]keys.Value // memory of pk and sk, as long as they are few
	Page        catalog.PageArgs
	Consistent  bool
	MemberTypes []string // types of members of a collection; nil for all
	// Fields are the ordinals that will be read of the rows, nil for all.
	Fields []int
	// WantNext says that it will be read whether another page follows, and WantToken that its token will.
	WantNext, WantToken bool
	// WantCursors says that the cursors of the rows of a page will be read.
	WantCursors bool
	sought      *filter.Filter // what Page.Filter says, once it is read
	soughtSum   [sha256.Size]byte
}

// SetKey makes room for the values of the arguments that compose the key.
func (r *Request) SetKey(pk, sk int) {
	vals := r.inline[:]
	if pk+sk > len(vals) {
		vals = make([]keys.Value, pk+sk)
	}
	r.PK, r.SK = vals[:pk], vals[pk:pk+sk]
}
