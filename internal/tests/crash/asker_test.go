package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/internal/tests/crash/plain"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
)

// asker asks the servers of a trial whatever happens to them, and keeps what they answer.
type asker struct {
	mu      sync.Mutex
	urls    []string // of the servers that may run, the latest last
	lines   []string // of the log
	history int      // how often the log was another
	answers []verifier.Answer
	// following: the server that was asked last had copies that were yet to follow.
	following bool
}

// amid reports whether the server that was asked last had copies that were yet to follow.
func (a *asker) amid() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.following
}

// told notes what a server has told of its projections.
func (a *asker) told(all []status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.following = slices.ContainsFunc(all, func(p status) bool { return p.Cascades > 0 })
}

// follows says which log servers are started with from now on, while none runs.
func (a *asker) follows(lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = lines
	a.history++
}

// forget drops the answers so far.
func (a *asker) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = nil
	a.history++
}

// now is the log, and the history that it is in.
func (a *asker) now() (lines []string, history int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lines, a.history
}

// keep keeps an answer, unless the log has become another since the question.
func (a *asker) keep(answer verifier.Answer, history int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.history == history && len(a.answers) < mostAnswers {
		a.answers = append(a.answers, answer)
	}
}

// listens says where a server listens.
func (a *asker) listens(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.urls = append(a.urls, url); len(a.urls) > 3 {
		a.urls = a.urls[1:]
	}
}

func (a *asker) one(rng *rand.Rand) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.urls) == 0 {
		return ""
	}
	return a.urls[rng.IntN(len(a.urls))]
}

// mostAnswers is how many answers of a trial are verified.
const mostAnswers = 3000

// ask begins to ask. What it returns ends that.
func (tr *trial) ask(ctx context.Context) (end func() error) {
	if tr.on.asks == nil {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	rng := newRand(tr.seed + 1)
	var asking sync.WaitGroup
	asking.Go(func() {
		for ctx.Err() == nil {
			tr.asker.round(ctx, rng, tr)
			time.Sleep(5 * time.Millisecond) // a server that is away is asked again, and others have the processors too
		}
	})
	return func() error {
		cancel()
		asking.Wait()
		return nil
	}
}

// round asks one question, of a server that says what is durable and, maybe, that it is ready.
func (a *asker) round(ctx context.Context, rng *rand.Rand, tr *trial) {
	lines, history := a.now()
	url := a.one(rng)
	q := tr.on.asks(rng, lines)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	after := uint64(0)
	if !tr.deployed.Load() { // else it would not count
		var err error
		if after, err = a.durable(ctx, url, q.projector); err != nil {
			return
		}
	}
	// a file does not grow: whoever is ready has all of it
	if tr.stream == nil && call(ctx, http.MethodGet, url+"/readyz", nil, nil) == nil {
		after = uint64(len(lines))
	}
	var reply struct {
		Data   struct{ R json.RawMessage }
		Errors []json.RawMessage
	}
	url = a.one(rng) // another may answer
	if call(ctx, http.MethodPost, url+"/graphql", map[string]string{"query": q.query}, &reply) != nil ||
		len(reply.Errors) > 0 {
		return
	}
	answer := verifier.Answer{Question: q.query, Model: q.model, ID: q.id, Partition: q.partition, After: after,
		OneMoment: q.one || tr.world.oneMoment()}
	if q.partition == "" && !tr.world.oneMoment() || tr.deployed.Load() {
		answer.After = 0 // an index may be behind, and rows that begin to serve may be too
	}
	var page struct{ Items []json.RawMessage }
	switch {
	case !q.one:
		if json.Unmarshal(reply.Data.R, &page) != nil {
			return
		}
		answer.Rows = page.Items
	case string(reply.Data.R) != "null":
		answer.Rows = []json.RawMessage{reply.Data.R}
	}
	a.keep(answer, history)
}

// durable is the checkpoint of the projection, as a server knows it.
func (a *asker) durable(ctx context.Context, url, projection string) (uint64, error) {
	all, err := statuses(ctx, url, projection)
	if err != nil {
		return 0, err
	}
	if projection == plain.Projection { // no other has copies
		a.told(all)
	}
	for _, p := range all {
		if p.Projection == projection && len(p.Partitions) == 1 {
			return p.Partitions[0].Checkpoint, nil
		}
	}
	return 0, fmt.Errorf("%s knows nothing of %s", url, projection)
}
