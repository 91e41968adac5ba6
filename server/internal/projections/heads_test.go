package projections

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// asked counts what is asked of a source.
type asked struct {
	eventlog.Source
	partitions, heads int
}

func (a *asked) Partitions(ctx context.Context) ([]string, error) {
	a.partitions++
	return a.Source.Partitions(ctx)
}

func (a *asked) Head(ctx context.Context, partition string) (uint64, error) {
	a.heads++
	return a.Source.Head(ctx, partition)
}

// TestAProbeAsksTheSourceOnceForAllProjections, and so does a scrape: of a log that is far away, a hundred projections
// would else find no time to say that they are ready.
func TestAProbeAsksTheSourceOnceForAllProjections(t *testing.T) {
	var models []*querydb.Model
	var all []projection.Projection
	for i := range 10 {
		m := &querydb.Model{Name: fmt.Sprint("Order", i), Table: fmt.Sprint("Order", i), Version: "1", TTL: -1, CreatedAt: -1,
			UpdatedAt: -1}
		models = append(models, m)
		all = append(all, projection.New(
			&projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}}, projection.Projection{
				Name: m.Name, Events: []string{"T"},
				Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil },
			}))
	}
	db, err := querydb.Open(t.Context(), memstore.New(), models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	log := logOf(t, "T")
	defer log.Close()
	src := &asked{Source: log}
	set, err := New(all, src, db, nil, projection.RunnerConfig{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for what, look := range map[string]func(){
		"a probe": func() { set.Statuses(t.Context()) },
		"a scrape": func() {
			VisitHealth(t.Context(), set, func(_ *Running, s projection.Status, _ error) {
				if s.Lag != 1 {
					t.Errorf("the lag of %s is %d, want 1", s.Projection, s.Lag)
				}
			})
		},
	} {
		src.partitions, src.heads = 0, 0
		if look(); src.partitions != 1 || src.heads != 1 {
			t.Errorf("%s asks for the partitions %d times, and %d times for the head; want once each", what, src.partitions,
				src.heads)
		}
	}
}
