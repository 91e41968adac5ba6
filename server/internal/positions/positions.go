package positions

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/ingest"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/projections"
)

// Headers of requests and answers.
const (
	// Header is how far the rows of an answer have come, or where events are that were posted.
	Header = ingest.PositionHeader
	// MinHeader is the position that the rows of an answer have to have reached, or a list of them: of each partition the
	// highest counts. A client cannot compare positions, and has several where answers come side by side.
	MinHeader = "Foldql-Min-Position"
	// ConsistencyHeader says what the position does not promise: "eventual" of an answer that may be from an index that
	// follows its table some time later, with copies that are yet to follow their rows, or, on a store that others write
	// to, to a request that has not asked for more; "blocked" where events that count as reached are dead letters. In a
	// request, "strong" has an answer that would be "eventual" refused; "eventual" asks for no more than no header does.
	ConsistencyHeader = "Foldql-Consistency"
)

// Config configures Positions.
type Config struct {
	Folds   *projections.Set
	Source  eventlog.Source
	DB      *querydb.DB
	Catalog *catalog.Catalog
	Key     keys.TokenKey
	Wait    time.Duration // that a query waits for rows to reach a position
	Waiters int           // queries that wait at the same time, at least 1: each keeps a connection from others
	Logger  *slog.Logger
}

// Positions adds positions to answers, and has queries wait for them, as an interceptor of all operations.
type Positions struct {
	cfg     Config
	source  *source
	asked   operations
	sealer  sealer
	waiters chan struct{} // has an element for each query that waits
}

var _ graphqlhttp.Interceptor = (*Positions)(nil)

// New returns the Positions of a server.
func New(cfg Config) *Positions {
	return &Positions{
		cfg:     cfg,
		source:  newSource(cfg.Source, func() uint64 { return querydb.Epoch(cfg.DB) }, cfg.Logger),
		asked:   operations{catalog: cfg.Catalog, folds: foldsOf(cfg.Folds)},
		sealer:  sealer{key: cfg.Key.Sealer()},
		waiters: make(chan struct{}, max(1, cfg.Waiters)),
	}
}

// request is a request whose answer is to have a position.
type request struct {
	min    []string    // the positions that it asks for
	strong bool        // no answer is better than an eventual one
	header http.Header // of its answer
}

func requestOf(op *graphqlhttp.Operation) (request, error) {
	asked := op.Request.Header
	r := request{min: listed(asked[MinHeader]), header: op.Header}
	for _, wanted := range listed(asked[ConsistencyHeader]) {
		switch strings.ToLower(wanted) {
		case "strong":
			r.strong = true
		case "eventual":
		default:
			return r, graphqlerr.New(graphqlerr.BadUserInput, "%s is %.20q: give strong, or leave it out for eventual",
				ConsistencyHeader, wanted)
		}
	}
	return r, nil
}

// consistent reports whether its reads of tables show what was committed before them, on every store.
func (r *request) consistent() bool { return len(r.min) > 0 || r.strong }

// listed are the elements of a header whose value is a list, on however many lines.
func listed(lines []string) (elements []string) {
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			if element = strings.Trim(element, " \t"); element != "" {
				elements = append(elements, element)
			}
		}
	}
	return elements
}

// Intercept implements graphqlhttp.Interceptor.
func (p *Positions) Intercept(ctx context.Context, op *graphqlhttp.Operation,
	next func(context.Context) *graphql.Response) *graphql.Response {
	if op.Definition == nil {
		return next(ctx)
	}
	asked, err := requestOf(op)
	if err != nil {
		return graphqlError(err)
	}
	if asked.consistent() {
		ctx = querydb.WithConsistentReads(ctx)
	}
	read, setbacks := p.asked.of(op.Definition, op.Memo), p.cfg.Folds.Setbacks.Load()
	if len(asked.min) > 0 {
		if err := p.await(ctx, asked.min, read.folds); err != nil {
			return graphqlError(err)
		}
	}
	at := reached(read.folds)
	if asked.strong {
		if err := p.refuseEventual(&read.reads, &at); err != nil {
			return graphqlError(err)
		}
	}
	p.tell(ctx, &asked, read, &at) // before the rows are read
	resp := next(ctx)
	if p.cfg.Folds.Setbacks.Load() != setbacks { // whether the answer is of rows that were at the position is not known
		asked.header.Del(Header)
		if asked.consistent() {
			return graphqlError(graphqlerr.New(graphqlerr.Stale, "the rows were exchanged for earlier ones while they were "+
				"read: ask again"))
		}
	}
	if inExtensions(op) {
		extend(resp, asked.header)
	}
	return resp
}

