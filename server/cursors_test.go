package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/projection"
)

// TestACursorLeadsOnAfterARestartAndAfterARebuild: the secret that seals it is kept with the rows, and rows that are
// built anew have the keys of those before.
func TestACursorLeadsOnAfterARestartAndAfterARebuild(t *testing.T) {
	app, args := shopApp(), append(embedded(t), "--auth=off", "--sample", "--switch", "manual")
	s := serve(t, app, start{args: args})
	s.ready(t)
	first, cursor := s.newest(t, "")
	second, _ := s.newest(t, cursor)
	if len(first) != 2 || len(second) != 2 || slices.Contains(first, second[0]) {
		t.Fatalf("pages %q and %q before", first, second)
	}
	s.end(t)

	s = serve(t, app, start{args: args})
	s.ready(t)
	if got, _ := s.newest(t, cursor); !slices.Equal(got, second) {
		t.Errorf("after a restart: %q, want %q", got, second)
	}
	s.rebuilds(t, app, "start", "Product").wantExit(t, exitDone, "being built")
	s.until(t, "built", func() bool {
		build := s.rebuildOf(t, "Product")
		return build != nil && build.Complete && build.Lag == 0
	})
	s.rebuilds(t, app, "switch", "Product").wantExit(t, exitDone, "serve")
	if got, _ := s.newest(t, cursor); !slices.Equal(got, second) {
		t.Errorf("after a rebuild: %q, want %q", got, second)
	}
}

// newest is a page of the newest books, by their ids, after a cursor, and the cursor of the next.
func (s *server) newest(t *testing.T, after string) (ids []string, cursor string) {
	t.Helper()
	if after != "" {
		after = fmt.Sprintf(", nextToken: %q", after)
	}
	text := s.query(t, `{ page: Sales_ProductByCategoryNewest(category: "books", reverse: true, limit: 2`+after+
		`) { items { productId } nextToken } }`)
	var answer struct {
		Data struct {
			Page struct {
				Items     []struct{ ProductID string }
				NextToken string
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || strings.Contains(text, `"errors"`) {
		t.Fatalf("a page: %s (%v)", text, err)
	}
	for _, item := range answer.Data.Page.Items {
		ids = append(ids, item.ProductID)
	}
	return ids, answer.Data.Page.NextToken
}

// rebuildOf is the rebuild of a model, nil where there is none.
func (s *server) rebuildOf(t *testing.T, model string) *projection.BuildStatus {
	t.Helper()
	for _, p := range s.statusOf(t).Projections {
		if slices.Contains(p.Models, model) {
			return p.Build
		}
	}
	t.Fatalf("no projection has the model %s", model)
	return nil
}
