package metrics

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/server/internal/projections"
)

// TestNoProjectionIsUpWhileTheLogIsNotTheOneOfTheRows, though each has ended as it was told to.
func TestNoProjectionIsUpWhileTheLogIsNotTheOneOfTheRows(t *testing.T) {
	m := &querydb.Model{Name: "Order", Table: "Order", Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1}
	db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := projection.New(&projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{Model: m}},
		projection.Projection{Name: "Order", Events: []string{"T"},
			Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil }})
	log, silent := memlog.New(memlog.Options{}), slog.New(slog.DiscardHandler)
	defer log.Close()
	set, err := projections.New([]projection.Projection{p}, log, db, nil, projection.RunnerConfig{Logger: silent})
	if err != nil {
		t.Fatal(err)
	}
	up := func() string {
		w := httptest.NewRecorder()
		Handler(silent, &Projections{Set: set, Log: silent}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		_, value, _ := strings.Cut(w.Body.String(), `foldql_projection_up{projection="Order"} `)
		return value[:min(1, len(value))]
	}
	set.Start(t.Context())
	for deadline := time.Now().Add(time.Minute); up() != "1"; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the projection is not up")
		}
	}
	set.Mismatches(&projection.MismatchError{})
	if mismatch := (*projection.MismatchError)(nil); !errors.As(set.Wait(), &mismatch) {
		t.Fatal("nobody is told why nothing is folded any more")
	}
	if got := up(); got != "0" {
		t.Errorf("foldql_projection_up is %s, want 0", got)
	}
}

// bytesLabel has a label whose bytes are no text.
type bytesLabel struct{}

func (bytesLabel) Describe(to chan<- *prometheus.Desc) { to <- projectionUp }

func (bytesLabel) Collect(to chan<- prometheus.Metric) { gauge(to, projectionUp, 1, "caf\xe9") }

// TestALabelOfAnyBytesEndsNoServer, nor does it take other metrics away.
func TestALabelOfAnyBytesEndsNoServer(t *testing.T) {
	w := httptest.NewRecorder()
	Handler(slog.New(slog.DiscardHandler), bytesLabel{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if want := "foldql_projection_up{projection=\"caf\uFFFD\"} 1"; !strings.Contains(w.Body.String(), want) {
		t.Errorf("status %d, want %s among:\n%.500s", w.Code, want, w.Body)
	}
}

// ofStatus are the metrics of a projection with a status.
type ofStatus struct{ projection.Status }

func (ofStatus) Describe(to chan<- *prometheus.Desc) { (&Projections{}).Describe(to) }

func (s ofStatus) Collect(to chan<- prometheus.Metric) {
	(&Projections{Set: &projections.Set{}}).collect(to, "Order", &s.Status)
}

// TestABuildThatHasDiedIsNotUp, also where the rows that serve are folded on.
func TestABuildThatHasDiedIsNotUp(t *testing.T) {
	for want, b := range map[string]projection.BuildStatus{
		"1": {State: projection.StateCatchingUp},
		"0": {State: projection.StateStopped, LastError: "the source has forgotten events"},
	} {
		w := httptest.NewRecorder()
		Handler(slog.New(slog.DiscardHandler), ofStatus{projection.Status{State: projection.StateLive, Build: &b}}).
			ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if line := `foldql_rebuild_up{projection="Order"} ` + want; !strings.Contains(w.Body.String(), line) {
			t.Errorf("%s: no %s", b.State, line)
		}
	}
}
