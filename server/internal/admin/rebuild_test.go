package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/projections"
)

// TestARebuildThatIsRefusedAmidSeveralSaysWhichAreDone: to ask again for all would be refused for these.
func TestARebuildThatIsRefusedAmidSeveralSaysWhichAreDone(t *testing.T) {
	a := &API{Log: slog.New(slog.DiscardHandler), Folds: &projections.Set{}}
	for _, name := range []string{"Tasks", "Votes", "Users", "Teams"} {
		a.Folds.All = append(a.Folds.All, &projections.Running{Name: name})
		ops := &projection.Ops[struct{}, struct{}, struct{}]{Codec: &querydb.Codec[struct{}]{
			Model: &querydb.Model{Name: name, TTL: -1, CreatedAt: -1, UpdatedAt: -1}}}
		a.Folds.Projections = append(a.Folds.Projections, projection.New(ops, projection.Projection{Name: name}))
	}
	decide := a.eachNamed("switch", func(_ context.Context, one *projections.Running) error {
		if one.Name == "Users" {
			return projections.RefusedError("the rows are not built yet")
		}
		return nil
	})
	for names, want := range map[string]string{
		`"Tasks", "Votes", "Users", "Teams"`: "It is done for Tasks, Votes: ask again for the others alone. " +
			"Users: the rows are not built yet.",
		`"Users", "Teams"`: `"Users: the rows are not built yet."`,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/admin/rebuild/switch", strings.NewReader(`{"names": [`+names+`]}`))
		r.Header.Set("Content-Type", "application/json")
		decide.ServeHTTP(w, r)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d %s, want %s", w.Code, w.Body, want)
		}
	}
}
