package positions

import (
	"context"
	"errors"
	"fmt"
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
	// ConsistencyHeader says what the position does not promise: "eventual" of an answer from an index that follows its
	// table some time later, with copies that are yet to follow their rows, or, on a store that others write to, to a
	// request that has not asked for more; "blocked" where events that count as reached are dead letters. In a request,
	// "strong" has an answer that would be "eventual" refused.
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
	Logger  *slog.Logger
}

// Positions adds positions to answers, and has queries wait for them, as one of gqlgen's extensions.
type Positions struct {
	cfg    Config
	source source
	asked  operations
	sealer sealer
}

var _ interface {
	graphql.HandlerExtension
	graphql.ResponseInterceptor
} = (*Positions)(nil)

// New returns the Positions of a server.
func New(cfg Config) *Positions {
	return &Positions{cfg: cfg, source: source{Source: cfg.Source}, sealer: sealer{key: cfg.Key.Sealer()},
		asked: operations{catalog: cfg.Catalog, folds: foldsOf(cfg.Folds)}}
}

// ExtensionName implements graphql.HandlerExtension.
func (*Positions) ExtensionName() string { return "Positions" }

// Validate implements graphql.HandlerExtension.
func (*Positions) Validate(graphql.ExecutableSchema) error { return nil }

// request is a request whose answer is to have a position.
type request struct {
	min    []string // the positions that it asks for
	strong bool     // no answer is better than an eventual one
	header http.Header
}

// consistent reports whether its reads of tables show what was committed before them, on every store.
func (r *request) consistent() bool { return len(r.min) > 0 || r.strong }

type requestKey struct{}

// Handler has the answers of a GraphQL handler that has the extension tell positions.
func (p *Positions) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := &request{min: listed(r.Header.Values(MinHeader)), header: w.Header(),
			strong: strings.EqualFold(r.Header.Get(ConsistencyHeader), "strong")}
		ctx := context.WithValue(r.Context(), requestKey{}, asked)
		if asked.consistent() {
			ctx = querydb.WithConsistentReads(ctx)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

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

// InterceptResponse implements graphql.ResponseInterceptor.
func (p *Positions) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	asked, _ := ctx.Value(requestKey{}).(*request)
	op := graphql.GetOperationContext(ctx).Operation
	if asked == nil || op == nil {
		return next(ctx)
	}
	read, setbacks := p.asked.of(op), p.cfg.Folds.Setbacks.Load()
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
	if err := p.tell(ctx, asked, &read.reads, &at); err != nil { // before the rows are read
		p.cfg.Logger.ErrorContext(ctx, "an answer has no position", "error", err)
	}
	resp := next(ctx)
	if p.cfg.Folds.Setbacks.Load() != setbacks { // whether the answer is of rows that were at the position is not known
		asked.header.Del(Header)
		if asked.consistent() {
			return graphqlError(graphqlerr.New(graphqlerr.Stale, "the rows were exchanged for earlier ones while they were "+
				"read: ask again"))
		}
	}
	if position := asked.header.Get(Header); resp != nil && position != "" && inExtensions(ctx) {
		extensions := map[string]any{"position": position}
		maps.Copy(extensions, resp.Extensions)
		resp.Extensions = extensions
	}
	return resp
}

// inExtensions reports whether the request asks for the position in the extensions of its answer, as clients do that
// see no headers.
func inExtensions(ctx context.Context) bool {
	asked, _ := graphql.GetOperationContext(ctx).Extensions["position"].(bool)
	return asked
}

func graphqlError(err error) *graphql.Response {
	var gql *gqlerror.Error
	if !errors.As(err, &gql) {
		gql = gqlerror.Wrap(err)
	}
	return &graphql.Response{Errors: gqlerror.List{gql}}
}

// readsLate reports whether some of what is read comes from an index that follows its table some time later.
func (p *Positions) readsLate(read *reads) bool { return read.indexes && p.cfg.DB.MultiWriter() }

// refuseEventual is the error in place of an answer that may not show all that its rows have come to.
func (p *Positions) refuseEventual(read *reads, at *projection.Reached) error {
	switch {
	case p.readsLate(read):
		return graphqlerr.New(graphqlerr.BadUserInput, "an index of DynamoDB follows its table some time later, so no "+
			"answer from one is strong: ask by primary key, or leave the header %s out", ConsistencyHeader)
	case at.Cascades > 0:
		return graphqlerr.New(graphqlerr.Stale, "copies of rows are yet to follow them: ask again, or leave the header %s "+
			"out", ConsistencyHeader)
	}
	return nil
}

// tell sets the headers of an answer. On a store that others write to, a read that is not consistent may lack what was
// committed before it, or be answered from memory.
func (p *Positions) tell(ctx context.Context, asked *request, read *reads, at *projection.Reached) error {
	header := asked.header
	if at.Offsets == nil {
		return nil
	}
	places, err := p.source.places(ctx, at.Offsets)
	if err != nil {
		return err
	}
	if position := p.sealer.seal(places); position != "" {
		header[Header] = []string{position}
	}
	var less []string
	if at.DeadLetters > 0 {
		less = append(less, "blocked")
	}
	if at.Cascades > 0 || p.readsLate(read) || p.cfg.DB.MultiWriter() && !asked.consistent() {
		less = append(less, "eventual")
	}
	if len(less) > 0 {
		header.Set(ConsistencyHeader, strings.Join(less, ", "))
	}
	return nil
}

// Of is the position of events that were appended, "" where there can be none.
func (p *Positions) Of(ctx context.Context, at []eventlog.AppendResult) string {
	all := eventlog.Offsets{}
	for _, a := range at {
		all[a.Partition] = max(all[a.Partition], a.Offset)
	}
	places, err := p.source.places(ctx, all)
	if err != nil {
		p.cfg.Logger.ErrorContext(ctx, "an answer has no position", "error", fmt.Errorf("events appended: %w", err))
		return ""
	}
	return p.sealer.seal(places)
}