// extend adds to a response what the headers of its answer tell.
func extend(resp *graphql.Response, header http.Header) {
	extensions := map[string]any{}
	for extension, name := range map[string]string{"position": Header, "consistency": ConsistencyHeader} {
		if value := header.Get(name); value != "" {
			extensions[extension] = value
		}
	}
	maps.Copy(extensions, resp.Extensions)
	resp.Extensions = extensions
}

// inExtensions reports whether the request asks for the position in the extensions of its answer, as clients do that
// see no headers.
func inExtensions(op *graphqlhttp.Operation) bool {
	asked, _ := op.Extensions["position"].(bool)
	return asked
}

func graphqlError(err error) *graphql.Response {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		gql = gqlerror.Wrap(err)
	}
	return &graphql.Response{Errors: gqlerror.List{gql}}
}

// readsLate reports whether some of what is read may come from an index that follows its table some time later.
func (p *Positions) readsLate(read *reads) bool { return read.indexes && p.cfg.DB.MultiWriter() }

// refuseEventual is the error in place of an answer that may not show all that its rows have come to.
func (p *Positions) refuseEventual(read *reads, at *projection.Reached) error {
	switch {
	case p.readsLate(read):
		return graphqlerr.New(graphqlerr.BadUserInput, "an index of DynamoDB follows its table some time later, so no "+
			"answer that may be from one is strong: ask generated queries by primary key, or leave the header %s out",
			ConsistencyHeader)
	case at.Cascades > 0:
		return graphqlerr.New(graphqlerr.Stale, "copies of rows are yet to follow them: ask again, or leave the header %s "+
			"out", ConsistencyHeader)
	}
	return nil
}

// tellWithin is how long an answer may wait for its position, of which its source has said nothing yet.
const tellWithin = time.Second

// tell sets the headers of an answer: that of the position where the source has said which log it is. On a store that
// others write to, a read that is not consistent may lack what was committed before it, or be answered from memory.
func (p *Positions) tell(ctx context.Context, asked *request, read *dependencies, at *projection.Reached) {
	if at.Offsets == nil {
		return
	}
	if position := p.position(ctx, read, at.Offsets); position != nil {
		asked.header[Header] = position
	}
	var less []string
	if at.DeadLetters > 0 {
		less = append(less, "blocked")
	}
	if at.Cascades > 0 || p.readsLate(&read.reads) || p.cfg.DB.MultiWriter() && !asked.consistent() {
		less = append(less, "eventual")
	}
	if len(less) > 0 {
		asked.header.Set(ConsistencyHeader, strings.Join(less, ", "))
	}
}

// told is the last position of the answers to an operation, as the value of a header; most of the time it is the next
// one, too.
type told struct {
	epoch    uint64 // of the rows that serve: see source
	at       eventlog.Offsets
	position []string // nil for none
}

// position is the header's value for offsets, which must not be changed: neither is it. It is nil where there is none.
func (p *Positions) position(ctx context.Context, read *dependencies, at eventlog.Offsets) []string {
	epoch := p.source.epoch()
	if last := read.told.Load(); last != nil && last.epoch == epoch && maps.Equal(last.at, at) {
		return last.position
	}
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	places, err := p.source.places(ctx, at)
	if err != nil {
		return nil
	}
	now := &told{epoch: epoch, at: at}
	if text := p.sealer.seal(places); text != "" {
		now.position = []string{text}
	}
	read.told.Store(now)
	return now.position
}

// Of is the position of events that were appended, "" where there can be none.
func (p *Positions) Of(ctx context.Context, at []eventlog.AppendResult) string {
	all := eventlog.Offsets{}
	for _, a := range at {
		all[a.Partition] = max(all[a.Partition], a.Offset)
	}
	places, err := p.source.places(ctx, all)
	if err != nil {
		return ""
	}
	return p.sealer.seal(places)
}
