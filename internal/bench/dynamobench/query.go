package dynamobench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/internal/bench/measurement"
	"github.com/foldql/foldql/internal/bench/peers"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/querydb"
)

// asked is how many requests of each question are measured, the same ones again and again.
const asked = 100

// inTurn is how many queries one side makes before it is the other's turn: few, so that both meet the same moments.
const inTurn = 10

// queriesBeside measures GraphQL queries, from the request in the handler to the last byte of the answer, beside a bare
// loop that makes the requests to DynamoDB that these queries make, one after the other.
func (e *engine) queriesBeside(ctx context.Context, out io.Writer, at account, d time.Duration) (err error) {
	db, err := at.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	client, err := at.client(ctx)
	if err != nil {
		return err
	}
	api := apiOf(db)
	fmt.Fprint(out, "\nqueries, one at a time, beside a bare loop that makes the same requests of the same tables:\n")
	for _, q := range peers.Questions[:5] { // Q6 makes several requests at once, which one loop does not
		bodies := q.Bodies(asked)
		calls, err := e.recordQueries(ctx, at, bodies)
		if err != nil {
			return fmt.Errorf("record %s: %w", q.Name, err)
		}
		mine, bare, err := inTurns(d, func(i int) error { return askIntoSink(ctx, api, bodies[i%asked]) },
			func(i int) error { return play(ctx, client, calls[i%asked]) })
		if err != nil {
			return fmt.Errorf("ask %s: %w", q.Name, err)
		}
		fmt.Fprintf(out, "  %s, %s\n    foldql %s\n    bare   %s\n    foldql to bare: %.2f as fast by p50, %.2f "+
			"by p99, %.2f "+
			"by the mean\n",
			q.Name, q.Asks, mine, bare, bare.P50.Seconds()/mine.P50.Seconds(), bare.P99.Seconds()/mine.P99.Seconds(),
			bare.Mean().Seconds()/mine.Mean().Seconds())
	}
	return nil
}

// apiOf is what the server answers queries with.
func apiOf(db *querydb.DB) http.Handler {
	rt := graph.NewRuntime(db, generated.Catalog, graph.Config{AuthOff: true})
	return graphqlhttp.New(graph.WithCompiledPlans(generated.New(rt), rt), graphqlhttp.Config{})
}

// recordQueries asks once, and returns the requests that each query made.
func (e *engine) recordQueries(ctx context.Context, at account, bodies [][]byte) (all [][]call, err error) {
	r, err := newRecorder(e.URL)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	at.url = r.URL
	db, err := at.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	api := apiOf(db)
	for _, body := range bodies {
		r.take()
		answer := httptest.NewRecorder()
		if err := ask(ctx, api, body, answer); err != nil {
			return nil, err
		}
		if text := answer.Body.Bytes(); answer.Code != http.StatusOK || bytes.Contains(text, []byte(`"errors"`)) ||
			len(text) == 0 {
			return nil, fmt.Errorf("the answer to %s is %d: %s", body, answer.Code, text)
		}
		var calls []call
		for _, sent := range r.take() {
			c, err := sent.call()
			if err != nil {
				return nil, err
			}
			calls = append(calls, c)
		}
		all = append(all, calls)
	}
	return all, nil
}

// ask has the handler answer one request, without a network between.
func ask(ctx context.Context, api http.Handler, body []byte, to http.ResponseWriter) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	api.ServeHTTP(to, r)
	return nil
}

// sink is where an answer goes that nobody reads.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(status int)      { s.status = status }

func askIntoSink(ctx context.Context, api http.Handler, body []byte) error {
	to := &sink{header: http.Header{}, status: http.StatusOK}
	err := ask(ctx, api, body, to)
	if err == nil && to.status != http.StatusOK {
		err = fmt.Errorf("status %d", to.status)
	}
	return err
}

// play makes the requests of one query.
func play(ctx context.Context, c *dynamodb.Client, calls []call) error {
	for _, make := range calls {
		if err := make(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// inTurns times both ways in turns, of which either is as often the first, for about as long as it is told, after a
// while that does not count.
func inTurns(d time.Duration, ways ...func(i int) error) (first, second measurement.Spread, err error) {
	var took [2][]time.Duration
	warm := time.Now().Add(d / 4)
	end := warm.Add(d)
	for turn := 0; time.Now().Before(end); turn++ {
		for i := range ways {
			way := (i + turn) % 2
			for n := range inTurn {
				began := time.Now()
				if err := ways[way](turn*inTurn + n); err != nil {
					return first, second, err
				}
				if began.After(warm) {
					took[way] = append(took[way], time.Since(began))
				}
			}
		}
	}
	return measurement.SpreadOf(took[0]), measurement.SpreadOf(took[1]), nil
}
