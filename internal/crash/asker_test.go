package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/foldql/foldql/internal/crash/judge"
	ledgermodel "github.com/foldql/foldql/internal/crash/ledger/model"
	"github.com/foldql/foldql/querydb"
)

// ask is a question for rows, and of which partition of the table they are, "" for an index.
type ask struct {
	model     *querydb.Model
	projector string
	query     string
	partition string
	one       bool // the answer is a row, or null
}

// ledgerAsks draws a question about the ledger.
func ledgerAsks(rng *rand.Rand) ask {
	account := fmt.Sprint("a", rng.IntN(8))
	one := func(m *querydb.Model, id string) ask {
		return ask{m, m.Name, fmt.Sprintf("{ r: %s(id: %q, consistent: true) { %s } }", m.Name, id, fieldsOf(m)), id, true}
	}
	switch rng.IntN(5) {
	case 0:
		return one(ledgermodel.BalanceModel, account)
	case 1:
		return one(ledgermodel.ProfileModel, account)
	case 2:
		return one(ledgermodel.CurrencyModel, []string{"EUR", "SEK", "USD"}[rng.IntN(3)])
	case 3:
		m := ledgermodel.EntryModel
		return ask{m, m.Name, fmt.Sprintf("{ r: EntryById(id: %q, limit: 1000, consistent: true) { items { %s } } }", account, fieldsOf(m)), account, false}
	}
	m := ledgermodel.BalanceModel
	owner := []string{"Ada", "Bo"}[rng.IntN(2)]
	return ask{m, m.Name, fmt.Sprintf("{ r: BalanceByOwner(owner: %q, limit: 1000) { items { %s } } }", owner, fieldsOf(m)), "", false}
}

func fieldsOf(m *querydb.Model) string {
	var b strings.Builder
	for _, f := range m.Fields {
		b.WriteString(" " + f.Name)
	}
	return b.String()
}

// asker asks the servers of a trial whatever happens to them, and keeps what they answer.
type asker struct {
	mu      sync.Mutex
	urls    []string // of the servers that may run, the latest last
	answers []judge.Answer
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

// mostAnswers is how many answers of a trial are judged.
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
		for ctx.Err() == nil && len(tr.asker.answers) < mostAnswers {
			if !tr.asker.round(ctx, rng, tr) {
				time.Sleep(5 * time.Millisecond) // a server that is away is asked again
			}
		}
	})
	return func() error {
		cancel()
		asking.Wait()
		return nil
	}
}

// round asks one question, of a server that says what is durable and, maybe, that it is ready.
func (a *asker) round(ctx context.Context, rng *rand.Rand, tr *trial) bool {
	url := a.one(rng)
	q := tr.on.asks(rng)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	after, err := durable(ctx, url, q.projector)
	if err != nil {
		return false
	}
	if call(ctx, http.MethodGet, url+"/readyz", nil, nil) == nil { // the file does not grow: whoever is ready has all of it
		after = uint64(tr.lines)
	}
	var reply struct {
		Data   struct{ R json.RawMessage }
		Errors []json.RawMessage
	}
	url = a.one(rng) // another may answer
	if call(ctx, http.MethodPost, url+"/graphql", map[string]string{"query": q.query}, &reply) != nil || len(reply.Errors) > 0 {
		return false
	}
	answer := judge.Answer{Question: q.query, Model: q.model.Name, Partition: q.partition, After: after,
		OneMoment: q.one || tr.world.oneMoment()}
	if q.partition == "" && !tr.world.oneMoment() {
		answer.After = 0 // an index may be behind
	}
	var page struct{ Items []json.RawMessage }
	switch {
	case !q.one:
		if json.Unmarshal(reply.Data.R, &page) != nil {
			return false
		}
		answer.Rows = page.Items
	case string(reply.Data.R) != "null":
		answer.Rows = []json.RawMessage{reply.Data.R}
	}
	a.answers = append(a.answers, answer)
	return true
}

// durable is the checkpoint of the projection, as a server knows it.
func durable(ctx context.Context, url, projection string) (uint64, error) {
	var status struct {
		Projections []struct {
			Projection string
			Partitions []struct{ Checkpoint uint64 }
		}
	}
	if err := call(ctx, http.MethodGet, url+"/admin/projections", nil, &status); err != nil {
		return 0, err
	}
	for _, p := range status.Projections {
		if p.Projection == projection && len(p.Partitions) == 1 {
			return p.Partitions[0].Checkpoint, nil
		}
	}
	return 0, fmt.Errorf("%s knows nothing of %s", url, projection)
}
